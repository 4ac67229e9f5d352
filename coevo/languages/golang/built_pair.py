"""Both ends of a pair as one toolchain sees them: compiled, run, traced."""

from __future__ import annotations

import base64
import hashlib
import posixpath
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from coevo.languages.builds import Build
from coevo.languages.capabilities import Capability
from coevo.languages.capabilities import not_offered
from coevo.languages.cells import BorrowedSettings
from coevo.languages.cells import Checked
from coevo.languages.cells import Compiled
from coevo.languages.cells import Edits
from coevo.languages.cells import Scope
from coevo.languages.conditions import PLAIN
from coevo.languages.conditions import Conditions
from coevo.languages.golang.cells import GoCellKey
from coevo.languages.golang.cells import Variant
from coevo.languages.golang.channel import verdicts
from coevo.languages.golang.compiler import LATE
from coevo.languages.golang.ends import GoEnd
from coevo.languages.golang.observation import doubt
from coevo.languages.golang.pair_cells import GoPairCells
from coevo.languages.golang.pair_cells import key_of
from coevo.languages.golang.pair_runs import GoPairRuns
from coevo.languages.golang.run_context import GoRunContext
from coevo.languages.golang.runner import Done
from coevo.languages.golang.tracing import read_trace
from coevo.languages.observation import doubted
from coevo.languages.traces import Trace
from coevo.languages.traces import Traced
from coevo.languages.traces import union
from coevo.languages.verdicts import Batch
from coevo.languages.verdicts import Verdict
from coevo.model.environments import Environment
from coevo.model.records import Pair
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

_MISSING = Verdict(outcome=Outcome.MISSING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoBuiltPair:
    """Fulfils `coevo.languages.engine.BuiltPair`.

    runs  None where no toolchain knows the language of both ends
    """

    pair: Pair
    ends: tuple[GoEnd, GoEnd]
    context: GoRunContext
    runs: GoPairRuns | None = None

    mutate = staticmethod(not_offered(Capability.MUTATE))

    @property
    def old(self) -> Build:
        return self.ends[0].build

    @property
    def new(self) -> Build:
        return self.ends[1].build

    def otherwise(self) -> None:
        return None

    def compile(
        self,
        tests_rev: str,
        code_rev: str,
        module: str,
        borrowed: BorrowedSettings | None = None,
        edits: Edits | None = None,
        methods: Sequence[TestMethod] | None = None,
    ) -> Compiled:
        key = GoCellKey(
            tests_rev=tests_rev, code_rev=code_rev, module=module, borrowed=borrowed, edits=edits
        )
        cells, project = self._cells.all, self._cells.project(key)
        fresh = not cells.knows(key, project)
        found = cells.binary(key, project, Variant())
        return Compiled(
            tests_rev=tests_rev,
            code_rev=code_rev,
            module=module,
            unit_ok=found.whole,
            cpu_seconds=found.cpu_seconds if fresh else 0.0,
            borrowed=borrowed,
            edits=edits,
            code_failure=found.code or None,
            broken=('*',) if found.all else tuple(sorted((*found.broken, *found.torn))),
        )

    def differs(self, code_rev: str, module: str, borrowed: BorrowedSettings) -> bool:
        """A module has one set of libraries, of its code and its tests."""
        if borrowed.scope is Scope.TEST_LIBRARIES:
            return False
        own, other = (self._cells.end(rev).project for rev in (code_rev, borrowed.rev))
        return own is not None and other is not None and own.files != other.files

    def compile_verdict(self, compiled: Compiled, method: TestMethod) -> Verdict | None:
        found = self._cells.binary(key_of(compiled))
        if found.code:
            return Verdict(outcome=Outcome.UNBUILDABLE, signature=found.code)
        torn = found.torn.get(method.test_file)
        name = f'{method.test_file}#{method.test_method}'
        signature = found.all or torn or found.broken.get(name)
        if not signature:
            return None
        return Verdict(
            outcome=Outcome.COMPILE_ERROR, signature=signature, message=signature, syntax=bool(torn)
        )

    def shadowing(self, compiled: Compiled) -> frozenset[str]:
        """A name that tests and code declare alike does not compile."""
        return frozenset()

    def content(self, compiled: Compiled) -> str | None:
        """Of whole trees: a test may read any file that is laid out beside it."""
        header = self.context.repository.header
        key = key_of(compiled)
        made = self._cells.all.compiler.made
        parts = (
            str(header(compiled.code_rev).tree),
            str(header(compiled.tests_rev).tree),
            compiled.module,
            self._cells.project(key).digest,
            made.toolchain.version,
            made.digest,
            repr(compiled.edits),
            self.context.sandbox.name,
        )
        return hashlib.sha256('\0'.join(parts).encode(errors='surrogateescape')).hexdigest()

    def run(
        self, compiled: Compiled, methods: Sequence[TestMethod], conditions: Conditions = PLAIN
    ) -> Batch:
        """In one process, which runs them in the order of their files; each in its own where they are asked
        for in reversed order, in which no test binary runs them."""
        if not methods:
            return Batch(verdicts=(), cpu_seconds=0.0)
        refused = self._refused(compiled, methods)
        if refused is not None:
            return Batch(verdicts=refused, cpu_seconds=0.0)
        batches = [[one] for one in methods] if _is_reversed(methods) else [methods]
        told: list[Verdict | None] = []
        spent, output = 0.0, ''
        for batch in batches:
            done = self._runs.run(compiled, batch, conditions)
            names = [method.test_method for method in batch]
            found = verdicts(done.heard, names, done.status, done.noise)
            self._runs.note(batch, found)
            if conditions.observed:
                found = [
                    doubted(verdict, doubt(done.heard.seen, name))
                    for name, verdict in zip(names, found, strict=True)
                ]
            told += found
            spent += done.cpu_seconds
            output += done.noise
        return Batch(verdicts=tuple(told), cpu_seconds=spent, output=output)

    def trace(
        self,
        compiled: Compiled,
        methods: Sequence[TestMethod],
        files: Collection[str],
        conditions: Conditions = PLAIN,
        *,
        shared: bool = False,
        watched: Mapping[str, Collection[int]] | None = None,
        together: bool = False,
    ) -> Traced:
        """One process for each: the coverage of a process is of all that ran in it. Watched lines are seen in
        another one, which tells nothing by itself."""
        traces: list[Trace | None] = []
        spent = 0.0
        for method in methods:
            if self._refused(compiled, [method]) is not None:
                traces.append(None)
                continue
            trace, used = self._trace(compiled, method, files, conditions)
            spent += used
            if trace is not None and watched is not None:
                trace, used = self._reaching(compiled, method, conditions, trace, watched)
                spent += used
            traces.append(trace)
        return Traced(
            traces=tuple(traces),
            cpu_seconds=spent,
            together=union(traces) if together else None,
        )

    def _trace(
        self,
        compiled: Compiled,
        method: TestMethod,
        files: Collection[str],
        conditions: Conditions,
    ) -> tuple[Trace | None, float]:
        variant = Variant(covered=f'{self._cells.module_path(key_of(compiled))}/...')
        plain = replace(conditions, observed=False)
        done = self._runs.run(compiled, [method], plain, variant, files=tuple(sorted(files)))
        passed = _has_passed(done, method)
        return read_trace(done.heard.executed, files) if passed else None, done.cpu_seconds

    def _reaching(
        self,
        compiled: Compiled,
        method: TestMethod,
        conditions: Conditions,
        trace: Trace,
        watched: Mapping[str, Collection[int]],
    ) -> tuple[Trace | None, float]:
        """With the lines that were seen reached; None of a pass that was not seen."""
        variant = Variant(stepped=f'{self._cells.module_path(key_of(compiled))}/...')
        seeing = replace(conditions, observed=True)
        done = self._runs.run(compiled, [method], seeing, variant, lines=watched)
        seen = done.heard.seen
        if seen is None or not _has_passed(done, method) or doubt(seen, method.test_method):
            return None, done.cpu_seconds
        return replace(trace, reached=seen.reached), done.cpu_seconds

    def check_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[Checked, ...]:
        if not variants:
            return ()
        key = GoCellKey(tests_rev=code_rev, code_rev=code_rev, module=module)
        project = self._cells.project(key)
        order = {
            'Root': project.root,
            'Folder': posixpath.dirname(path) or '.',
            'Path': path,
            'Variants': [base64.b64encode(one).decode() for one in variants],
        }
        answer = self._cells.all.compiler.ask('check', self._cells.all.tree(key, project), order)
        share = answer.cpu_seconds / len(variants)
        late = {'Signature': answer.told.get(LATE), 'Digest': None, 'Outside': None}
        rows: Sequence[Mapping[str, str | None]]
        rows = [late] * len(variants) if late['Signature'] else answer.told['Checked']
        return tuple(
            Checked(
                signature=row['Signature'] or None,
                digest=row['Digest'] or None,
                outside=row['Outside'] or None,
                cpu_seconds=share,
            )
            for row in rows
        )

    def environment(self, rev: str, module: str) -> Environment | None:
        if self.runs is None:
            return None
        end = self._cells.end(rev)
        if end.project is None or module not in end.build.modules:
            return None
        folder = end.project.module_of(module)
        return Environment(
            runtime=end.build.runtime,
            build_tool=end.build.builder,
            libraries=end.project.libraries.get(folder, ()),
        )

    # -- cells -------------------------------------------------------------------------------------

    @property
    def _runs(self) -> GoPairRuns:
        assert self.runs is not None, 'nothing is run of what could not be built'
        return self.runs

    @property
    def _cells(self) -> GoPairCells:
        return self._runs.cells

    def _refused(
        self, compiled: Compiled, methods: Sequence[TestMethod]
    ) -> tuple[Verdict, ...] | None:
        """What is said of all where there is nothing to run."""
        found = self._cells.binary(key_of(compiled))
        if found.code:
            refused = Verdict(outcome=Outcome.UNBUILDABLE, signature=found.code)
            return (refused,) * len(methods)
        if found.place is None and found.all:
            broken = Verdict(outcome=Outcome.COMPILE_ERROR, signature=found.all)
            return (broken,) * len(methods)
        return (_MISSING,) * len(methods) if found.place is None else None


def _has_passed(done: Done, method: TestMethod) -> bool:
    (verdict,) = verdicts(done.heard, [method.test_method], done.status, done.noise)
    return verdict is not None and verdict.outcome is Outcome.PASS


def _is_reversed(methods: Sequence[TestMethod]) -> bool:
    """Whether the last comes first, by file and name, as candidates are ordered."""
    names = [(method.test_file, method.test_method) for method in methods]
    return len(names) > 1 and names == sorted(names, reverse=True)
