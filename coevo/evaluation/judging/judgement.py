"""The result of grading one prediction: all of its targets together, or its suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.neighbours import NeighbourResult
from coevo.evaluation.judging.outcomes import TargetResult
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.suites.outcomes import SuiteRunResult
from coevo.evaluation.suites.records import SuiteOutcome
from coevo.evaluation.worth import Adequacy
from coevo.languages.conditions import MainSources
from coevo.model.records import TestMethod


@dataclass(slots=True, kw_only=True)
class GradingResult:
    """The results of all targets by name, with the cost that the targets share.

    seen      the result of each target, by name
    methods   the targets as they were submitted
    adequacy  the adequacy of the targets for which it was measured
    copying   the names of those of these targets whose file copies the changed code
    runtime   the version of the runtime that built and ran everything; None if nothing was run
    sources   the main sources that were beside the tests in every cell; None if nothing was run
    others    the neighbours, that is, other tests of the file; None if no target passes on the new
              code
    suite     the result of a suite task, which has no targets
    """

    seen: dict[str, TargetResult] = field(default_factory=dict)
    methods: Mapping[str, TestMethod] = field(default_factory=dict)
    adequacy: Mapping[str, Adequacy] = field(default_factory=dict)
    copying: frozenset[str] = frozenset()
    runtime: str | None = None
    sources: MainSources | None = None
    others: NeighbourResult | None = None
    cpu_seconds: float = 0.0
    seconds: float = 0.0
    suite: SuiteRunResult | None = None


def make_refused_result(
    assignment: Assignment, refusal: Refusal, cpu_seconds: float = 0.0
) -> GradingResult:
    """Return the result of a patch that cannot be graded: all targets fail and nothing is run.

    For a suite that exists in the start state, and for code, an empty patch means NO_CHANGE and not
    a refusal.
    """
    if not assignment.is_graded_as_a_whole:
        seen = {target.name: TargetResult(refusal=refusal) for target in assignment.targets}
        return GradingResult(seen=seen, cpu_seconds=cpu_seconds)
    unchanged = refusal.detail is Detail.EMPTY and assignment.task.start_file_sha256 is not None
    suite = (
        SuiteRunResult(settled=SuiteOutcome.NO_CHANGE)
        if unchanged
        else SuiteRunResult(refusal=refusal)
    )
    return GradingResult(suite=suite, cpu_seconds=cpu_seconds)


def make_trouble_result(assignment: Assignment, detail: Detail, said: str) -> GradingResult:
    """Return the result for trouble of coevo's own (`infra`), which is no verdict on any target."""
    trouble = Refusal(detail=detail, message=said)
    return GradingResult(
        seen={target.name: TargetResult(trouble=trouble) for target in assignment.targets},
        suite=SuiteRunResult(trouble=trouble) if assignment.is_graded_as_a_whole else None,
    )
