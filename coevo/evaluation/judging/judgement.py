"""What is seen of the targets of one prediction, all together."""

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
    """What was seen of each target by its name; what all of them cost together.

    methods   the targets as they were submitted
    adequacy  of those of which it was measured
    runtime   with which all was built and run; None where nothing was
    sources   that lay beside the tests in every cell; None where nothing was run
    others    the other tests of the file; None where no target passes on the new code
    suite     of a task that asks for a suite, which has no targets: all that was seen
    """

    seen: dict[str, TargetResult] = field(default_factory=dict)
    methods: Mapping[str, TestMethod] = field(default_factory=dict)
    adequacy: Mapping[str, Adequacy] = field(default_factory=dict)
    runtime: str | None = None
    sources: MainSources | None = None
    others: NeighbourResult | None = None
    cpu_seconds: float = 0.0
    seconds: float = 0.0
    suite: SuiteRunResult | None = None


def make_refused_result(
    assignment: Assignment, refusal: Refusal, cpu_seconds: float = 0.0
) -> GradingResult:
    """A patch that cannot be judged fails all targets alike; nothing is run.

    Of a suite that is there at the start an empty patch is no change.
    """
    if not assignment.asks_for_suite:
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
    """Trouble of ours, which is no verdict on any target."""
    trouble = Refusal(detail=detail, message=said)
    return GradingResult(
        seen={target.name: TargetResult(trouble=trouble) for target in assignment.targets},
        suite=SuiteRunResult(trouble=trouble) if assignment.asks_for_suite else None,
    )
