"""Both ends of a pair as one toolchain sees them: compiled, run, traced."""

from __future__ import annotations

import base64
import hashlib
import posixpath
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
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
from coevo.languages.golang.cells import GoBinary
from coevo.languages.golang.cells import GoCellKey
from coevo.languages.golang.cells import GoCells
from coevo.languages.golang.cells import Variant
from coevo.languages.golang.channel import verdicts
from coevo.languages.golang.clock import shift
from coevo.languages.golang.ends import GoEnd
from coevo.languages.golang.launch import OTHER_PROCESSORS
from coevo.languages.golang.launch import PROCESSORS
from coevo.languages.golang.observation import doubt
from coevo.languages.golang.projects import GoProject
from coevo.languages.golang.run_context import GoRunContext
from coevo.languages.golang.runner import Done
from coevo.languages.golang.runner import Ground
from coevo.languages.golang.runner import TestRun
from coevo.languages.golang.tracing import read_trace
from coevo.languages.observation import doubted
from coevo.languages.test_processes import LEAST_CPU_LIMIT
from coevo.languages.test_processes import SLOWER_THAN_PASSING
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

    cells    None where no toolchain knows the language of both ends
    slowest  CPU seconds of tests that have passed
    alone    how often a test was run alone in a cell without edits
    """

    pair: Pair
    ends: tuple[GoEnd, GoEnd]
    cells: GoCells | None
    context: GoRunContext
    slowest: dict[TestMethod, float] = field(default_factory=dict)
    alone: dict[tuple[GoCellKey, TestMethod], int] = field(default_factory=dict)

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
        cells, project = self._cells, self._project(key)
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
        own, other = self._end(code_rev).project, self._end(borrowed.rev).project
        return own is not None and other is not None and own.files != other.files

    def compile_verdict(self, compiled: Compiled, method: TestMethod) -> Verdict | None:
        found = self._binary(compiled)
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
        key = _key(compiled)
        made = self._cells.compiler.made
        parts = (
            str(header(compiled.code_rev).tree),
            str(header(compiled.tests_rev).tree),
            compiled.module,
            self._project(key).digest,
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
            done = self._run(compiled, batch, conditions)
            names = [method.test_method for method in batch]
            found = verdicts(done.heard, names, done.status, done.noise)
            self._note(batch, found)
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
        """One process for each: the coverage of a process is of all that ran in it."""
        traces: list[Trace | None] = []
        spent = 0.0
        key = _key(compiled)
        covered = f'{self._module_path(key)}/...'
        for method in methods:
            if self._refused(compiled, [method]) is not None:
                traces.append(None)
                continue
            wanted = tuple(sorted(files))
            done = self._run(compiled, [method], conditions, Variant(covered=covered), wanted)
            spent += done.cpu_seconds
            names = [method.test_method]
            (verdict,) = verdicts(done.heard, names, done.status, done.noise)
            passed = verdict is not None and verdict.outcome is Outcome.PASS
            traces.append(read_trace(done.heard.executed, files) if passed else None)
        return Traced(
            traces=tuple(traces),
            cpu_seconds=spent,
            together=union(traces) if together else None,
        )

    def check_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[Checked, ...]:
        if not variants:
            return ()
        key = GoCellKey(tests_rev=code_rev, code_rev=code_rev, module=module)
        project = self._project(key)
        order = {
            'Root': project.root,
            'Folder': posixpath.dirname(path) or '.',
            'Path': path,
            'Variants': [base64.b64encode(one).decode() for one in variants],
        }
        answer = self._cells.compiler.ask('check', self._cells.tree(key, project), order)
        share = answer.cpu_seconds / len(variants)
        rows: Sequence[Mapping[str, str]] = answer.told['Checked']
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
        end = self._end(rev)
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
    def _cells(self) -> GoCells:
        assert self.cells is not None, 'nothing is run of what could not be built'
        return self.cells

    def _end(self, rev: str) -> GoEnd:
        return next(end for end in self.ends if end.build.rev == rev)

    def _project(self, key: GoCellKey) -> GoProject:
        """That of the code, with the go.mod of another revision where it is borrowed."""
        own = self._end(key.code_rev).project
        assert own is not None, 'a revision is built before it is used'
        if key.borrowed is None or key.borrowed.scope is Scope.TEST_LIBRARIES:
            return own
        other = self._end(key.borrowed.rev).project
        return own if other is None else replace(own, files=other.files)

    def _module_path(self, key: GoCellKey) -> str:
        project = self._project(key)
        folder = project.module_of(key.module)
        return project.paths[folder]

    def _import_path(self, key: GoCellKey) -> str:
        """Of the package in a cell's folder."""
        below = posixpath.relpath(key.module, self._project(key).module_of(key.module))
        return posixpath.normpath(f'{self._module_path(key)}/{below}')

    def _binary(self, compiled: Compiled, variant: Variant | None = None) -> GoBinary:
        key = _key(compiled)
        return self._cells.binary(key, self._project(key), variant or Variant())

    # -- runs --------------------------------------------------------------------------------------

    def _refused(
        self, compiled: Compiled, methods: Sequence[TestMethod]
    ) -> tuple[Verdict, ...] | None:
        """What is said of all where there is nothing to run."""
        found = self._binary(compiled)
        if found.code:
            refused = Verdict(outcome=Outcome.UNBUILDABLE, signature=found.code)
            return (refused,) * len(methods)
        if found.place is None and found.all:
            broken = Verdict(outcome=Outcome.COMPILE_ERROR, signature=found.all)
            return (broken,) * len(methods)
        return (_MISSING,) * len(methods) if found.place is None else None

    def _run(
        self,
        compiled: Compiled,
        methods: Sequence[TestMethod],
        conditions: Conditions,
        variant: Variant | None = None,
        files: tuple[str, ...] | None = None,
    ) -> Done:
        key = _key(compiled)
        project = self._project(key)
        clock = shift(conditions.clock)
        found = self._binary(compiled, replace(variant or Variant(), clock=bool(clock)))
        assert found.place is not None, 'what does not compile is not run'
        run = TestRun(
            ground=Ground(
                made=self._cells.compiler.made,
                tree=self._cells.tree(key, project, conditions.sources),
                binary=(found.place, found.name),
                root=project.root,
                folder=compiled.module,
            ),
            limits={
                method.test_method: conditions.cpu_limit or self._limit(method)
                for method in methods
            },
            cpu_seconds=conditions.process_cpu_limit,
            variables={**clock, 'GOMAXPROCS': str(self._processors(key, methods))},
            files=files,
            watched=self._import_path(key) if conditions.observed else None,
        )
        may_share = key.edits is None and conditions.sources is None
        shared = (may_share or self.context.own_edits) and not conditions.observed
        return self._cells.run(run, shared=shared)

    def _processors(self, key: GoCellKey, methods: Sequence[TestMethod]) -> int:
        """Every other time that a test is run alone its runtime is told of another number of them.

        Not where anything is edited: what is handed in could tell by it in which run it is.
        """
        if len(methods) > 1 or key.edits is not None:
            return PROCESSORS
        count = self.alone.get((key, methods[0]), 0)
        self.alone[key, methods[0]] = count + 1
        return OTHER_PROCESSORS if count % 2 else PROCESSORS

    def _limit(self, method: TestMethod) -> float:
        return max(LEAST_CPU_LIMIT, SLOWER_THAN_PASSING * self.slowest.get(method, 0.0))

    def _note(self, methods: Sequence[TestMethod], told: Sequence[Verdict | None]) -> None:
        """How long those took that have passed."""
        for method, verdict in zip(methods, told, strict=True):
            if verdict is not None and verdict.outcome is Outcome.PASS:
                self.slowest[method] = max(self.slowest.get(method, 0.0), verdict.cpu_seconds)


def _is_reversed(methods: Sequence[TestMethod]) -> bool:
    """Whether the last comes first, by file and name, as candidates are ordered."""
    names = [(method.test_file, method.test_method) for method in methods]
    return len(names) > 1 and names == sorted(names, reverse=True)


def _key(compiled: Compiled) -> GoCellKey:
    return GoCellKey(
        tests_rev=compiled.tests_rev,
        code_rev=compiled.code_rev,
        module=compiled.module,
        borrowed=compiled.borrowed,
        edits=compiled.edits,
    )
