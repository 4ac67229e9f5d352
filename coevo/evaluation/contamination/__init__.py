"""An estimate of what a model gained from seen answers: success before and after its cutoff."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from coevo.display import presentation
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.bootstrap import bootstrap_interval_of_ratio
from coevo.evaluation.reporting.cells import DASH, pluralise
from coevo.evaluation.reporting.figures import open_results
from coevo.evaluation.results import load_results, load_suites
from coevo.evaluation.suites.records import SuiteResult
from coevo.model.dictionary import TEXTS_WITHHELD
from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.model.schema import build_table
from coevo.snapshots import snapshot
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.manifests import compute_release_sha256

if TYPE_CHECKING:
    import duckdb

# Placebo cutoffs are at these quantiles of the dates of the tasks on one side of the true cutoff.
QUANTILES = (1 / 4, 1 / 2, 3 / 4)

_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptedTask:
    """A task with the success of its first attempt.

    family         its track, or its family and kind of start
    changed_lines  lines that gold's patch adds and removes
    date           the date from which its answer may have been public; None if unknown
    success        share of its targets that succeed, 0 to 1
    """

    task_id: str
    repo: str
    family: str
    changed_lines: int
    date: datetime | None
    success: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Success before a moment minus success after it.

    difference     of shares, -1 to 1; None if no stratum has tasks on both sides
    low, high      the 95 % interval; None if fewer than two repositories contribute
    before, after  numbers of matched tasks
    """

    moment: datetime
    difference: float | None
    low: float | None
    high: float | None
    before: int
    after: int
    repositories: int

    @property
    def is_clear(self) -> bool:
        """True if the interval excludes 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class ContaminationEstimate:
    """The effect at a model's cutoff, and the effects at placebo cutoffs.

    unmatched       the plain difference of means at the cutoff, without matching; None if there are
                    no tasks before it or none after it
    dated, undated  numbers of tasks with a date, which count, and without, which do not
    """

    effect: Effect
    unmatched: float | None
    placebos: Sequence[Effect]
    dated: int
    undated: int

    @property
    def clear_placebo_count(self) -> int:
        """The number of placebo cutoffs whose interval excludes 0."""
        return sum(placebo.is_clear for placebo in self.placebos)


@dataclass(frozen=True, slots=True, kw_only=True)
class CutoffSplit:
    """The moment at which tasks are split into before and after.

    margin  tasks this close to the moment are left out
    sized   whether tasks are matched by size, too
    """

    moment: datetime
    margin: timedelta = timedelta(0)
    sized: bool = True


def estimate_contamination(
    tasks: Sequence[AttemptedTask], question: CutoffSplit
) -> ContaminationEstimate:
    """Return success before a cutoff minus success after it, with the same at placebo cutoffs.

    Tasks without a date are only counted.
    """
    import duckdb

    dated = [task for task in tasks if task.date is not None]
    with duckdb.connect() as connection:
        connection.register('attempted', build_table(AttemptedTask, dated))
        return ContaminationEstimate(
            effect=_estimate_effect(connection, question),
            unmatched=_compute_unmatched_difference(dated, question.moment),
            placebos=list(_estimate_placebos(connection, dated, question)),
            dated=len(dated),
            undated=len(tasks) - len(dated),
        )


def _estimate_placebos(
    connection: duckdb.DuckDBPyConnection, dated: Sequence[AttemptedTask], question: CutoffSplit
) -> Iterator[Effect]:
    """Yield the effects at placebo cutoffs, each among the tasks of one side of the true cutoff."""
    moment = question.moment
    dates = sorted(task.date for task in dated if task.date is not None)
    before = [date for date in dates if date < moment]
    after = [date for date in dates if date >= moment]
    for side, first, last in ((before, _FIRST, moment), (after, moment, _LAST)):
        moments = sorted({side[int(len(side) * share)] for share in QUANTILES if side})
        for at in moments:
            placebo_split = CutoffSplit(moment=at, margin=question.margin, sized=question.sized)
            effect = _estimate_effect(connection, placebo_split, first, last)
            if effect.difference is not None:
                yield effect


def _estimate_effect(
    connection: duckdb.DuckDBPyConnection,
    question: CutoffSplit,
    first: datetime = _FIRST,
    last: datetime = _LAST,
) -> Effect:
    """Return the effect among tasks from `first` on and before `last`."""
    sql = files('coevo').joinpath('evaluation', 'contamination', 'matched.sql').read_text('utf-8')
    values = {
        'moment': question.moment,
        'sized': question.sized,
        'first': first,
        'last': last,
        'gap': question.moment - question.margin,
        'resumed': question.moment + question.margin,
    }
    rows = connection.execute(sql, values).fetchall()
    points, weights = [row[1] for row in rows], [row[2] for row in rows]
    low, high = bootstrap_interval_of_ratio(points, weights)
    whole = math.fsum(weights)
    return Effect(
        moment=question.moment,
        difference=math.fsum(points) / whole if whole else None,
        low=low,
        high=high,
        before=sum(row[3] for row in rows),
        after=sum(row[4] for row in rows),
        repositories=len(rows),
    )


def _compute_unmatched_difference(dated: Sequence[AttemptedTask], moment: datetime) -> float | None:
    """Return the mean success before a moment minus the mean success from it on, without matching.

    Different tasks on both sides may be the reason for it. None if a side has no tasks.
    """
    before = [task.success for task in dated if task.date is not None and task.date < moment]
    after = [task.success for task in dated if task.date is not None and task.date >= moment]
    if not before or not after:
        return None
    return math.fsum(before) / len(before) - math.fsum(after) / len(after)


# With six placebo cutoffs, one clear placebo may be chance: one interval in twenty excludes 0.
_BY_CHANCE = 1


def describe_contamination(found: ContaminationEstimate, cutoff: str) -> Iterator[str]:
    """Yield the table of an estimate and sentences about it."""
    yield f'Success before the cutoff minus success after it, in percentage points; cutoff {cutoff}'
    rows: list[tuple[str, ...]] = [
        ('', 'difference', '95 % interval', 'tasks before', 'after', 'repositories')
    ]
    rows.append(('matched', *_format_cells(found.effect)))
    unmatched = DASH if found.unmatched is None else _format_percentage_points(found.unmatched)
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
        _format_percentage_points(effect.difference),
        f'{_format_percentage_points(effect.low or 0.0)} to {_format_percentage_points(effect.high or 0.0)}'
        if known
        else DASH,
        f'{effect.before:,}',
        f'{effect.after:,}',
        f'{effect.repositories:,}',
    )


def _format_percentage_points(share: float) -> str:
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
    if found.clear_placebo_count > _BY_CHANCE:
        return (
            f'At {found.clear_placebo_count} of {len(found.placebos)} placebo cutoffs the interval '
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


# The success of a task is the share of its methods that succeed, or whether its suite is solved.
_TASKS = """
SELECT task_id, min(repo), min(track), count(*) FILTER (outcome = 'success') / count(*)
FROM graded GROUP BY task_id
UNION ALL
SELECT task_id, repo, concat_ws(' ', family, start_builder), solved::DOUBLE FROM judged
ORDER BY task_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptedTasks:
    """The tasks that were judged, and the cutoffs of the models that the predictions name.

    cutoffs  by the name of a model; None if no source states one
    """

    tasks: Sequence[AttemptedTask]
    cutoffs: Mapping[str, str | None]


def load_attempted_tasks(place: Path | str, folder: Path) -> AttemptedTasks:
    """Return the tasks of a folder of results, each with the success of its first attempt.

    Raises: Fatal if the results are of another snapshot, have no rows, or name a task that the
    snapshot lacks.
    """
    rows = [row for row in load_results(folder) if row.attempt == 1]
    suites = [row for row in load_suites(folder) if row.attempt == 1]
    both: Sequence[MethodResult | SuiteResult] = (*rows, *suites)
    if not both:
        raise Fatal(f'{folder} has no rows: evaluate a snapshot with at least one task')
    sha256 = compute_release_sha256(resolve_location(place))
    if {row.snapshot_sha256 for row in both} != {sha256}:
        raise Fatal(
            f'{folder} scores another snapshot than {place}; name the snapshot that it scores'
        )
    lines = _count_patch_lines_by_task(place)
    lost = next((row.task_id for row in both if row.task_id not in lines), None)
    if lost is not None:
        raise Fatal(f'{place} has no task {lost}, which {folder} scores; evaluate again')
    tasks = list(_list_tasks(rows, suites, lines))
    return AttemptedTasks(
        tasks=tasks, cutoffs={row.model: row.model_cutoff for row in both if row.model is not None}
    )


def find_model_cutoff(found: AttemptedTasks) -> str:
    """Return the cutoff of the model that answered.

    Raises: Fatal if there is not exactly one model, or if its cutoff is unknown.
    """
    if len(found.cutoffs) != 1:
        named = ', '.join(sorted(found.cutoffs)) or 'none'
        raise Fatal(
            f'the predictions name {len(found.cutoffs)} models ({named}); add --cutoff DATE'
        )
    ((model, cutoff),) = found.cutoffs.items()
    if cutoff is None:
        raise Fatal(f'no source states the training cutoff of {model}; add --cutoff DATE')
    return cutoff


def count_changed_lines(patch: str) -> int:
    """Return the number of lines that a unified diff of one file adds or removes."""
    # The `---` and `+++` lines before the first hunk begin like changed lines.
    _, _, hunks = patch.partition('\n@@ ')
    return sum(line[:1] in ('+', '-') for line in hunks.split('\n')[1:])


def _count_patch_lines_by_task(place: Path | str) -> Mapping[str, int]:
    snapshot.refuse_code_free_edition(place)
    with snapshot.translate_read_errors((place,)):
        opened = snapshot.attach_snapshots((place,))
        sql = (
            f"SELECT task_id, CASE family WHEN '{Family.IMPLEMENT}' THEN source_patch "
            f'ELSE test_patch END FROM {opened.rows["tasks"]} WHERE NOT {TEXTS_WITHHELD}'
        )
        patch_rows = opened.connection.execute(sql).fetchall()
    return {task_id: count_changed_lines(patch) for task_id, patch in patch_rows}


def _list_tasks(
    rows: Sequence[MethodResult], suites: Sequence[SuiteResult], lines: Mapping[str, int]
) -> Iterator[AttemptedTask]:
    both: Sequence[MethodResult | SuiteResult] = (*rows, *suites)
    dates = {row.task_id: row.contamination_date for row in both}
    with open_results(['methods', 'suites'], [rows], suites) as connection:
        tasks = connection.execute(_TASKS).fetchall()
    for task_id, repo, family, success in tasks:
        yield AttemptedTask(
            task_id=task_id,
            repo=repo,
            family=family,
            changed_lines=lines[task_id],
            date=dates[task_id],
            success=success,
        )
