"""Whether all tests of a revision pass on their own code (TestEvo-Bench, A.1: "both endpoints").

An answer is one line, kept with each pair of the revision:

pass, pass but for environment 2 of 120   the machine withholds what the two need
broken 3 of 120, timeout 1 of 120         the latter where time alone breaks them; with how many
                                          the environment breaks, and how many were not run
none passes of 4                          nothing is broken, but all are skipped or found nowhere
unbuildable: MODULE: why                  a module with tests, or the whole
uncompilable: MODULE                      its tests do, but not all that lies beside them
not_run: budget                           nothing is broken, but the CPU seconds for a revision did
                                          not last
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from coevo.languages.builds import Build
from coevo.languages.cells import CompiledTests
from coevo.languages.conditions import RunConditions
from coevo.languages.engine import BuiltPair
from coevo.languages.table import LANGUAGES
from coevo.languages.verdicts import Verdict
from coevo.model.errors import Transient
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

PASS = 'pass'
NOT_RUN = 'not_run: budget'
TIMEOUT = 'timeout'

# Processes that a module's tests may end before the rest of them is left out.
MOST_PROCESSES = 5

# CPU seconds that a process is given at least: with less it may not even start.
LEAST_FOR_A_PROCESS = 20.0

# The test methods of a revision by module, in the order in which they are run.
TestsOf = Callable[[str], Mapping[str, Sequence[TestMethod]]]


def has_passed(answer: str | None) -> bool | None:
    """Whether a suite passes; None where that is not known, or time alone says that it does not."""
    if answer is None or answer == NOT_RUN or answer.startswith(TIMEOUT):
        return None
    return answer.startswith(PASS)


class SuiteAnswerCache:
    """The answers of a run, each found once for a revision and runtime; safe from several threads."""

    def __init__(self, tests: TestsOf, cpu_seconds: float) -> None:
        """`cpu_seconds` bounds the tests of one revision, but for what its last process is given."""
        self._tests, self._cpu_seconds = tests, cpu_seconds
        self._answers: dict[tuple[str, str], str] = {}
        self._locks: dict[tuple[str, str], threading.Lock] = {}
        self._lock = threading.Lock()

    def get_answer(self, built: BuiltPair, build: Build) -> tuple[str, float]:
        """The answer for an end of a pair, and the CPU seconds that it took just now."""
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
    """The suite of one revision, with what it has told and used so far.

    cpu_seconds   that its tests may use, but for what the last process is given

    left_out      tests that were not run: no CPU seconds were left, or too many processes died
    uncompilable  a module
    """

    built: BuiltPair
    build: Build
    cpu_seconds: float
    spent: float = 0.0
    verdicts: list[Verdict] = field(default_factory=list)
    left_out: int = 0
    uncompilable: str | None = None

    @property
    def seconds_left(self) -> float:
        return self.cpu_seconds - self.spent

    def run_modules(self, tests: Mapping[str, Sequence[TestMethod]]) -> None:
        """Run the tests of modules that were built; Transient where a process does not start."""
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
    """Who lost the process goes on in the next one; who was too slow is tried once more, alone."""
    verdicts: dict[TestMethod, Verdict] = {}
    rest = list(methods)
    for _ in range(MOST_PROCESSES):
        if rest and run.seconds_left > 0:
            verdicts |= _run_process(run, compiled, rest, override)
            rest = [method for method in rest if method not in verdicts]
    slow = [method for method, verdict in verdicts.items() if verdict.outcome is Outcome.TIMEOUT]
    for method in slow:
        if run.seconds_left > 0:
            verdicts |= _run_process(run, compiled, [method], override)
    return list(verdicts.values())


def _run_process(
    run: SuiteRun, compiled: CompiledTests, methods: Sequence[TestMethod], override: str | None
) -> dict[TestMethod, Verdict]:
    """The verdicts of one process; a time-out that may be that of the whole suite is none."""
    conditions = RunConditions(
        override=override, process_cpu_limit=max(run.seconds_left, LEAST_FOR_A_PROCESS)
    )
    batch = run.built.run(compiled, methods, conditions)
    run.spent += batch.cpu_seconds
    verdicts = {m: v for m, v in zip(methods, batch.verdicts, strict=True) if v is not None}
    for verdict in verdicts.values():
        if verdict.outcome is Outcome.INFRA:
            raise Transient(f'a test process did not start: {verdict.message.strip()}')
    cut_short = run.seconds_left <= 0
    return {
        method: verdict
        for method, verdict in verdicts.items()
        if not (cut_short and verdict.outcome is Outcome.TIMEOUT)
    }
