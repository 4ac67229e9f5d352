"""The text of an estimate of contamination: a table and a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from coevo.display import presentation
from coevo.evaluation.contamination.estimate import ContaminationEstimate, Effect
from coevo.evaluation.reporting.cells import DASH, pluralise

# With six placebo cutoffs, one clear placebo may be chance: one interval in twenty excludes 0.
_BY_CHANCE = 1


def describe_contamination(found: ContaminationEstimate, cutoff: str) -> Iterator[str]:
    """Yield the table of an estimate and sentences about it."""
    yield f'Success before the cutoff minus success after it, in percentage points; cutoff {cutoff}'
    rows: list[tuple[str, ...]] = [
        ('', 'difference', '95 % interval', 'tasks before', 'after', 'repositories')
    ]
    rows.append(('matched', *_format_cells(found.effect)))
    unmatched = DASH if found.unmatched is None else _format_points(found.unmatched)
    rows.append(('not matched', unmatched, DASH, DASH, DASH, DASH))
    rows += [
        (f'placebo {placebo.moment:%F}', *_format_cells(placebo)) for placebo in found.placebos
    ]
    yield presentation.align_columns(rows, [False, *[True] * 5]).rstrip('\n')
    yield _describe_verdict(found)
    if found.undated:
        yield f'{pluralise(found.undated, "task")} without a date are not counted'


def _format_cells(effect: Effect) -> tuple[str, ...]:
    if effect.difference is None:
        return (DASH, DASH, '0', '0', '0')
    known = effect.low is not None and effect.high is not None
    return (
        _format_points(effect.difference),
        f'{_format_points(effect.low or 0.0)} to {_format_points(effect.high or 0.0)}'
        if known
        else DASH,
        f'{effect.before:,}',
        f'{effect.after:,}',
        f'{effect.repositories:,}',
    )


def _format_points(share: float) -> str:
    return f'{share * 100:+.1f}'


def _describe_verdict(found: ContaminationEstimate) -> str:
    effect = found.effect
    if effect.difference is None:
        return (
            'No task from before the cutoff has a similar task from after it in its '
            'repository, so there is no estimate. Use the setting `match_size = false`, or '
            'score more tasks.'
        )
    if effect.low is None:
        return 'All matched tasks are from one repository, so there is no confidence interval.'
    if found.clear_placebos > _BY_CHANCE:
        return (
            f'At {found.clear_placebos} of {len(found.placebos)} placebo cutoffs the interval '
            'excludes 0 as well: success changes with time anyway, so this is no evidence of '
            'contamination.'
        )
    if effect.is_clear and effect.difference > 0:
        return (
            'The model solves tasks from before the cutoff more often than similar tasks from '
            'after it, and placebo cutoffs show no such step. Contamination would look like '
            'this.'
        )
    return (
        'The model does not solve tasks from before the cutoff more often than similar tasks '
        'from after it, as far as this number of tasks can show.'
    )
