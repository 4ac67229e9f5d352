"""A test file whose tests were run and traced: its adequacy, and what depends on the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from coevo.engine.further_runs import rerun_and_find_suite_doubt
from coevo.engine.results import PairEvaluation, Step
from coevo.languages.capabilities import Capability
from coevo.languages.cells import CellEdits
from coevo.languages.reading import RevisionTree
from coevo.languages.table import offers_capability
from coevo.languages.verdicts import ExecutedMethod, RunConditions, Trace, TraceBatch
from coevo.measures import suites
from coevo.measures.edited_cells import EditedCellRunner, Files
from coevo.measures.mutant_sets import DrawnMutant
from coevo.measures.suites import PassingSuite
from coevo.model.families import Focus, SuiteAdequacy, SuiteMutant
from coevo.model.records import Pair, TestMethod
from coevo.starts.isolated_cells import IsolatedCellRunner, do_passes_need_main_sources
from flows.study.context import Tools
from miners.single_revision import SingleRevisionFile


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRevision:
    """A revision all of whose tests were run."""

    tools: Tools
    pair: Pair
    evaluation: PairEvaluation
    tree: RevisionTree

    @property
    def rev(self) -> str:
        """The id of the revision's commit."""
        return self.pair.new.rev

    def make_runner(self, files: Files = ()) -> EditedCellRunner:
        """Return a runner of the revision's tests.

        files  files of the test tree that differ from the revision
        """
        return EditedCellRunner(
            built=self.evaluation.built,
            repository=self.tools.repository,
            override=self.evaluation.override,
            tests=files,
        )

    def trace_suite(
        self, suite: PassingSuite, files: Sequence[str], runner: EditedCellRunner
    ) -> TraceBatch:
        """Return what the tests of a suite execute, each and all together.

        For `files` the trace also has the covered lines. It is empty if the language has no traces.
        """
        if not offers_capability(self.pair.language, Capability.TRACE):
            return TraceBatch(traces=(), cpu_seconds=0.0)
        traced = self.evaluation.built.trace(
            runner.compile(suite.module),
            suite.methods,
            sorted(set(files)),
            RunConditions(override=self.evaluation.override),
            shared=True,
            together=True,
        )
        self.evaluation.cost.add(Step.TRACE, traced.cpu_seconds, len(suite.methods))
        return traced


@dataclass(slots=True, kw_only=True)
class ObservedSuite:
    """The passing tests of a file and their traces.

    What its properties need to run is run once, when it is first asked for.
    """

    revision: ObservedRevision
    file: SingleRevisionFile
    suite: PassingSuite
    traces: tuple[Trace, ...]
    together: Trace
    _killed: dict[str, SuiteMutant] = field(default_factory=dict)
    _drawn: dict[tuple[Focus, ...], tuple[DrawnMutant, ...]] = field(default_factory=dict)
    _doubt: tuple[str | None] | None = None
    _needed: bool | None = None
    _reads: bool | None = None

    def list_executed_code(self) -> Iterator[ExecutedMethod]:
        """Yield what the tests execute of the code, once for each test."""
        for trace in self.traces:
            for method in trace.executed:
                if method.file is not None and self.revision.tree.belongs_to_code(method.file):
                    yield method

    @property
    def text(self) -> bytes:
        """The text of the test file."""
        return self.revision.tree.read_content(self.file.test_file)

    @property
    def doubt(self) -> str | None:
        """The reason why an observer did not confirm a pass, with the test.

        None if it confirmed all, or the profile asks for no observer.
        """
        if self._doubt is None:
            self._doubt = (self._explain_unconfirmed_pass(),)
        (reason,) = self._doubt
        return reason

    def _explain_unconfirmed_pass(self) -> str | None:
        tools = self.revision.tools
        if not tools.profile.observed:
            return None
        return rerun_and_find_suite_doubt(
            self.revision.evaluation, self.suite.methods, tools.repository
        )

    @property
    def is_needed_by_other_tests(self) -> bool:
        """True if other tests of the module do not compile without the file."""
        if self._needed is None:
            self._needed = self._breaks_others_if_removed()
        return self._needed

    def _breaks_others_if_removed(self) -> bool:
        built, rev = self.revision.evaluation.built, self.revision.rev
        removal = CellEdits(tests=((self.file.test_file, None),))
        whole = built.compile(rev, rev, self.file.module)
        without = built.compile(rev, rev, self.file.module, edits=removal)
        self.revision.evaluation.cost.add(Step.ISOLATION, without.cpu_seconds)
        return bool(set(without.broken) - set(whole.broken))

    @property
    def reads_sources(self) -> bool:
        """True if a test passes only with the text of the production sources beside it."""
        if self._reads is None:
            self._reads = self._needs_sources()
        return self._reads

    def _needs_sources(self) -> bool:
        revision = self.revision
        built, rev = revision.evaluation.built, revision.rev
        runner = IsolatedCellRunner(
            built=built,
            repository=revision.tools.repository,
            conditions=RunConditions(override=revision.evaluation.override),
        )
        compiled = built.compile(rev, rev, self.suite.module)
        tests: Mapping[str, TestMethod] = {
            str(at): method for at, method in enumerate(self.suite.methods)
        }
        needs_sources = do_passes_need_main_sources(runner, compiled, tests)
        revision.evaluation.cost.add(Step.ISOLATION, runner.cpu_seconds)
        return needs_sources

    def measure_adequacy(
        self, focus: tuple[Focus, ...], tests: int
    ) -> tuple[SuiteAdequacy, tuple[SuiteMutant, ...]]:
        """Return the adequacy of the tests on a focus: coverage, and killed mutants.

        The mutants are returned, too. Each mutant is run once, whatever the number of calls.

        tests  number of all tests of the file, passing or not
        """
        covered = self.compute_coverage_adequacy(self.suite, focus, tests, self.together)
        mutants = self._run_mutants(focus)
        return suites.add_mutant_counts(covered, mutants), mutants

    def compute_coverage_adequacy(
        self, suite: PassingSuite, focus: Sequence[Focus], tests: int, trace: Trace
    ) -> SuiteAdequacy:
        """Return the adequacy of a suite without mutants, from its trace."""
        return suites.add_coverage(
            SuiteAdequacy(tests=tests, passing=len(suite.methods)),
            self.revision.tools.repository,
            self.revision.rev,
            focus,
            trace,
            self.revision.pair.language,
        )

    def _run_mutants(self, focus: tuple[Focus, ...]) -> tuple[SuiteMutant, ...]:
        """Return mutants of a focus, each with whether the suite kills it.

        There are at most as many as the profile allows runs, since each mutant is one run of the
        suite. Mutants that were run before are not run again.
        """
        most = min(suites.MOST_MUTANTS, self.revision.tools.profile.measure_runs)
        if not most:
            return ()
        runner = self.revision.make_runner()
        if focus not in self._drawn:
            self._drawn[focus] = suites.draw_mutants(runner, focus)[:most]
        drawn = self._drawn[focus]
        new = [mutant for mutant in drawn if mutant.mutant_id not in self._killed]
        if new:
            ran = suites.run_suite_on_mutants(runner, self.suite, new)
            self._killed |= {mutant.mutant_id: mutant for mutant in ran}
        self.revision.evaluation.cost.add(Step.MUTANTS, runner.cpu_seconds, len(new))
        return tuple(self._killed[mutant.mutant_id] for mutant in drawn)
