"""Figures of whole-file maintenance: what of a file's tests was missed, and what was edited without need.

All but `done` are over tests, not tasks, each with its number and an interval over repositories. A test that runs
here do not bear out, and one that no label is about, is in none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from coevo.evaluation.reporting.bootstrap import MeanEstimate, Sample, estimate_mean
from coevo.evaluation.suites.maintained_records import MaintainedOutcome, MaintainedResult
from coevo.evaluation.suites.records import SuiteOutcome, SuiteResult
from coevo.model.maintenance import STAYING, ExpectedAction

_HARMS = (
    MaintainedOutcome.WEAKENED,
    MaintainedOutcome.BROKEN,
    MaintainedOutcome.DELETED_WRONGLY,
)

_WRONG: Mapping[ExpectedAction, Collection[MaintainedOutcome]] = {
    ExpectedAction.UPDATE: (MaintainedOutcome.MISSED, MaintainedOutcome.DELETED_WRONGLY),
    ExpectedAction.KEEP: (MaintainedOutcome.EDITED, *_HARMS),
    ExpectedAction.REFINE: _HARMS,
    ExpectedAction.REMOVE: (MaintainedOutcome.MISSED,),
    ExpectedAction.ADD: (),
    ExpectedAction.NONE: (),
}

Tests = Sequence[tuple[str, MaintainedResult]]
"""Each with its repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """The figures of a family whose tasks say what is asked of each test.

    done            tasks of which nothing that counts below was missed or done wrongly, but for additions
    missed_updates  of tests that the change breaks: they do not pass, or are gone
    false_edits     of tests that have to stay as they are: another text, weaker, broken or gone
    harmed          of those that have to stay, be it rewritten: weaker, broken or gone
    wrong_deletions of the same and of those that the change breaks: gone
    missed_deletions  of tests that gold deletes, and that the change breaks: they stay, and do not pass
    additions       of tests that gold adds: the submission has one of the name, and it passes
    outcomes        how many tests have which, by what was asked of them
    unknown         tests of which runs here do not bear out the label
    strength_unknown  edited tests of which nobody can tell whether they are weaker
    """

    done: MeanEstimate
    missed_updates: MeanEstimate
    false_edits: MeanEstimate
    harmed: MeanEstimate
    wrong_deletions: MeanEstimate
    missed_deletions: MeanEstimate
    additions: MeanEstimate
    outcomes: Mapping[str, int]
    unknown: int
    strength_unknown: int


def make_maintenance_report(graded: Sequence[SuiteResult]) -> MaintenanceReport | None:
    """None where no task says what is asked of each test."""
    rows = [row for row in graded if row.maintained is not None]
    if not rows:
        return None
    tests = [(row.repo, test) for row in rows for test in row.maintained or ()]
    known = [(repo, test) for repo, test in tests if test.outcome is not MaintainedOutcome.UNKNOWN]
    deleted_wrongly = MaintainedOutcome.DELETED_WRONGLY
    return MaintenanceReport(
        done=estimate_mean(
            Sample(repo=row.repo, value=float(solves_task(row)))
            for row in rows
            if _has_update_to_do(row)
        ),
        missed_updates=_estimate_rate(known, (ExpectedAction.UPDATE,), _is_wrong),
        false_edits=_estimate_rate(known, (ExpectedAction.KEEP,), _is_wrong),
        harmed=_estimate_rate(known, STAYING, lambda one: one.outcome in _HARMS),
        wrong_deletions=_estimate_rate(
            known, (*STAYING, ExpectedAction.UPDATE), lambda one: one.outcome is deleted_wrongly
        ),
        missed_deletions=_estimate_rate(known, (ExpectedAction.REMOVE,), _is_wrong),
        additions=_estimate_rate(
            known, (ExpectedAction.ADD,), lambda one: one.outcome is MaintainedOutcome.ADDED
        ),
        outcomes=dict(
            sorted(Counter(f'{test.expected_action} {test.outcome}' for _, test in tests).items())
        ),
        unknown=len(tests) - len(known),
        strength_unknown=sum(
            test.outcome is MaintainedOutcome.EDITED and test.weaker is None for _, test in known
        ),
    )


def solves_task(row: SuiteResult) -> bool:
    """Whether every test passes; of maintenance, whether all that had to be done is, and nothing else."""
    if row.maintained is None:
        return row.outcome is SuiteOutcome.SUCCESS
    return not any(map(_is_wrong, row.maintained))


def _has_update_to_do(row: SuiteResult) -> bool:
    """Whether runs here bear out that there is something to update."""
    return any(
        test.expected_action is ExpectedAction.UPDATE
        and test.outcome is not MaintainedOutcome.UNKNOWN
        for test in row.maintained or ()
    )


def _is_wrong(one: MaintainedResult) -> bool:
    return one.outcome in _WRONG[one.expected_action]


def _estimate_rate(
    tests: Tests,
    expected_actions: Collection[ExpectedAction],
    holds: Callable[[MaintainedResult], bool],
) -> MeanEstimate:
    return estimate_mean(
        Sample(repo=repo, value=float(holds(test)))
        for repo, test in tests
        if test.expected_action in expected_actions
    )
