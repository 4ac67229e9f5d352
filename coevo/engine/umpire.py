"""Ask the project's own test command about methods that do not pass on their own revision.

The engine runs tests in its own way: a few of them at a time, in orders of its own, in an
environment that it made. Where a test does not pass on its own revision, the fault may be the
engine's. The project's own command is the umpire: it runs once for each end and module of a pair,
and where it disagrees, the drop says so (`unlike_the_project`). It decides no label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coevo.engine.evidence import Decision
from coevo.engine.results import CellResult, Evidence, PairEvaluation, SelectedMethod, Step
from coevo.engine.suites import TestsOf
from coevo.languages.builds import Build
from coevo.languages.capabilities import Capability
from coevo.languages.table import offers_capability
from coevo.languages.verdicts import RAN, ProjectRun
from coevo.model.quality import PairEnd
from coevo.model.reasons import Reason
from coevo.model.records import TestMethod
from coevo.model.words import Cell, Outcome

OWN_CELLS = {PairEnd.OLD: Cell.T_OLD_C_OLD, PairEnd.NEW: Cell.T_NEW_C_NEW}


@dataclass(slots=True, kw_only=True)
class UmpireReport:
    """The umpire's answers about a pair.

    decisions  the decisions that it changes, by method id
    statuses   by end of the pair: `ran`, or the first reason why a run did not end; an end that it
               was not asked about is absent
    """

    decisions: dict[str, Decision] = field(default_factory=dict)
    statuses: dict[PairEnd, str] = field(default_factory=dict)


def run_project_for_dropped_methods(
    list_tests: TestsOf,
    evaluation: PairEvaluation,
    decided: Sequence[tuple[SelectedMethod, Decision]],
) -> UmpireReport:
    """Run the project's own test command for dropped methods, and compare it with coevo's runs.

    Only methods that do not pass at their own revision are compared, and only if coevo's runs of
    them agree with each other. If the command disagrees, the decision gets the reason
    `unlike_the_project`. The CPU time is counted as a cost. Another pair of the same revision may
    have other libraries, so the command is run for each pair.
    list_tests  returns the test methods of a revision by module
    """
    report = UmpireReport()
    if not offers_capability(evaluation.built.pair.language, Capability.UMPIRE):
        return report
    builds = {PairEnd.OLD: evaluation.old, PairEnd.NEW: evaluation.new}
    runs: dict[tuple[PairEnd, str], ProjectRun] = {}
    for item, decision in decided:
        if decision.reason is None or (
            evaluation.get_worst_evidence(item.method_id) is not Evidence.AGREED
        ):
            continue
        cells = evaluation.get_deciding_cells(item.method_id)
        for end, method, result in _list_failing_ends(item, cells):
            key = end, method.module
            if key not in runs:
                runs[key] = _run_project(list_tests, evaluation, builds[end], method.module)
            run = runs[key]
            if report.statuses.get(end, RAN) == RAN:
                report.statuses[end] = run.status
            ruling = run.outcomes.get(method)
            if ruling is not None and _name_outcome_or_broken(ruling) != _name_outcome_or_broken(
                result.outcome
            ):
                report.decisions[item.method_id] = _make_drop(decision, end, result, ruling)
                break
    return report


def _run_project(
    list_tests: TestsOf, evaluation: PairEvaluation, build: Build, module: str
) -> ProjectRun:
    methods = list_tests(build.rev).get(module, ())
    run = evaluation.built.run_project(build.rev, module, methods)
    evaluation.cost.add(Step.UMPIRE, run.cpu_seconds)
    return run


def _list_failing_ends(
    item: SelectedMethod, cells: Mapping[Cell, CellResult]
) -> Iterator[tuple[PairEnd, TestMethod, CellResult]]:
    """Yield the ends at which a method does not pass on its own revision, with its result there."""
    methods = {PairEnd.OLD: item.candidate.old, PairEnd.NEW: item.candidate.new}
    for end, cell in OWN_CELLS.items():
        method, result = methods[end], cells.get(cell)
        if method is not None and result is not None and result.outcome is not Outcome.PASS:
            yield end, method, result


def _name_outcome_or_broken(outcome: Outcome) -> str:
    """Return `broken` for a broken or unbuildable outcome, else the outcome's own name.

    Two runs agree if these are equal.
    """
    if outcome.is_broken or outcome is Outcome.UNBUILDABLE:
        return 'broken'
    return str(outcome)


def _make_drop(decision: Decision, end: PairEnd, result: CellResult, said: Outcome) -> Decision:
    signature = result.deciding_verdict.signature
    ours = f'{result.outcome} ({signature})' if signature else str(result.outcome)
    detail = f'{OWN_CELLS[end]}: {ours}, by the project: {said}'
    return replace(decision, reason=str(Reason.UNLIKE_THE_PROJECT), detail=detail)
