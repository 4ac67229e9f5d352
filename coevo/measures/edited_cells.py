"""Run tests of one end of a pair on that end's code, with one edit in it; used by all measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from coevo.git.repository import Repository
from coevo.languages.cells import Build, CellEdits, CompiledTests
from coevo.languages.core.test_runs import PassingTimes
from coevo.languages.engine import BuiltPair
from coevo.languages.verdicts import MainSources, RunConditions, Verdict
from coevo.model.dependencies import Dependency
from coevo.model.errors import Transient
from coevo.model.quality import PairEnd
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Outcome

Files = tuple[tuple[str, bytes | None], ...]
"""Contents by path, sorted; None means absent."""

RUN_AND_BROKEN = (Outcome.FAIL, Outcome.ERROR, Outcome.TIMEOUT)

# A test that is known to pass may use this many times its CPU time where a change is undone, and at
# least so many seconds. The old code may be slow: a change may have made it faster.
_SLOWER_THAN_PASSING, _LEAST_CPU_LIMIT = 10, 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldTest:
    """A test method with a track, at the end where it is measured, with its dependencies.

    undone  keys of the rows of `reversals` whose parts are to be undone; None means all
    tests   test files that differ from the revision, beside those of the runner
    """

    method_id: str
    method: TestMethod
    dependencies: tuple[Dependency, ...]
    undone: frozenset[tuple[str, int, str, str]] | None = None
    tests: Files = ()


@dataclass(slots=True, kw_only=True)
class EditedCellRunner:
    """Runs edited cells of one end of a pair.

    override     the workaround under which the pair's cells ran
    end          the end whose tests run on its own code
    tests        test files that differ from the revision, as in `CellEdits`
    sources      the main sources that lie beside the tests; None: those of the revision without any
                 edit, so that a test cannot notice an edit in the text of a source
    confirms     whether `run_and_confirm` repeats a failure, which may be a chance event
    unstable     methods that did not fail again when a failure was repeated
    passing      how long passing methods took; runners may share it
    cpu_seconds  CPU time of the sandboxed programs so far
    """

    built: BuiltPair
    repository: Repository
    override: str | None = None
    end: PairEnd = PairEnd.NEW
    tests: Files = ()
    sources: MainSources | None = None
    confirms: bool = False
    unstable: set[TestMethod] = field(default_factory=set)
    passing: PassingTimes = field(default_factory=PassingTimes)
    cpu_seconds: float = 0.0

    @property
    def pair(self) -> Pair:
        """The pair as it was mined."""
        return self.built.pair

    @property
    def rev(self) -> str:
        """The revision that is measured."""
        return self.pair.new.rev if self.end is PairEnd.NEW else self.pair.old.rev

    @property
    def build(self) -> Build:
        """The build of the revision that is measured."""
        return self.built.new if self.end is PairEnd.NEW else self.built.old

    def compile(
        self,
        module: str,
        code: tuple[str, bytes | None] | None = None,
        tests: Files = (),
        *,
        whole: bool = False,
    ) -> CompiledTests:
        """Compile a module's tests against the code, with at most one code file edited.

        code   the path and new content of the edited code file; None as content removes it
        tests  test files that differ, beside those of the runner, which take precedence
        whole  whether to find out for all tests of the module whether they compile, and not only
               for those that will run
        """
        files = sorted({**dict(tests), **dict(self.tests)}.items())
        edits = CellEdits(tests=tuple(files), code=(code,) if code else ())
        compiled = self.built.compile(
            self.rev,
            self.rev,
            module,
            edits=edits if edits != CellEdits() else None,
            methods=None if whole else (),
        )
        self.cpu_seconds += compiled.cpu_seconds
        return compiled

    def run_alone(
        self, compiled: CompiledTests, method: TestMethod, cpu_limit: float | None
    ) -> Verdict:
        """Return the verdict on a method that runs alone in a fresh process, or the compiler's.

        cpu_limit  CPU seconds; None is the usual limit

        Raises: Transient if the process does not start.
        """
        (verdict,) = self.run_all(compiled, [method], cpu_limit)
        assert verdict is not None, 'a method that runs alone has no neighbour to lose to'
        return verdict

    def run_all(
        self, compiled: CompiledTests, methods: Sequence[TestMethod], cpu_limit: float | None
    ) -> tuple[Verdict | None, ...]:
        """Return the verdicts on methods that run one after the other in one process.

        Methods that do not compile have the compiler's verdict. None for a method whose process
        another method ended before its turn.

        Raises: Transient if the process does not start.
        """
        if compiled.code_failure is not None:
            failed = Verdict(outcome=Outcome.COMPILE_ERROR, signature=compiled.code_failure)
            return (failed,) * len(methods)
        verdicts = [self.built.find_compile_verdict(compiled, method) for method in methods]
        left = [index for index, verdict in enumerate(verdicts) if verdict is None]
        if not left:  # also if there are no methods at all
            return tuple(verdicts)
        conditions = RunConditions(
            override=self.override,
            cpu_limit=cpu_limit,
            sources=self.sources or MainSources(rev=self.rev),
        )
        batch = self.built.run(compiled, [methods[index] for index in left], conditions)
        self.cpu_seconds += batch.cpu_seconds
        for index, verdict in zip(left, batch.verdicts, strict=True):
            if verdict is not None and verdict.outcome is Outcome.INFRA:
                raise Transient(f'a test process did not start: {verdict.message.strip()}')
            verdicts[index] = verdict
            self.passing.note(methods[index], verdict)
        return tuple(verdicts)

    def ensure_passing_times(self, tests: Iterable[GoldTest]) -> None:
        """Run the tests whose passing time is unknown once, without an edit.

        An edit may make a test or the loading of its code endless. With the time of a pass such a
        run is stopped early; without it, it may take minutes.

        Raises: Transient if the process does not start.
        """
        groups: dict[tuple[str, Files], list[TestMethod]] = {}
        for test in tests:
            if self.passing.find_slowest_pass(test.method) is None:
                groups.setdefault((test.method.module, test.tests), []).append(test.method)
        for (module, files), methods in groups.items():
            self.run_all(self.compile(module, tests=files), methods, None)

    def run_and_confirm(self, compiled: CompiledTests, method: TestMethod) -> Verdict:
        """Run a method alone; if failures are to be confirmed, run a failing method again.

        If it does not fail again, the method is added to `unstable`. The first verdict is returned.
        The CPU limit is ten times the slowest pass that this runner knows, at least 20 seconds.
        """
        slowest = self.passing.find_slowest_pass(method)
        limit = None if slowest is None else max(_LEAST_CPU_LIMIT, _SLOWER_THAN_PASSING * slowest)
        verdict = self.run_alone(compiled, method, limit)
        must_confirm = self.confirms and verdict.outcome in RUN_AND_BROKEN
        if must_confirm and not self.run_alone(compiled, method, limit).outcome.is_broken:
            self.unstable.add(method)
        return verdict


def find_module(modules: Iterable[str], path: str) -> str | None:
    """Return the innermost module whose folder contains a file; None if there is none."""
    holding = [name for name in modules if name == '.' or path.startswith(f'{name}/')]
    return max(holding, key=lambda name: (name != '.', len(name)), default=None)
