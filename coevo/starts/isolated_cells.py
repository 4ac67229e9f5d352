"""Run isolated cells, in which only the targets of one task come from the other revision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coevo.engine.results import SelectedMethod
from coevo.git.repository import Repository, load_content
from coevo.languages.cells import CellEdits, CompiledTests
from coevo.languages.engine import BuiltPair
from coevo.languages.verdicts import MainSources, RunConditions, Verdict
from coevo.model.errors import Transient
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Outcome, Track

Files = tuple[tuple[str, bytes | None], ...]
Verdicts = Mapping[str, Verdict]
Demand = Callable[[Outcome], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolatedSubject:
    """A test method with a track, which follows from its runs in the whole test trees."""

    selected: SelectedMethod
    track: Track

    @property
    def method_id(self) -> str:
        """The id of the method's row."""
        return self.selected.method_id

    @property
    def new(self) -> TestMethod:
        """The test method at the new revision."""
        method = self.selected.candidate.new
        assert method is not None, 'a track is about a test of the new revision'
        return method

    @property
    def old(self) -> TestMethod | None:
        """The test method at the old revision; None if it is not there."""
        return self.selected.candidate.old


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolatedTask:
    """The methods of one track in one test file of a pair: the targets of one task."""

    test_file: str
    track: Track
    subjects: tuple[IsolatedSubject, ...]

    @property
    def module(self) -> str:
        """The module of the test file at the new revision."""
        return self.subjects[0].new.module

    @property
    def is_generation(self) -> bool:
        """True if the task is to write new tests."""
        return self.track is Track.GENERATION

    @property
    def demand_at_start(self) -> Demand:
        """A function that says whether a reverted target may have an outcome at the start.

        For an update it must be broken there, for an extension it must pass.
        """
        return self.track.accepts_at_start

    @property
    def methods(self) -> dict[str, TestMethod]:
        """The targets at the new revision, by method id."""
        return {subject.method_id: subject.new for subject in self.subjects}

    def load_new_test_file(self, runner: IsolatedCellRunner) -> bytes:
        """Return the content of the test file at the new revision."""
        text = load_content(runner.repository, runner.pair.new.rev, self.test_file)
        assert text is not None, 'a subject stands in a file of the new revision'
        return text


@dataclass(slots=True, kw_only=True)
class IsolatedCellRunner:
    """Runs the isolated cells of one pair.

    cpu_seconds  CPU time of all compilers and test processes so far
    """

    built: BuiltPair
    repository: Repository
    conditions: RunConditions
    cpu_seconds: float = 0.0

    @property
    def pair(self) -> Pair:
        """The pair as it was mined."""
        return self.built.pair

    def compile(
        self,
        tests_rev: str,
        code_rev: str,
        module: str,
        files: Files | None,
        *,
        whole: bool = False,
    ) -> CompiledTests:
        """Compile a module's tests, with some files edited, against code.

        files  the edited test files; None for the cell of the pair itself
        whole  whether to find out for all tests of the module whether they compile, and not only
               for those that will run
        """
        compiled = self.built.compile(
            tests_rev,
            code_rev,
            module,
            edits=None if files is None else CellEdits(tests=files),
            methods=None if whole else (),
        )
        self.cpu_seconds += compiled.cpu_seconds
        return compiled

    def collect_verdicts_rerunning_undemanded(
        self, compiled: CompiledTests, methods: Mapping[str, TestMethod], demand: Demand
    ) -> Verdicts:
        """Return the verdicts on methods, from the compiler or one shared process.

        A method whose outcome is not as demanded, or that got no verdict since another method ended
        the process, runs again in a process of its own.
        """
        compiler_verdicts = self._list_compile_failures(compiled, methods)
        left = [name for name in methods if name not in compiler_verdicts]
        verdicts = compiler_verdicts | self._run_process(
            compiled, {name: methods[name] for name in left}
        )
        for name in left:
            if len(left) > 1 and (name not in verdicts or not demand(verdicts[name].outcome)):
                verdicts |= self._run_process(compiled, {name: methods[name]})
        return {name: verdicts[name] for name in methods}

    def run_in_one_process(
        self, compiled: CompiledTests, methods: Mapping[str, TestMethod]
    ) -> dict[str, Verdict]:
        """Return the verdicts on methods, from the compiler or one shared process.

        A method whose process another method ended before its turn is left out.
        """
        compiler_verdicts = self._list_compile_failures(compiled, methods)
        return compiler_verdicts | self._run_process(
            compiled, {n: m for n, m in methods.items() if n not in compiler_verdicts}
        )

    def run_three_times(
        self, compiled: CompiledTests, methods: Mapping[str, TestMethod]
    ) -> Iterator[tuple[str, Verdict]]:
        """Yield three verdicts on each method that compiles: from three fresh processes.

        They are one in the given and one in reversed order, and one for the method alone. A method
        that does not compile yields the compiler's verdict once.
        """
        broken = self._list_compile_failures(compiled, methods)
        yield from broken.items()
        left = {name: method for name, method in methods.items() if name not in broken}
        alone = [{name: method} for name, method in left.items()]
        for batch in (left, dict(reversed(left.items())), *alone):
            heard = self._run_process(compiled, batch)
            for name in batch:
                lost = name not in heard
                yield (
                    name,
                    self._run_process(compiled, {name: left[name]})[name] if lost else heard[name],
                )

    def _list_compile_failures(
        self, compiled: CompiledTests, methods: Mapping[str, TestMethod]
    ) -> dict[str, Verdict]:
        """Return the compiler's verdicts on the methods that do not compile."""
        verdicts = {n: self.built.find_compile_verdict(compiled, m) for n, m in methods.items()}
        return {name: verdict for name, verdict in verdicts.items() if verdict is not None}

    def _run_process(
        self, compiled: CompiledTests, methods: Mapping[str, TestMethod]
    ) -> dict[str, Verdict]:
        """Run methods in one process, and return their verdicts by name.

        Methods that another method kept from running are left out. Raises: Transient if the process
        did not start.
        """
        if not methods:
            return {}
        batch = self.built.run(compiled, list(methods.values()), self.conditions)
        self.cpu_seconds += batch.cpu_seconds
        heard = {n: v for n, v in zip(methods, batch.verdicts, strict=True) if v is not None}
        for verdict in heard.values():
            if verdict.outcome is Outcome.INFRA:
                raise Transient(f'a test process did not start: {verdict.message.strip()}')
        return heard


def add_file(files: Files, path: str, text: bytes | None) -> Files:
    """Return the files with one more, sorted by path."""
    return tuple(sorted((*files, (path, text)), key=lambda file: file[0]))


def is_pass(outcome: Outcome) -> bool:
    """Return whether an outcome is a pass."""
    return outcome is Outcome.PASS


def is_broken(outcome: Outcome) -> bool:
    """Return whether an outcome is `fail`, `error`, `timeout` or `compile_error`."""
    return outcome.is_broken


def describe_verdict(verdict: Verdict) -> str:
    """Return the outcome of a verdict as text, followed by its failure signature if it has one."""
    return ' '.join(filter(None, (str(verdict.outcome), verdict.signature)))


NO_SOURCES = MainSources()


# A test that asserts that a source contains a line would notice every reversal and yet test nothing.
# Submitted tests therefore get no main sources, unless gold itself fails without them.


def do_passes_need_main_sources(
    runner: IsolatedCellRunner, compiled: CompiledTests, methods: Mapping[str, TestMethod]
) -> bool:
    """Return whether some test passes only if the main sources of the cell's code lie beside it.

    Such a test reads the text of sources.
    """
    lost = _run_and_list_failing_methods(runner, NO_SOURCES, compiled, methods)
    if not lost:
        return False
    same = MainSources(rev=compiled.code_rev)
    still = _run_and_list_failing_methods(
        runner, same, compiled, {name: methods[name] for name in lost}
    )
    return len(still) < len(lost)


def _run_and_list_failing_methods(
    runner: IsolatedCellRunner,
    sources: MainSources,
    compiled: CompiledTests,
    methods: Mapping[str, TestMethod],
) -> Sequence[str]:
    """Return the ids of methods that do not pass with only these main sources beside the tests."""
    own = replace(runner, conditions=replace(runner.conditions, sources=sources))
    verdicts = own.collect_verdicts_rerunning_undemanded(compiled, methods, is_pass)
    runner.cpu_seconds = own.cpu_seconds
    return [name for name, verdict in verdicts.items() if not is_pass(verdict.outcome)]
