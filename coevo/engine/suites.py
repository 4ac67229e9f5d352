"""Check whether the tests of a revision pass on their own code, and ask the project's own command
if not.

TestEvo-Bench asks for that at "both endpoints" (A.1). The answer is one line, which is kept with
each pair of the revision:

pass                               some test passes and none is broken
pass but for environment 2 of 120  the same, but two tests need what the machine withholds
broken 3 of 120                    three tests are broken; `, environment N` or `, not run N`
                                   follows if the environment breaks others, or others were not run
timeout 1 of 120                   the same, but only by time-outs
none passes of 4                   no test is broken, but all are skipped or not found
unbuildable: MODULE: REASON        the code of a module with tests, or the whole, does not build
uncompilable: MODULE               its tests compile, but other files of its test tree do not
not_run: budget                    no test is broken, but the CPU seconds for the revision ran out
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from coevo.engine.evidence import Decision
from coevo.engine.results import CellResult, Evidence, PairEvaluation, SelectedMethod, Step
from coevo.languages.capabilities import Capability
from coevo.languages.cells import Build, CompiledTests
from coevo.languages.engine import BuiltPair
from coevo.languages.table import LANGUAGES, offers_capability
from coevo.languages.verdicts import RAN, ProjectRun, RunConditions, Verdict
from coevo.model.errors import Transient
from coevo.model.quality import PairEnd
from coevo.model.reasons import Reason
from coevo.model.records import TestMethod
from coevo.model.words import Cell, Outcome

# Check whether all tests of a revision pass on their own code.

PASS = 'pass'
NOT_RUN = 'not_run: budget'
TIMEOUT = 'timeout'

# Processes for a module's tests; tests that the last one did not reach are left out.
MOST_PROCESSES = 5

# CPU seconds that a process gets at least; with less it might not even start.
LEAST_FOR_A_PROCESS = 20.0

# Returns the test methods of a revision by module, in the order in which they are run.
TestsOf = Callable[[str], Mapping[str, Sequence[TestMethod]]]


def has_passed(answer: str | None) -> bool | None:
    """Return whether an answer of `SuiteAnswerCache` says that all tests of a revision pass.

    None if there is no answer, the budget ran out, or only time-outs broke the suite.
    """
    if answer is None or answer == NOT_RUN or answer.startswith(TIMEOUT):
        return None
    return answer.startswith(PASS)


class SuiteAnswerCache:
    """A cache of answers to the question whether all tests of a revision pass.

    There is one answer for each revision and runtime: a line in the form that the module describes.
    Safe from several threads.
    """

    def __init__(self, tests: TestsOf, cpu_seconds: float) -> None:
        """Create an empty cache.

        tests        returns the tests of a revision
        cpu_seconds  the limit for the tests of one revision; the last process may exceed it
        """
        self._tests, self._cpu_seconds = tests, cpu_seconds
        self._answers: dict[tuple[str, str], str] = {}
        self._locks: dict[tuple[str, str], threading.Lock] = {}
        self._lock = threading.Lock()

    def get_answer_and_cpu_seconds_spent(self, built: BuiltPair, build: Build) -> tuple[str, float]:
        """Return the answer for one end of a pair, and the CPU seconds used for it just now.

        The first call for a revision and runtime runs its tests; later ones return the answer and
        0.
        """
        key = build.rev, build.runtime
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key in self._answers:
                return self._answers[key], 0.0
            run = SuiteRun(built=built, build=build, cpu_seconds=self._cpu_seconds)
            self._answers[key] = _run_and_summarise(run, self._tests(build.rev))
            return self._answers[key], run.spent


@dataclass(slots=True, kw_only=True)
class SuiteRun:
    """The suite of one revision, with its verdicts and costs so far.

    cpu_seconds   the limit for all tests; the last process may exceed it
    left_out      number of tests that were not run: the CPU seconds ran out, or too many processes
                  died
    uncompilable  the first module whose tests compile while other test files do not
    """

    built: BuiltPair
    build: Build
    cpu_seconds: float
    spent: float = 0.0
    verdicts: list[Verdict] = field(default_factory=list)
    left_out: int = 0
    uncompilable: str | None = None

    @property
    def cpu_seconds_left(self) -> float:
        """The CPU seconds that are left; negative if the last process exceeded the limit."""
        return self.cpu_seconds - self.spent

    def run_modules(self, tests: Mapping[str, Sequence[TestMethod]]) -> None:
        """Compile and run the tests of modules that were built, and add their verdicts and costs.

        Raises: Transient if a test process does not start.
        """
        for module, methods in tests.items():
            _run_module(self, module, methods)


def _run_and_summarise(run: SuiteRun, tests: Mapping[str, Sequence[TestMethod]]) -> str:
    if run.build.failure is not None:
        return f'unbuildable: {run.build.failure}'
    for module in tests:
        trouble = run.build.find_trouble(module)
        if trouble is not None:
            return f'unbuildable: {module}: {trouble}'
    run.run_modules(tests)
    return _summarise(run)


def _summarise(run: SuiteRun) -> str:
    broken = [v for v in run.verdicts if v.outcome.is_broken and v.environment is None]
    withheld = sum(v.outcome.is_broken and v.environment is not None for v in run.verdicts)
    total = len(run.verdicts) + run.left_out
    if broken:
        late = all(verdict.outcome is Outcome.TIMEOUT for verdict in broken)
        return (
            f'{TIMEOUT if late else "broken"} {len(broken)} of {total}'
            + f', environment {withheld}' * bool(withheld)
            + f', not run {run.left_out}' * bool(run.left_out)
        )
    if run.left_out:
        return NOT_RUN
    if run.uncompilable is not None:
        return f'uncompilable: {run.uncompilable}'
    if not any(verdict.outcome is Outcome.PASS for verdict in run.verdicts):
        return f'none passes of {total}'
    return f'{PASS} but for environment {withheld} of {total}' if withheld else PASS


def _run_module(run: SuiteRun, module: str, methods: Sequence[TestMethod]) -> None:
    """Compile and run the tests of a module; repeat them with a workaround if one is suggested."""
    compiled = run.built.compile(run.build.rev, run.build.rev, module)
    run.spent += compiled.cpu_seconds
    refused = {m: run.built.find_compile_verdict(compiled, m) for m in methods}
    known = [verdict for verdict in refused.values() if verdict is not None]
    run.verdicts += known
    if not compiled.unit_ok and not known:
        run.uncompilable = run.uncompilable or module
    rest = [method for method in methods if refused[method] is None]
    verdicts = _run_processes(run, compiled, rest, None)
    workaround = next(
        filter(None, map(LANGUAGES[run.built.pair.language].suggest_workaround, verdicts)), None
    )
    if workaround is not None:
        verdicts = _run_processes(run, compiled, rest, workaround)
    run.verdicts += verdicts
    run.left_out += len(rest) - len(verdicts)


def _run_processes(
    run: SuiteRun, compiled: CompiledTests, methods: Sequence[TestMethod], override: str | None
) -> list[Verdict]:
    """Run methods in up to five processes, and those that timed out once more, each alone.

    Methods that a process did not reach, since another method ended it, go on in the next one.
    """
    verdicts: dict[TestMethod, Verdict] = {}
    rest = list(methods)
    for _ in range(MOST_PROCESSES):
        if rest and run.cpu_seconds_left > 0:
            verdicts |= _run_process(run, compiled, rest, override)
            rest = [method for method in rest if method not in verdicts]
    slow = [method for method, verdict in verdicts.items() if verdict.outcome is Outcome.TIMEOUT]
    for method in slow:
        if run.cpu_seconds_left > 0:
            verdicts |= _run_process(run, compiled, [method], override)
    return list(verdicts.values())


def _run_process(
    run: SuiteRun, compiled: CompiledTests, methods: Sequence[TestMethod], override: str | None
) -> dict[TestMethod, Verdict]:
    """Return the verdicts of one process.

    Time-outs are left out if the CPU seconds ran out: then the limit of the suite may be the cause.

    Raises: Transient if the process does not start.
    """
    conditions = RunConditions(
        override=override, process_cpu_limit=max(run.cpu_seconds_left, LEAST_FOR_A_PROCESS)
    )
    batch = run.built.run(compiled, methods, conditions)
    run.spent += batch.cpu_seconds
    verdicts = {m: v for m, v in zip(methods, batch.verdicts, strict=True) if v is not None}
    for verdict in verdicts.values():
        if verdict.outcome is Outcome.INFRA:
            raise Transient(f'a test process did not start: {verdict.message.strip()}')
    cut_short = run.cpu_seconds_left <= 0
    return {
        method: verdict
        for method, verdict in verdicts.items()
        if not (cut_short and verdict.outcome is Outcome.TIMEOUT)
    }


# Ask the project's own test command about methods that do not pass on their own revision.
#
# The engine runs tests in its own way: a few of them at a time, in orders of its own, in an
# environment that it made. Where a test does not pass on its own revision, the fault may be the
# engine's. The project's own command is the umpire: it runs once for each end and module of a pair,
# and where it disagrees, the drop says so (`unlike_the_project`). It decides no label.

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
    dropped = [
        (item, decision, list(_list_failing_ends(item, evaluation)))
        for item, decision in decided
        if decision.reason is not None
        and evaluation.get_worst_evidence(item.method_id) is Evidence.AGREED
    ]
    awaited: dict[tuple[PairEnd, str], list[TestMethod]] = defaultdict(list)
    for _, _, ends in dropped:
        for end, method, _ in ends:
            awaited[end, method.module].append(method)
    builds = {PairEnd.OLD: evaluation.old, PairEnd.NEW: evaluation.new}
    run_project = cache(
        lambda end, module: _run_project(
            list_tests, evaluation, builds[end], module, awaited[end, module]
        )
    )
    for item, decision, ends in dropped:
        for end, method, result in ends:
            run = run_project(end, method.module)
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
    list_tests: TestsOf,
    evaluation: PairEvaluation,
    build: Build,
    module: str,
    awaited: Sequence[TestMethod],
) -> ProjectRun:
    methods = list_tests(build.rev).get(module, ())
    run = evaluation.built.run_project(build.rev, module, methods, awaited)
    evaluation.cost.add(Step.UMPIRE, run.cpu_seconds)
    return run


def _list_failing_ends(
    item: SelectedMethod, evaluation: PairEvaluation
) -> Iterator[tuple[PairEnd, TestMethod, CellResult]]:
    """Yield the ends at which a method does not pass on its own revision, with its result there."""
    cells = evaluation.get_deciding_cells(item.method_id)
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
