"""Ask the project's own test command about methods that do not pass on their own revision.

The engine runs tests in its own way: a few of them at a time, in orders of its own, in an environment
that it made. Where a test does not pass on its own revision, the fault may be the engine's. The
project's own command is the umpire: it runs once for a revision and module, and where it disagrees,
the drop says so (`unlike_the_project`). It decides no label.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coevo.engine.evidence import Decision
from coevo.engine.results import CellResult, PairEvaluation, SelectedMethod, Step
from coevo.engine.suites import TestsOf
from coevo.languages.builds import Build
from coevo.languages.capabilities import Capability
from coevo.languages.engine import BuiltPair
from coevo.languages.project_runs import ProjectRun
from coevo.languages.table import offers_capability
from coevo.model.quality import PairEnd
from coevo.model.reasons import Reason
from coevo.model.records import TestMethod
from coevo.model.words import Cell, Outcome

OWN_CELLS = {PairEnd.OLD: Cell.T_OLD_C_OLD, PairEnd.NEW: Cell.T_NEW_C_NEW}


class Umpire:
    """The project's own runs, each made once for a revision, runtime and module.

    Safe from several threads.
    """

    def __init__(self, tests: TestsOf) -> None:
        """Create an umpire that was asked nothing yet.

        tests  returns the test methods of a revision by module
        """
        self._tests = tests
        self._runs: dict[tuple[str, str, str], ProjectRun] = {}
        self._locks: dict[tuple[str, str, str], threading.Lock] = {}
        self._lock = threading.Lock()

    def get_run(self, built: BuiltPair, build: Build, module: str) -> tuple[ProjectRun, float]:
        """Return the run of one end of a pair, and the CPU seconds used for it just now."""
        key = build.rev, build.runtime, module
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key in self._runs:
                return self._runs[key], 0.0
            methods = self._tests(build.rev).get(module, ())
            self._runs[key] = built.run_project(build.rev, module, methods)
            return self._runs[key], self._runs[key].cpu_seconds


@dataclass(slots=True, kw_only=True)
class UmpireReport:
    """What the umpire said of a pair.

    decisions  those that it changes, by method id
    statuses   by end of the pair: `ran`, or the first reason why a run did not end; an end that it
               was not asked about is absent
    """

    decisions: dict[str, Decision] = field(default_factory=dict)
    statuses: dict[PairEnd, str] = field(default_factory=dict)


def ask_umpire(
    umpire: Umpire,
    evaluation: PairEvaluation,
    decided: Sequence[tuple[SelectedMethod, Decision]],
) -> UmpireReport:
    """Compare the dropped methods of a pair with the project's own runs.

    Only methods that do not pass in a cell of their own revision are asked about. The CPU time is
    counted as a cost.
    """
    report = UmpireReport()
    if not offers_capability(evaluation.built.pair.language, Capability.UMPIRE):
        return report
    builds = {PairEnd.OLD: evaluation.old, PairEnd.NEW: evaluation.new}
    for item, decision in decided:
        if decision.reason is None:
            continue
        cells = evaluation.get_cells(item.method_id)
        for end, method, result in _list_doubtful(item, cells):
            run, spent = umpire.get_run(evaluation.built, builds[end], method.module)
            evaluation.cost.add(Step.UMPIRE, spent)
            if report.statuses.get(end, run.status) == run.status or run.failure is not None:
                report.statuses[end] = run.status
            said = run.outcomes.get(method)
            if said is not None and _classify(said) != _classify(result.outcome):
                report.decisions[item.method_id] = _make_drop(decision, end, result, said)
                break
    return report


def _list_doubtful(
    item: SelectedMethod, cells: Mapping[Cell, CellResult]
) -> Iterator[tuple[PairEnd, TestMethod, CellResult]]:
    """Yield the ends at which a method does not pass on its own revision, with its result there."""
    methods = {PairEnd.OLD: item.candidate.old, PairEnd.NEW: item.candidate.new}
    for end, cell in OWN_CELLS.items():
        method, result = methods[end], cells.get(cell)
        if method is not None and result is not None and result.outcome is not Outcome.PASS:
            yield end, method, result


def _classify(outcome: Outcome) -> str:
    """Return what the two runs have to agree on: a build that fails breaks its tests."""
    if outcome.is_broken or outcome is Outcome.UNBUILDABLE:
        return 'broken'
    return str(outcome)


def _make_drop(decision: Decision, end: PairEnd, result: CellResult, said: Outcome) -> Decision:
    signature = result.deciding_verdict.signature
    ours = f'{result.outcome} ({signature})' if signature else str(result.outcome)
    detail = f'{OWN_CELLS[end]}: {ours}, by the project: {said}'
    return replace(decision, reason=str(Reason.UNLIKE_THE_PROJECT), detail=detail)
