"""Both ends of a pair, compiled, run and traced with one toolchain.

Traces are made from coevo's report in the sandbox on the functions and statements that a test
executed. A function counts as executed if one of its blocks was entered. Its `method` is `F`,
`(T).M` or `(*T).M`, its `type` the name of its owner in the reading (`mux`, `mux$T`), and its
`descriptor` the place where it begins, `FILE:LINE`. A line has as many instructions as statements
begin in it. There are no branches.
"""

from __future__ import annotations

import base64
import hashlib
import posixpath
from collections.abc import Collection, Mapping, Sequence
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
from coevo.languages.engine import (
    find_no_other_runtime,
    find_no_shadowing,
    refuse_mutation,
)
from coevo.languages.golang.cells import BinaryVariant, GoBinary
from coevo.languages.golang.channel import explain_doubt, make_test_key, make_verdicts
from coevo.languages.golang.compiler import LATE
from coevo.languages.golang.ends import GoBuiltEnd
from coevo.languages.golang.pair_runs import GoPairCells, GoPairRuns, run_go_test
from coevo.languages.golang.run_context import GoRunContext
from coevo.languages.golang.runner import GoRunResult, parse_trace
from coevo.languages.verdicts import (
    PLAIN,
    ProjectRun,
    RunConditions,
    Trace,
    TraceBatch,
    Verdict,
    VerdictBatch,
    mark_unconfirmed_pass,
    unite_traces,
)
from coevo.model.pair_rows import Environment
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Outcome

_MISSING = Verdict(outcome=Outcome.MISSING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoBuiltPair:
    """Both ends of a pair in Go, as `coevo.languages.engine.BuiltPair` requires them.

    runs  None if no toolchain knows the language level of both ends
    """

    pair: Pair
    ends: tuple[GoBuiltEnd, GoBuiltEnd]
    context: GoRunContext
    runs: GoPairRuns | None = None

    build_with_other_runtime = find_no_other_runtime
    find_shadowing_classes = find_no_shadowing
    mutate = refuse_mutation

    @property
    def old(self) -> Build:
        """The build of the old revision."""
        return self.ends[0].build

    @property
    def new(self) -> Build:
        """The build of the new revision."""
        return self.ends[1].build

    def compile(
        self,
        tests_rev: str,
        code_rev: str,
        module: str,
        borrowed: BorrowedSettings | None = None,
        edits: CellEdits | None = None,
        methods: Sequence[TestMethod] | None = None,
    ) -> CompiledTests:
        """Compile the tests of a package folder (`module`) against code, unless that was done.

        A package is one unit, so `methods` are not used. An earlier result costs no CPU time. See
        `BuiltPair.compile`.
        """
        key = CellKey(
            tests_rev=tests_rev, code_rev=code_rev, module=module, borrowed=borrowed, edits=edits
        )
        cells, project = self._cells.all, self._cells.find_project(key)
        fresh = not cells.has_binary(key, project)
        binary = cells.compile_binary(key, project, BinaryVariant())
        return CompiledTests(
            tests_rev=tests_rev,
            code_rev=code_rev,
            module=module,
            unit_ok=binary.whole,
            cpu_seconds=binary.cpu_seconds if fresh else 0.0,
            borrowed=borrowed,
            edits=edits,
            code_failure=binary.code or None,
            broken=('*',) if binary.all else tuple(sorted((*binary.broken, *binary.torn))),
        )

    def do_settings_differ(self, code_rev: str, module: str, borrowed: BorrowedSettings) -> bool:
        """Return whether the go.mod and go.sum files of the two revisions differ.

        False for the scope `test_libraries`, since code and tests of a module share one set of
        libraries, and for a revision that could not be prepared.
        """
        if borrowed.scope is SettingsScope.TEST_LIBRARIES:
            return False
        own, other = (self._cells.find_end(rev).project for rev in (code_rev, borrowed.rev))
        return own is not None and other is not None and own.files != other.files

    def find_compile_verdict(self, compiled: CompiledTests, method: TestMethod) -> Verdict | None:
        """Return the compiler's verdict on a test that it refuses; None if the test compiles.

        It is `compile_error`, or `unbuildable` if edited code does not compile. None, too, if build
        constraints keep the test's file out.
        """
        binary = self._cells.compile_binary(compiled.key)
        if binary.code:
            return Verdict(outcome=Outcome.UNBUILDABLE, signature=binary.code)
        if _is_file_left_out(binary, method):
            return None
        torn = binary.torn.get(method.test_file)
        name = f'{method.test_file}#{method.test_method}'
        signature = binary.all or torn or binary.broken.get(name)
        if not signature:
            return None
        return Verdict(
            outcome=Outcome.COMPILE_ERROR, signature=signature, message=signature, syntax=bool(torn)
        )

    def digest_run_inputs(self, compiled: CompiledTests) -> str | None:
        """Return a digest of the trees of both revisions, edits, libraries, toolchain and sandbox.

        The trees count as a whole, since a test may read any file that is laid out beside it.
        """
        header = self.context.repository.header
        key = compiled.key
        prepared = self._cells.all.compiler.prepared
        parts = (
            str(header(compiled.code_rev).tree),
            str(header(compiled.tests_rev).tree),
            compiled.module,
            self._cells.find_project(key).settings_digest,
            prepared.toolchain.version,
            prepared.digest,
            repr(compiled.edits),
            self.context.sandbox.name,
        )
        return hashlib.sha256('\0'.join(parts).encode(errors='surrogateescape')).hexdigest()

    def run(
        self,
        compiled: CompiledTests,
        methods: Sequence[TestMethod],
        conditions: RunConditions = PLAIN,
    ) -> VerdictBatch:
        """Run tests in one process, which runs them in the order of their files.

        If they are given in reversed order, each runs in a process of its own, since no test binary
        can run them in that order. A test that no binary has gets its verdict without a run.
        Verdicts are in the given order.
        """
        refused = [self._make_refusal_verdict(compiled, method) for method in methods]
        runnable = [m for m, verdict in zip(methods, refused, strict=True) if verdict is None]
        done = self._run_compiled(compiled, runnable, conditions)
        verdicts = iter(done.verdicts)
        return replace(done, verdicts=tuple(verdict or next(verdicts) for verdict in refused))

    def _run_compiled(
        self, compiled: CompiledTests, methods: Sequence[TestMethod], conditions: RunConditions
    ) -> VerdictBatch:
        """Run tests that the binary has, and return their verdicts; without methods nothing runs.

        An observed pass that is not credible is marked as tampered.
        """
        if not methods:
            return VerdictBatch(verdicts=(), cpu_seconds=0.0)
        batches = [[single] for single in methods] if _is_reversed(methods) else [methods]
        all_verdicts: list[Verdict | None] = []
        spent, output = 0.0, ''
        for batch in batches:
            done = self._runs.run_methods(compiled, batch, conditions)
            names = [make_test_key(method) for method in batch]
            batch_verdicts = make_verdicts(done.heard, names, done.status, done.noise)
            for method, verdict in zip(batch, batch_verdicts, strict=True):
                self._runs.passing.note(method, verdict)
            if conditions.observed:
                batch_verdicts = [
                    mark_unconfirmed_pass(verdict, explain_doubt(done.heard.seen, name))
                    for name, verdict in zip(names, batch_verdicts, strict=True)
                ]
            all_verdicts += batch_verdicts
            spent += done.cpu_seconds
            output += done.noise
        return VerdictBatch(verdicts=tuple(all_verdicts), cpu_seconds=spent, output=output)

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
        """Trace each method in a process of its own, since coverage is of a whole process.

        The trace is None for a test that does not pass. If lines are watched, a second process of
        each test watches them; only the observer's report on them counts, and the trace is None if
        it does not confirm the pass. `shared` is not used.
        """
        traces: list[Trace | None] = []
        spent = 0.0
        for method in methods:
            if self._make_refusal_verdict(compiled, method) is not None:
                traces.append(None)
                continue
            trace, used = self._trace_method_with_cpu_seconds(compiled, method, files, conditions)
            spent += used
            if trace is not None and watched is not None:
                trace, used = self._observe_lines_with_cpu_seconds(
                    compiled, method, conditions, trace, watched
                )
                spent += used
            traces.append(trace)
        return TraceBatch(
            traces=tuple(traces),
            cpu_seconds=spent,
            together=unite_traces(traces) if together else None,
        )

    def _trace_method_with_cpu_seconds(
        self,
        compiled: CompiledTests,
        method: TestMethod,
        files: Collection[str],
        conditions: RunConditions,
    ) -> tuple[Trace | None, float]:
        variant = BinaryVariant(covered=f'{self._cells.find_module_import_path(compiled.key)}/...')
        plain = replace(conditions, observed=False)
        done = self._runs.run_methods(
            compiled, [method], plain, variant, files=tuple(sorted(files))
        )
        passed = _has_passed(done, method)
        return parse_trace(done.heard.executed, files) if passed else None, done.cpu_seconds

    def _observe_lines_with_cpu_seconds(
        self,
        compiled: CompiledTests,
        method: TestMethod,
        conditions: RunConditions,
        trace: Trace,
        watched: Mapping[str, Collection[int]],
    ) -> tuple[Trace | None, float]:
        """Run a test again under the observer; return its trace with the watched lines it reached.

        None instead of the trace if the pass is not confirmed. With it come the CPU seconds.
        """
        variant = BinaryVariant(stepped=f'{self._cells.find_module_import_path(compiled.key)}/...')
        seeing = replace(conditions, observed=True)
        done = self._runs.run_methods(compiled, [method], seeing, variant, lines=watched)
        seen = done.heard.seen
        doubt = explain_doubt(seen, make_test_key(method))
        if seen is None or doubt or not _has_passed(done, method):
            return None, done.cpu_seconds
        return replace(trace, reached=seen.reached), done.cpu_seconds

    def check_main_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[CheckedSource, ...]:
        """Compile variants of a Go file, each separately, and return a result for each, in order.

        If the compiler exceeds its limits, all variants get that signature. See
        `BuiltPair.check_main_sources`.
        """
        if not variants:
            return ()
        key = CellKey(tests_rev=code_rev, code_rev=code_rev, module=module)
        project = self._cells.find_project(key)
        order = {
            'Root': project.root_in_sandbox,
            'Folder': posixpath.dirname(path) or '.',
            'Path': path,
            'Flags': project.list_flags(module),
            'Variants': [base64.b64encode(variant).decode() for variant in variants],
        }
        cells = self._cells.all
        answer = cells.ask_compiler('check', cells.pack_tree(key, project), order)
        share = answer.cpu_seconds / len(variants)
        late = {'Signature': answer.result.get(LATE), 'Digest': None, 'Outside': None}
        rows: Sequence[Mapping[str, str | None]]
        rows = [late] * len(variants) if late['Signature'] else answer.result['Checked']
        return tuple(
            CheckedSource(
                signature=row['Signature'] or None,
                digest=row['Digest'] or None,
                outside=row['Outside'] or None,
                cpu_seconds=share,
            )
            for row in rows
        )

    def run_project(
        self,
        rev: str,
        module: str,
        reported_methods: Sequence[TestMethod],
        awaited: Sequence[TestMethod] = (),
    ) -> ProjectRun:
        """Run all tests of a package folder (`module`) once by `go test`, as its developers do.

        The result has the failure `runtime_missing` if no toolchain builds the pair.
        """
        if self.runs is None:
            return ProjectRun(outcomes={}, failure='runtime_missing')
        return run_go_test(self._cells, rev, module, reported_methods)

    def describe_environment(self, rev: str, module: str) -> Environment | None:
        """Return the toolchain, build command and libraries of a package folder (`module`).

        None if the revision was not prepared or has no such folder with tests.
        """
        if self.runs is None:
            return None
        end = self._cells.find_end(rev)
        if end.project is None or module not in end.build.modules:
            return None
        folder = end.project.find_module_folder(module)
        return Environment(
            runtime=end.build.runtime,
            build_tool=' '.join([end.build.builder or '', *end.project.list_flags(module)]),
            libraries=end.project.libraries.get(folder, ()),
        )

    @property
    def _runs(self) -> GoPairRuns:
        assert self.runs is not None, 'nothing is run of what could not be built'
        return self.runs

    @property
    def _cells(self) -> GoPairCells:
        return self._runs.cells

    def _make_refusal_verdict(self, compiled: CompiledTests, method: TestMethod) -> Verdict | None:
        """Return the verdict on a test that cannot be run; None if a compiled binary has it."""
        binary = self._cells.compile_binary(compiled.key)
        if binary.code:
            return Verdict(outcome=Outcome.UNBUILDABLE, signature=binary.code)
        if _is_file_left_out(binary, method):
            return _MISSING
        if binary.path is None and binary.all:
            return Verdict(outcome=Outcome.COMPILE_ERROR, signature=binary.all)
        return _MISSING if binary.path is None else None


def _has_passed(done: GoRunResult, method: TestMethod) -> bool:
    (verdict,) = make_verdicts(done.heard, [make_test_key(method)], done.status, done.noise)
    return verdict is not None and verdict.outcome is Outcome.PASS


def _is_file_left_out(binary: GoBinary, method: TestMethod) -> bool:
    """Return whether a test's file is absent or has build constraints that keep it out.

    False if the compiler did not list the files.
    """
    return binary.files is not None and posixpath.basename(method.test_file) not in binary.files


def _is_reversed(methods: Sequence[TestMethod]) -> bool:
    """Return whether several methods are in descending order of file and name.

    The order of candidates is ascending.
    """
    names = [(method.test_file, method.test_method) for method in methods]
    return len(names) > 1 and names == sorted(names, reverse=True)
