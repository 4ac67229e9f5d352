"""Both revisions of a pair, built with one interpreter: load, run and trace their tests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coevo.languages.builds import Build
from coevo.languages.cells import (
    BorrowedSettings,
    CellEdits,
    CellKey,
    CheckedSource,
    CompiledTests,
    SettingsScope,
)
from coevo.languages.core.channel import TargetReport
from coevo.languages.core.test_runs import PassingTimes
from coevo.languages.engine import find_no_shadowing, refuse_mutation
from coevo.languages.observation import PLAIN, RunConditions, mark_as_tampered
from coevo.languages.python.built import (
    BuiltEnd,
    PythonModule,
    find_nearest_folder,
    load_settings,
)
from coevo.languages.python.c_libraries import OBSERVER
from coevo.languages.python.cell import PythonCell, digest_cell
from coevo.languages.python.cells import PythonCells
from coevo.languages.python.checking import compile_and_check
from coevo.languages.python.commands import make_target
from coevo.languages.python.environments import list_packages
from coevo.languages.python.events import derive_verdicts
from coevo.languages.python.reading.words import add_first_statement_lines, decode_source
from coevo.languages.python.requirements.stated import Needs
from coevo.languages.python.resolution import ResolutionFailure
from coevo.languages.python.run_context import PythonRunContext
from coevo.languages.python.runner import PythonRunResult
from coevo.languages.python.tracing import (
    make_joint_trace,
    make_trace,
    select_watched_lines,
)
from coevo.languages.python.umpire import run_project_tests
from coevo.languages.traces import Trace, TraceBatch, unite_reached_lines
from coevo.languages.verdicts import NO_CLOCK, UNOBSERVED, ProjectRun, Verdict, VerdictBatch
from coevo.model.environments import Environment, LibraryEntry
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Outcome

_MISSING = Verdict(outcome=Outcome.MISSING)

# The conditions of the engine's first run of a cell.
_FIRST = RunConditions(together=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonBuiltPair:
    """A pair whose revisions were built with one interpreter. Implements `engine.BuiltPair`.

    old, new  the builds of its revisions
    ends      the built revisions with their modules, by revision
    cells     the cells of this pair
    passing   how long passing tests took
    others    builds the pair with the next interpreter; returns None if there is none
    """

    pair: Pair
    old: Build
    new: Build
    ends: Mapping[str, BuiltEnd]
    context: PythonRunContext
    cells: PythonCells
    passing: PassingTimes = field(default_factory=PassingTimes)
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
        files = None if methods is None else self._list_candidate_files(cell, methods)
        if files and cell.loaded.keys().isdisjoint(files):
            spent += self._make_and_keep_first_run(compiled, methods or (), files)
        spent += self.cells.load_test_files(cell, files)
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
            self.cells.load_test_files(cell, [file])
        verdict = cell.loaded.get(file)
        missing = cell.absent.get(make_target(method)) if file in cell.stood_in else None
        if verdict is None and missing is not None:
            return Verdict(outcome=Outcome.COMPILE_ERROR, signature=f'missing:{missing}')
        return verdict

    def digest_content(self, compiled: CompiledTests) -> str | None:
        """See `BuiltPair.digest_content`."""
        return digest_cell(self.context, self._get_cell(compiled), compiled)

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
        if conditions.clock is not None and self._get_clock_variables(cell, conditions) is None:
            unknown = Verdict(outcome=Outcome.INFRA, signature=NO_CLOCK)
            return VerdictBatch(verdicts=(unknown,) * len(methods), cpu_seconds=0.0)
        files = [method.test_file for method in methods]
        # without files pytest would run all tests
        if not any(cell.has_file(file) for file in files):
            return VerdictBatch(verdicts=(_MISSING,) * len(methods), cpu_seconds=0.0)
        observed = conditions.observed and self.context.has_c_library(OBSERVER)
        watched: dict[str, int] | None = {} if observed else None
        done = self._take_first_run(cell, methods, conditions)
        if done is None:
            done = self._run_methods(compiled, methods, conditions, 'run', watched=watched)
        spent = done.cpu_seconds
        loads_now, used = self._retry_loading_with_stand_ins(cell, done)
        spent += used
        if loads_now:
            done = self._run_methods(compiled, methods, conditions, 'run', watched=watched)
            spent += done.cpu_seconds
        process_verdicts = [*derive_verdicts(done.heard, files, done.status, done.noise)]
        final_verdicts = [
            self._complete_verdict(cell, *method_and_verdict)
            for method_and_verdict in zip(methods, process_verdicts, strict=True)
        ]
        if conditions.observed:
            seen = done.heard.seen
            final_verdicts = [
                mark_as_tampered(
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
        theirs = self.context.trees.list_test_paths(compiled.tests_rev) | {
            path for path, _ in edited
        }
        for batch in [methods] if shared else [[method] for method in methods]:
            loads = together and not any(traces)  # they are the same for all tests that pass
            done = self._run_methods(
                compiled, batch, conditions, 'trace', traced=sorted(files), loads=loads
            )
            spent += done.cpu_seconds
            batch_traces = [make_trace(report, files, theirs) for report in done.heard.targets]
            if watched is not None:
                batch_traces, used = self._add_reached_lines(
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

    def _add_reached_lines(
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
        if not self.context.has_c_library(OBSERVER):
            return [None] * len(methods), 0.0
        cell = self._get_cell(compiled)
        counts = cell.compute_line_bounds(watched.keys())
        done = self._run_methods(compiled, methods, conditions, 'run', watched=counts)
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
                for name, digest in list_packages(built_module.installed.locked)
            ),
        )

    def run_project(self, rev: str, module: str, methods: Sequence[TestMethod]) -> ProjectRun:
        """See `BuiltPair.run_project`; the command is `python -m pytest`."""
        own = self._find_module(rev, module)
        if own is None:
            return ProjectRun(outcomes={}, failure=self.ends[rev].build.find_trouble(module))
        key = CellKey(tests_rev=rev, code_rev=rev, module=module)
        settings = dict(load_settings(self.context.repository, rev, own.folder))
        return run_project_tests(self.cells, self.cells.get(key, own), methods, settings)

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
        return self.cells.get(compiled.key, own)

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
        environment = self.context.get_environment(
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
        return compile_and_check(self.context, own.installed, sources)

    # Runs

    def _make_and_keep_first_run(
        self, compiled: CompiledTests, methods: Sequence[TestMethod], files: Sequence[str]
    ) -> float:
        """Run methods as the engine's first run will, while pytest collects their files as a whole.

        If no file fails to load and a test begins, all files load, and no separate process has to
        find that out: the run is kept for the engine (`_take_first_run`), and 0 is returned.
        Otherwise the run is dropped, and its CPU seconds are returned, with those of further tries
        to load its files.
        """
        cell = self._get_cell(compiled)
        done = self._run_methods(compiled, methods, _FIRST, 'run', files=files, whole=True)
        file_verdicts = done.heard.files
        errors = {
            p: why for p, why in file_verdicts.items() if why.outcome is Outcome.COMPILE_ERROR
        }
        if not errors and any(target.begun for target in done.heard.targets):
            cell.loaded |= dict.fromkeys(files)
            cell.begun = tuple(methods), done
            return 0.0
        spent = done.cpu_seconds
        # the errors are those of single files
        if done.heard.loaded and errors.keys() <= set(files):
            spent += self.cells.record_loading(cell, {path: errors.get(path) for path in files})
        return spent

    def _take_first_run(
        self, cell: PythonCell, methods: Sequence[TestMethod], conditions: RunConditions
    ) -> PythonRunResult | None:
        """Return the run that `_make_and_keep_first_run` kept, if exactly this run is requested; else None.

        It is given out only once: each repetition has to be a run of its own.
        """
        if cell.begun is None or conditions != _FIRST or cell.begun[0] != tuple(methods):
            return None
        done, cell.begun = cell.begun[1], None
        return done

    def _run_methods(
        self,
        compiled: CompiledTests,
        methods: Sequence[TestMethod],
        conditions: RunConditions,
        mode: str,
        *,
        traced: Sequence[str] = (),
        watched: Mapping[str, int] | None = None,
        loads: bool = False,
        files: Sequence[str] | None = None,
        whole: bool = False,
    ) -> PythonRunResult:
        cell = self._get_cell(compiled)
        clock = self._get_clock_variables(cell, conditions)
        files = self._list_files_to_collect(cell, methods) if files is None else files
        self.cells.ensure_rewritten_test_files(cell, files)
        request: dict[str, object] = {
            'mode': mode,
            'targets': [make_target(method) for method in methods],
            'files': self.cells.to_process_paths(cell, files),
            'absent': self.cells.list_files_needing_stand_ins(cell, files),
            'whole': whole,
            'traced': {path: decode_source(cell.load_file(path)) for path in traced},
        }
        if traced:
            request['coverage'] = self.context.get_coverage_folder(
                cell.module.installed.interpreter
            )
            request['loads'] = loads
        return self.cells.send_request(
            cell,
            request,
            [conditions.cpu_limit or self.passing.choose_cpu_limit(method) for method in methods],
            alone=len(methods) == 1 and not conditions.together,
            cpu_seconds=conditions.process_cpu_limit,
            watched=watched,
            sources=conditions.sources,
            clock=clock,
        )

    def _get_clock_variables(
        self, cell: PythonCell, conditions: RunConditions
    ) -> Mapping[str, str] | None:
        """Return the variables of a faked clock; None if none is requested or it cannot be set."""
        if conditions.clock is None:
            return None
        return self.context.get_clock_variables(cell.module.installed, conditions.clock)

    def _list_files_to_collect(self, cell: PythonCell, methods: Sequence[TestMethod]) -> list[str]:
        """Return the test files that pytest gets for a run of these methods.

        These are the files of the methods, and those that may define subclasses of their classes,
        if they load; this may start a process that tries.
        """
        files, own = (
            self._list_candidate_files(cell, methods),
            {method.test_file for method in methods},
        )
        others = [path for path in files if path not in own]
        if others:
            self.cells.load_test_files(cell, others)
        return [path for path in files if path in own or cell.loaded[path] is None]

    def _list_candidate_files(self, cell: PythonCell, methods: Sequence[TestMethod]) -> list[str]:
        """Return the files of the methods and those that may define subclasses of their classes.

        A method's file that the cell lacks is left out.
        """
        files: dict[str, None] = {}
        for method in methods:
            _, owner, _ = make_target(method)
            if cell.has_file(method.test_file):
                files[method.test_file] = None
            if owner:
                files |= dict.fromkeys(cell.find_possible_subclass_files(method.test_file, owner))
        return list(files)

    def _retry_loading_with_stand_ins(
        self, cell: PythonCell, done: PythonRunResult
    ) -> tuple[bool, float]:
        """Load with stand-ins the files that failed to load in a run and were not tried before.

        In cells with edited code the loading of files has not been tried before. Return whether a
        file now loads with stand-ins, and the CPU seconds.
        """
        spent, before = 0.0, len(cell.stood_in)
        for path, why in done.heard.files.items():
            is_known = path in cell.loaded or not cell.has_file(path)
            if why.outcome is Outcome.COMPILE_ERROR and not is_known:
                spent += self.cells.load_test_files(cell, [path])
        return len(cell.stood_in) > before, spent

    def _complete_verdict(
        self, cell: PythonCell, method: TestMethod, verdict: Verdict | None
    ) -> Verdict | None:
        """Return a verdict completed by facts that the test process cannot know; None stays None.

        A missing test has a compile error instead if its file has the declaration but loads only
        with stand-ins: the declaration vanished together with a missing name. The time of a pass is
        noted.
        """
        if verdict is None:
            return None
        if verdict.outcome is Outcome.PASS:
            self.passing.note(method, verdict)
            return verdict
        hidden = method.test_file in cell.stood_in and cell.declares_method(method)
        if verdict.outcome is Outcome.MISSING and hidden:
            return replace(verdict, outcome=Outcome.COMPILE_ERROR, signature='missing:declaration')
        return verdict
