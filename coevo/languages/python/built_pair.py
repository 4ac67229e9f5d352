"""Both revisions of a pair, built with one interpreter: load, run and trace their tests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from coevo.languages.cells import (
    BorrowedSettings,
    Build,
    CellEdits,
    CellKey,
    CheckedSource,
    CompiledTests,
    SettingsScope,
)
from coevo.languages.core.channel import TargetReport
from coevo.languages.engine import find_no_shadowing, refuse_mutation
from coevo.languages.python.built import (
    BuiltEnd,
    PythonModule,
    find_nearest_folder,
    load_module_settings,
)
from coevo.languages.python.cell import PythonCell, digest_cell
from coevo.languages.python.checking import compile_and_check
from coevo.languages.python.commands import make_target
from coevo.languages.python.events import derive_verdicts
from coevo.languages.python.method_runs import MethodRuns, run_project_tests
from coevo.languages.python.reading.words import add_first_statement_lines
from coevo.languages.python.requirements.stated import Needs
from coevo.languages.python.resolution import ResolutionFailure, list_packages_with_digests
from coevo.languages.python.supply import OBSERVER
from coevo.languages.python.tracing import (
    make_joint_trace,
    make_trace,
    select_watched_lines,
)
from coevo.languages.verdicts import (
    NO_CLOCK,
    PLAIN,
    UNOBSERVED,
    ProjectRun,
    RunConditions,
    Trace,
    TraceBatch,
    Verdict,
    VerdictBatch,
    mark_unconfirmed_pass,
    unite_reached_lines,
)
from coevo.model.pair_rows import Environment, LibraryEntry
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Outcome

_MISSING = Verdict(outcome=Outcome.MISSING)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonBuiltPair:
    """A pair whose revisions were built with one interpreter. Implements `engine.BuiltPair`.

    old, new  the builds of its revisions
    ends      the built revisions with their modules, by revision
    runs      the runs of this pair's methods, with its cells
    others    builds the pair with the next interpreter; returns None if there is none
    """

    pair: Pair
    old: Build
    new: Build
    ends: Mapping[str, BuiltEnd]
    runs: MethodRuns
    others: Callable[[], PythonBuiltPair | None] = lambda: None

    find_shadowing_classes = find_no_shadowing
    mutate = refuse_mutation

    def build_with_other_runtime(self) -> PythonBuiltPair | None:
        """See `BuiltPair.build_with_other_runtime`; the runtime is the interpreter."""
        return self.others()

    def compile(
        self,
        tests_rev: str,
        code_rev: str,
        module: str,
        borrowed: BorrowedSettings | None = None,
        edits: CellEdits | None = None,
        methods: Sequence[TestMethod] | None = None,
    ) -> CompiledTests:
        """See `BuiltPair.compile`.

        Nothing is compiled but edited sources of the code, in the sandbox. A test file counts as
        compiled if it loads without stand-ins for names that the code lacks (`inside/absent.py`).
        """
        failure, spent = None, 0.0
        sources = [(p, c) for p, c in edits.code if c and p.endswith('.py')] if edits else []
        if sources and edits is not None:
            check_results = self._check_sources(code_rev, module, sources)
            failure = next((result.signature for result in check_results if result.signature), None)
            spent = sum(result.cpu_seconds for result in check_results)
        compiled = CompiledTests(
            tests_rev=tests_rev,
            code_rev=code_rev,
            module=module,
            unit_ok=failure is None,
            cpu_seconds=spent,
            borrowed=borrowed,
            edits=edits,
            code_failure=failure,
        )
        if failure is not None or (edits is not None and (methods is not None or not edits.tests)):
            # a test file of an edited cell that does not load is reported when the cell is run
            return compiled
        cell = self._get_cell(compiled)
        files = None if methods is None else cell.list_candidate_files(methods)
        if files and cell.loaded.keys().isdisjoint(files):
            spent += self.runs.try_first_run_returning_cpu_seconds(cell, methods or (), files)
        spent += self.runs.cells.load_test_files_returning_cpu_seconds(cell, files)
        broken = cell.broken_files if files is None else cell.broken_files.intersection(files)
        return replace(
            compiled,
            unit_ok=not broken,
            cpu_seconds=spent,
            broken=tuple(sorted(broken)),
            torn=tuple(sorted(broken)),
        )

    def check_main_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[CheckedSource, ...]:
        """See `BuiltPair.check_main_sources`; the sources are compiled in the sandbox."""
        return self._check_sources(code_rev, module, [(path, text) for text in variants])

    def do_settings_differ(self, code_rev: str, module: str, borrowed: BorrowedSettings) -> bool:
        """See `BuiltPair.do_settings_differ`. Packages and pytest's options are compared."""
        own, other = self._find_module(code_rev, module), self._find_module(borrowed.rev, module)
        if own is None or other is None:
            return False
        borrower = self._borrow_settings(own, other, borrowed.scope)
        return borrower is not None and (borrower.installed.site, borrower.options) != (
            own.installed.site,
            own.options,
        )

    def find_compile_verdict(self, compiled: CompiledTests, method: TestMethod) -> Verdict | None:
        """See `BuiltPair.find_compile_verdict`.

        In a file that loads only with stand-ins (`inside/absent.py`), a test has a compile error if
        it uses a name that the code lacks, and the other tests have none.
        """
        cell, file = self._get_cell(compiled), method.test_file
        if not cell.has_file(file):
            return None  # its outcome will be `missing`
        if compiled.edits is None:
            self.runs.cells.load_test_files_returning_cpu_seconds(cell, [file])
        verdict = cell.loaded.get(file)
        missing = cell.absent.get(make_target(method)) if file in cell.stood_in else None
        if verdict is None and missing is not None:
            return Verdict(outcome=Outcome.COMPILE_ERROR, signature=f'missing:{missing}')
        return verdict

    def digest_run_inputs(self, compiled: CompiledTests) -> str | None:
        """See `BuiltPair.digest_run_inputs`."""
        return digest_cell(self.runs.context, self._get_cell(compiled), compiled)

    def run(
        self,
        compiled: CompiledTests,
        methods: Sequence[TestMethod],
        conditions: RunConditions = PLAIN,
    ) -> VerdictBatch:
        """See `BuiltPair.run`.

        If a file fails to load and then loads with stand-ins, the run is repeated.
        """
        if not methods:
            return VerdictBatch(verdicts=(), cpu_seconds=0.0)
        cell = self._get_cell(compiled)
        if conditions.clock is not None and self.runs.get_clock_variables(cell, conditions) is None:
            unknown = Verdict(outcome=Outcome.INFRA, signature=NO_CLOCK)
            return VerdictBatch(verdicts=(unknown,) * len(methods), cpu_seconds=0.0)
        files = [method.test_file for method in methods]
        # without files pytest would run all tests
        if not any(cell.has_file(file) for file in files):
            return VerdictBatch(verdicts=(_MISSING,) * len(methods), cpu_seconds=0.0)
        observed = conditions.observed and self.runs.context.try_to_provide_c_library(OBSERVER)
        watched: dict[str, int] | None = {} if observed else None
        done = self.runs.take_first_run(cell, methods, conditions)
        if done is None:
            done = self.runs.run_methods(cell, methods, conditions, 'run', watched=watched)
        spent = done.cpu_seconds
        loads_now, used = self.runs.retry_stand_ins_with_cpu_seconds(cell, done)
        spent += used
        if loads_now:
            done = self.runs.run_methods(cell, methods, conditions, 'run', watched=watched)
            spent += done.cpu_seconds
        process_verdicts = [*derive_verdicts(done.heard, files, done.status, done.noise)]
        final_verdicts = [
            self.runs.complete_verdict(cell, *method_and_verdict)
            for method_and_verdict in zip(methods, process_verdicts, strict=True)
        ]
        if conditions.observed:
            seen = done.heard.seen
            final_verdicts = [
                mark_unconfirmed_pass(
                    verdict, UNOBSERVED if seen is None else seen.explain_unconfirmed_target(i)
                )
                for i, verdict in enumerate(final_verdicts)
            ]
        return VerdictBatch(verdicts=tuple(final_verdicts), cpu_seconds=spent, output=done.noise)

    def trace(
        self,
        compiled: CompiledTests,
        methods: Sequence[TestMethod],
        files: Collection[str],
        conditions: RunConditions = PLAIN,
        *,
        shared: bool = False,
        watched: Mapping[str, Collection[int]] | None = None,
        together: bool = False,
    ) -> TraceBatch:
        """See `BuiltPair.trace`. Watched lines are observed in another process, without tracer."""
        traces: list[Trace | None] = []
        heard: list[TargetReport] = []
        spent = 0.0
        edited = compiled.edits.tests if compiled.edits else ()
        theirs = self.runs.context.trees.list_test_paths(compiled.tests_rev) | {
            path for path, _ in edited
        }
        for batch in [methods] if shared else [[method] for method in methods]:
            loads = together and not any(traces)  # they are the same for all tests that pass
            cell = self._get_cell(compiled)
            done = self.runs.run_methods(
                cell, batch, conditions, 'trace', traced=sorted(files), loads=loads
            )
            spent += done.cpu_seconds
            batch_traces = [make_trace(report, files, theirs) for report in done.heard.targets]
            if watched is not None:
                batch_traces, used = self._observe_lines_with_cpu_seconds(
                    compiled, batch, conditions, batch_traces, watched
                )
                spent += used
            traces += batch_traces
            heard += done.heard.targets
        whole = None
        if together:
            known = [
                report for report, trace in zip(heard, traces, strict=True) if trace is not None
            ]
            whole = make_joint_trace(known, files, theirs)
        return TraceBatch(
            traces=tuple(traces),
            cpu_seconds=spent,
            together=whole and replace(whole, reached=unite_reached_lines(traces)),
        )

    def _observe_lines_with_cpu_seconds(
        self,
        compiled: CompiledTests,
        methods: Sequence[TestMethod],
        conditions: RunConditions,
        traces: Sequence[Trace | None],
        watched: Mapping[str, Collection[int]],
    ) -> tuple[list[Trace | None], float]:
        """Run the methods under the observer; return each trace with its executed watched lines.

        A trace becomes None if the observer did not confirm that its method passed; all are None if
        this machine has no observer. The number is the CPU seconds.
        """
        if not self.runs.context.try_to_provide_c_library(OBSERVER):
            return [None] * len(methods), 0.0
        cell = self._get_cell(compiled)
        counts = cell.compute_line_bounds(watched.keys())
        done = self.runs.run_methods(cell, methods, conditions, 'run', watched=counts)
        seen, observed_traces = done.heard.seen, list[Trace | None]()
        for index, (trace, heard) in enumerate(zip(traces, done.heard.targets, strict=True)):
            passed = heard.ended and all(test.outcome is Outcome.PASS for test in heard.tests)
            if (
                trace is None
                or seen is None
                or not passed
                or seen.explain_unconfirmed_target(index)
            ):
                observed_traces.append(None)
            else:
                lines = self._add_statement_starts(cell, seen.reached, trace.lines)
                observed_traces.append(replace(trace, reached=select_watched_lines(lines, watched)))
        return observed_traces, done.cpu_seconds

    def _add_statement_starts(
        self,
        cell: PythonCell,
        reached: Mapping[str, frozenset[int]],
        counted: Collection[str],
    ) -> dict[str, frozenset[int]]:
        """Return the executed lines by path, with the first lines of the statements around them.

        First lines are added only for the files in `counted`.
        """
        return {
            path: add_first_statement_lines(lines, cell.load_file(path))
            if path in counted
            else lines
            for path, lines in reached.items()
        }

    def describe_environment(self, rev: str, module: str) -> Environment | None:
        """See `BuiltPair.describe_environment`."""
        built_module = self._find_module(rev, module)
        if built_module is None:
            return None
        return Environment(
            runtime=built_module.installed.interpreter.version,
            build_tool='uv',
            libraries=tuple(
                LibraryEntry(coordinates=name, sha256=digest)
                for name, digest in list_packages_with_digests(built_module.installed.locked)
            ),
        )

    def run_project(
        self,
        rev: str,
        module: str,
        reported_methods: Sequence[TestMethod],
        awaited: Sequence[TestMethod] = (),
    ) -> ProjectRun:
        """See `BuiltPair.run_project`; the command is `python -m pytest`."""
        own = self._find_module(rev, module)
        if own is None:
            return ProjectRun(outcomes={}, failure=self.ends[rev].build.find_trouble(module))
        key = CellKey(tests_rev=rev, code_rev=rev, module=module)
        settings = load_module_settings(self.runs.context.repository, rev, own.folder)
        return run_project_tests(
            self.runs.cells, self.runs.cells.get(key, own), reported_methods, settings, awaited
        )

    def _find_module(self, rev: str, module: str) -> PythonModule | None:
        """Return the built module in a folder, else the one in the nearest folder above it.

        None if the build of the revision names no module in this folder, or says that it failed.
        """
        end = self.ends.get(rev)
        if end is None or end.build.modules.get(module, 'none') is not None:
            return None
        own = find_nearest_folder(module, end.modules)
        return end.modules[own] if own is not None else None

    def _get_cell(self, compiled: CompiledTests) -> PythonCell:
        own = self._find_module(compiled.code_rev, compiled.module)
        assert own is not None, 'a module is built before it is used'
        if compiled.borrowed is not None:
            other = self._find_module(compiled.borrowed.rev, compiled.module)
            own = (
                self._borrow_settings(own, other, compiled.borrowed.scope) if other else None
            ) or own
        return self.runs.cells.get(compiled.key, own)

    def _borrow_settings(
        self, own: PythonModule, other: PythonModule, scope: SettingsScope
    ) -> PythonModule | None:
        """Return `own` with settings of `other`; None if its packages cannot be resolved.

        With the scope `ALL_SETTINGS` these are all packages and the options of pytest; otherwise
        the test requirements alone, resolved anew together with the runtime requirements of `own`.
        """
        if scope is SettingsScope.ALL_SETTINGS:
            return replace(own, installed=other.installed, options=other.options)
        needs = Needs(runtime=own.needs.runtime, tests=other.needs.tests, pins=own.needs.pins)
        environment = self.runs.context.resolve_and_install_once(
            needs, own.installed.interpreter, self.pair.new.committer_date
        )
        return (
            None
            if isinstance(environment, ResolutionFailure)
            else replace(own, installed=environment)
        )

    def _check_sources(
        self, code_rev: str, module: str, sources: Sequence[tuple[str, bytes]]
    ) -> tuple[CheckedSource, ...]:
        own = self._find_module(code_rev, module)
        assert own is not None, 'a module is built before it is used'
        return compile_and_check(self.runs.context, own.installed, sources)
