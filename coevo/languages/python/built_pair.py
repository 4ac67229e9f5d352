"""Both ends of a pair as one interpreter sees them: loaded, run, traced."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
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
from coevo.languages.observation import doubted
from coevo.languages.python.built import BuiltEnd
from coevo.languages.python.built import PythonModule
from coevo.languages.python.built import nearest
from coevo.languages.python.c_libraries import OBSERVER
from coevo.languages.python.cell import PythonCell
from coevo.languages.python.cell import PythonCellKey
from coevo.languages.python.cells import PythonCells
from coevo.languages.python.checking import check
from coevo.languages.python.environments import packages
from coevo.languages.python.events import HeardTarget
from coevo.languages.python.events import verdicts
from coevo.languages.python.names import target
from coevo.languages.python.reading.places import module_name
from coevo.languages.python.reading.source_text import source_text
from coevo.languages.python.reading.statement_lines import with_first_lines
from coevo.languages.python.requirements.stated import Needs
from coevo.languages.python.resolution import Unresolved
from coevo.languages.python.run_context import PythonRunContext
from coevo.languages.python.runner import Done
from coevo.languages.python.tracing import read_together
from coevo.languages.python.tracing import read_trace
from coevo.languages.test_processes import LEAST_CPU_LIMIT
from coevo.languages.test_processes import SLOWER_THAN_PASSING
from coevo.languages.traces import Trace
from coevo.languages.traces import Traced
from coevo.languages.traces import reached_by_any
from coevo.languages.verdicts import NO_CLOCK
from coevo.languages.verdicts import UNOBSERVED
from coevo.languages.verdicts import Batch
from coevo.languages.verdicts import Verdict
from coevo.model.environments import Environment
from coevo.model.environments import LibraryEntry
from coevo.model.records import Pair
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

_MISSING = Verdict(outcome=Outcome.MISSING)

# Those of the engine's first run of a cell.
_FIRST = Conditions(together=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonBuiltPair:
    """Fulfils `coevo.languages.engine.BuiltPair`.

    ends     by revision
    cells    of this pair alone
    slowest  CPU seconds of tests that have passed
    others   gives both ends as the next interpreter makes them ready
    """

    pair: Pair
    old: Build
    new: Build
    ends: Mapping[str, BuiltEnd]
    context: PythonRunContext
    cells: PythonCells
    slowest: dict[TestMethod, float] = field(default_factory=dict)
    others: Callable[[], PythonBuiltPair | None] = lambda: None

    mutate = staticmethod(not_offered(Capability.MUTATE))

    def otherwise(self) -> PythonBuiltPair | None:
        return self.others()

    def compile(
        self,
        tests_rev: str,
        code_rev: str,
        module: str,
        borrowed: BorrowedSettings | None = None,
        edits: Edits | None = None,
        methods: Sequence[TestMethod] | None = None,
    ) -> Compiled:
        failure, spent = None, 0.0
        sources = [(p, c) for p, c in edits.code if c and p.endswith('.py')] if edits else []
        if sources and edits is not None:
            found = self._check(code_rev, module, sources)
            failure = next((one.signature for one in found if one.signature), None)
            spent = sum(one.cpu_seconds for one in found)
        compiled = Compiled(
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
            return compiled  # what of an edited cell does not load says so when it is run
        cell = self._cell(compiled)
        files = None if methods is None else self._files_of(cell, methods)
        if files and cell.loaded.keys().isdisjoint(files):
            spent += self._begin(compiled, methods or (), files)
        spent += self.cells.load_all(cell, files)
        broken = cell.broken if files is None else cell.broken.intersection(files)
        return replace(
            compiled,
            unit_ok=not broken,
            cpu_seconds=spent,
            broken=tuple(sorted(broken)),
            torn=tuple(sorted(broken)),
        )

    def check_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[Checked, ...]:
        return self._check(code_rev, module, [(path, text) for text in variants])

    def differs(self, code_rev: str, module: str, borrowed: BorrowedSettings) -> bool:
        own, other = self._module(code_rev, module), self._module(borrowed.rev, module)
        if own is None or other is None:
            return False
        borrower = self._with_borrowed(own, other, borrowed.scope)
        return borrower is not None and (borrower.installed.site, borrower.options) != (
            own.installed.site,
            own.options,
        )

    def compile_verdict(self, compiled: Compiled, method: TestMethod) -> Verdict | None:
        cell, file = self._cell(compiled), method.test_file
        if not cell.has(file):
            return None  # it will be missing
        if compiled.edits is None:
            self.cells.load_all(cell, [file])
        verdict = cell.loaded.get(file)
        missing = cell.absent.get(target(method)) if file in cell.stood_in else None
        if verdict is None and missing is not None:
            return Verdict(outcome=Outcome.COMPILE_ERROR, signature=f'missing:{missing}')
        return verdict

    def shadowing(self, compiled: Compiled) -> frozenset[str]:
        return frozenset()

    def content(self, compiled: Compiled) -> str | None:
        cell = self._cell(compiled)
        repository = self.context.repository
        revs = (compiled.code_rev, compiled.tests_rev)
        parts = (
            *(str(repository.header(rev).tree) for rev in revs),
            repr(replace(cell.module.needs, pins=())),  # what they lead to is in `locked`
            repr((cell.module.folder, cell.module.roots, cell.module.options, cell.module.written)),
            *(f'{path} {hashlib.sha256(made).hexdigest()}' for path, made in cell.module.compiled),
            cell.module.installed.locked,
            cell.module.installed.interpreter.version,
            self.context.digest,
            self.context.sandbox.name,
            repr(compiled.borrowed),
            repr(compiled.edits),
        )
        return hashlib.sha256('\0'.join(parts).encode(errors='surrogateescape')).hexdigest()

    def run(
        self, compiled: Compiled, methods: Sequence[TestMethod], conditions: Conditions = PLAIN
    ) -> Batch:
        if not methods:
            return Batch(verdicts=(), cpu_seconds=0.0)
        cell = self._cell(compiled)
        if conditions.clock is not None and self._clock(cell, conditions) is None:
            unknown = Verdict(outcome=Outcome.INFRA, signature=NO_CLOCK)
            return Batch(verdicts=(unknown,) * len(methods), cpu_seconds=0.0)
        files = [method.test_file for method in methods]
        if not any(cell.has(file) for file in files):  # pytest would run all others
            return Batch(verdicts=(_MISSING,) * len(methods), cpu_seconds=0.0)
        observed = conditions.observed and self.context.has_library(OBSERVER)
        watched: dict[str, int] | None = {} if observed else None
        done = self._begun(cell, methods, conditions)
        if done is None:
            done = self._run(compiled, methods, conditions, 'run', watched=watched)
        spent = done.cpu_seconds
        loads_now, used = self._loads_now(cell, done)
        spent += used
        if loads_now:
            done = self._run(compiled, methods, conditions, 'run', watched=watched)
            spent += done.cpu_seconds
        found = [*verdicts(done.heard, files, done.status, done.noise)]
        told = [self._told(cell, *one) for one in zip(methods, found, strict=True)]
        if conditions.observed:
            seen = done.heard.seen
            told = [
                doubted(verdict, UNOBSERVED if seen is None else seen.disagreement(i))
                for i, verdict in enumerate(told)
            ]
        return Batch(verdicts=tuple(told), cpu_seconds=spent, output=done.noise)

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
        """Watched lines are seen in a process of their own, where nobody else traces."""
        traces: list[Trace | None] = []
        heard: list[HeardTarget] = []
        spent = 0.0
        edited = compiled.edits.tests if compiled.edits else ()
        theirs = self.context.trees.tests(compiled.tests_rev) | {path for path, _ in edited}
        for batch in [methods] if shared else [[method] for method in methods]:
            loads = together and not any(traces)  # the same for all that pass
            done = self._run(
                compiled, batch, conditions, 'trace', traced=sorted(files), loads=loads
            )
            spent += done.cpu_seconds
            found = [read_trace(one, files, theirs) for one in done.heard.targets]
            if watched is not None:
                found, used = self._reaching(compiled, batch, conditions, found, watched)
                spent += used
            traces += found
            heard += done.heard.targets
        whole = None
        if together:
            known = [one for one, trace in zip(heard, traces, strict=True) if trace is not None]
            whole = read_together(known, files, theirs)
        return Traced(
            traces=tuple(traces),
            cpu_seconds=spent,
            together=whole and replace(whole, reached=reached_by_any(traces)),
        )

    def _reaching(
        self,
        compiled: Compiled,
        methods: Sequence[TestMethod],
        conditions: Conditions,
        traces: Sequence[Trace | None],
        watched: Mapping[str, Collection[int]],
    ) -> tuple[list[Trace | None], float]:
        """Traces with the watched lines that were seen reached; None of what was not seen to pass."""
        if not self.context.has_library(OBSERVER):
            return [None] * len(methods), 0.0
        cell = self._cell(compiled)
        counts = cell.line_counts(watched.keys())
        done = self._run(compiled, methods, conditions, 'run', watched=counts)
        seen, found = done.heard.seen, list[Trace | None]()
        for place, (trace, heard) in enumerate(zip(traces, done.heard.targets, strict=True)):
            passed = heard.ended and all(one.outcome is Outcome.PASS for one in heard.tests)
            if trace is None or seen is None or not passed or seen.disagreement(place):
                found.append(None)
            else:
                lines = self._statements(cell, seen.reached, trace.lines)
                found.append(replace(trace, reached=_reached(lines, watched)))
        return found, done.cpu_seconds

    def _statements(
        self,
        cell: PythonCell,
        reached: Mapping[str, frozenset[int]],
        counted: Collection[str],
    ) -> dict[str, frozenset[int]]:
        """Reached lines; of files in which statements are counted, with the first of each statement."""
        return {
            path: with_first_lines(lines, cell.text(path)) if path in counted else lines
            for path, lines in reached.items()
        }

    def environment(self, rev: str, module: str) -> Environment | None:
        found = self._module(rev, module)
        if found is None:
            return None
        return Environment(
            runtime=found.installed.interpreter.version,
            build_tool='uv',
            libraries=tuple(
                LibraryEntry(coordinates=name, sha256=digest)
                for name, digest in packages(found.installed.locked)
            ),
        )

    # -- cells -------------------------------------------------------------------------------------

    def _module(self, rev: str, module: str) -> PythonModule | None:
        """The module itself, or the one around the folder of a project that is none."""
        end = self.ends.get(rev)
        if end is None or end.build.modules.get(module, 'none') is not None:
            return None
        own = nearest(module, end.modules)
        return end.modules[own] if own is not None else None

    def _cell(self, compiled: Compiled) -> PythonCell:
        own = self._module(compiled.code_rev, compiled.module)
        assert own is not None, 'a module is built before it is used'
        if compiled.borrowed is not None:
            other = self._module(compiled.borrowed.rev, compiled.module)
            own = (
                self._with_borrowed(own, other, compiled.borrowed.scope) if other else None
            ) or own
        key = PythonCellKey(
            tests_rev=compiled.tests_rev,
            code_rev=compiled.code_rev,
            module=compiled.module,
            borrowed=compiled.borrowed,
            edits=compiled.edits,
        )
        return self.cells.get(key, own)

    def _with_borrowed(
        self, own: PythonModule, other: PythonModule, scope: Scope
    ) -> PythonModule | None:
        """A module with what it borrows; None where that cannot be had."""
        if scope is Scope.ALL_SETTINGS:
            return replace(own, installed=other.installed, options=other.options)
        needs = Needs(runtime=own.needs.runtime, tests=other.needs.tests, pins=own.needs.pins)
        found = self.context.environment(
            needs, own.installed.interpreter, self.pair.new.committer_date
        )
        return None if isinstance(found, Unresolved) else replace(own, installed=found)

    def _check(
        self, code_rev: str, module: str, sources: Sequence[tuple[str, bytes]]
    ) -> tuple[Checked, ...]:
        own = self._module(code_rev, module)
        assert own is not None, 'a module is built before it is used'
        return check(self.context, own.installed, sources)

    # -- runs --------------------------------------------------------------------------------------

    def _begin(
        self, compiled: Compiled, methods: Sequence[TestMethod], files: Sequence[str]
    ) -> float:
        """Run methods in the order in which they will be run first, with all that their files have
        collected: if a test begins, all files load, and no process is needed to find out. CPU seconds
        of what is of no use to that run.
        """
        cell = self._cell(compiled)
        done = self._run(compiled, methods, _FIRST, 'run', files=files, whole=True)
        said = done.heard.files
        errors = {p: why for p, why in said.items() if why.outcome is Outcome.COMPILE_ERROR}
        if not errors and any(target.begun for target in done.heard.targets):
            cell.loaded |= dict.fromkeys(files)
            cell.begun = tuple(methods), done
            return 0.0
        spent = done.cpu_seconds
        if done.heard.loaded and errors.keys() <= set(files):  # what was said of each is its own
            spent += self.cells.settle(cell, {path: errors.get(path) for path in files})
        return spent

    def _begun(
        self, cell: PythonCell, methods: Sequence[TestMethod], conditions: Conditions
    ) -> Done | None:
        """The run that a cell began with, if it is asked for: once, since each run is one of its own."""
        if cell.begun is None or conditions != _FIRST or cell.begun[0] != tuple(methods):
            return None
        done, cell.begun = cell.begun[1], None
        return done

    def _run(
        self,
        compiled: Compiled,
        methods: Sequence[TestMethod],
        conditions: Conditions,
        mode: str,
        *,
        traced: Sequence[str] = (),
        watched: Mapping[str, int] | None = None,
        loads: bool = False,
        files: Sequence[str] | None = None,
        whole: bool = False,
    ) -> Done:
        cell = self._cell(compiled)
        clock = self._clock(cell, conditions)
        files = self._files(cell, methods) if files is None else files
        self.cells.expect(cell, files)
        request: dict[str, object] = {
            'mode': mode,
            'targets': [target(method) for method in methods],
            'files': self.cells.files(cell, files),
            'absent': self.cells.absent(cell, files),
            'whole': whole,
            'traced': {path: source_text(cell.text(path)) for path in traced},
        }
        if traced:
            request['coverage'] = self.context.coverage(cell.module.installed.interpreter)
            request['loads'] = loads
        return self.cells.ask(
            cell,
            request,
            [conditions.cpu_limit or self._limit(method) for method in methods],
            alone=len(methods) == 1 and not conditions.together,
            cpu_seconds=conditions.process_cpu_limit,
            watched=watched,
            sources=conditions.sources,
            clock=clock,
        )

    def _clock(self, cell: PythonCell, conditions: Conditions) -> Mapping[str, str] | None:
        """None where it is not asked for, or cannot be set."""
        if conditions.clock is None:
            return None
        return self.context.clock(cell.module.installed, conditions.clock)

    def _files(self, cell: PythonCell, methods: Sequence[TestMethod]) -> list[str]:
        """Files to collect: those of the methods, be they as they may, and others that load."""
        files, own = self._files_of(cell, methods), {method.test_file for method in methods}
        others = [path for path in files if path not in own]
        if others:
            self.cells.load_all(cell, others)
        return [path for path in files if path in own or cell.loaded[path] is None]

    def _files_of(self, cell: PythonCell, methods: Sequence[TestMethod]) -> list[str]:
        """Files to collect, in the order of the methods: their own, and where subclasses may be."""
        found: dict[str, None] = {}
        for method in methods:
            _, owner, _ = target(method)
            if cell.has(method.test_file):
                found[method.test_file] = None
            if owner:
                found |= dict.fromkeys(cell.mentioning(method.test_file, owner))
        return list(found)

    def _loads_now(self, cell: PythonCell, done: Done) -> tuple[bool, float]:
        """Whether a file that did not load now does with stand-ins; CPU seconds to find out.

        In cells of edited code nobody asked before which files load.
        """
        spent, before = 0.0, len(cell.stood_in)
        for path, why in done.heard.files.items():
            asked = path in cell.loaded or not cell.has(path)
            if why.outcome is Outcome.COMPILE_ERROR and not asked:
                spent += self.cells.load_all(cell, [path])
        return len(cell.stood_in) > before, spent

    def _limit(self, method: TestMethod) -> float:
        return max(LEAST_CPU_LIMIT, SLOWER_THAN_PASSING * self.slowest.get(method, 0.0))

    def _told(
        self, cell: PythonCell, method: TestMethod, verdict: Verdict | None
    ) -> Verdict | None:
        """A verdict with what the process could not know."""
        if verdict is None:
            return None
        if verdict.outcome is Outcome.PASS:
            slowest = max(self.slowest.get(method, 0.0), verdict.cpu_seconds)
            self.slowest[method] = slowest
            return verdict
        hidden = method.test_file in cell.stood_in and cell.declares(method)
        if verdict.outcome is Outcome.MISSING and hidden:
            return replace(verdict, outcome=Outcome.COMPILE_ERROR, signature='missing:declaration')
        return verdict


def _reached(
    reached: Mapping[str, frozenset[int]], watched: Mapping[str, Collection[int]]
) -> dict[str, frozenset[int]]:
    """The watched lines that were reached, by module."""
    found = {name: frozenset[int]() for name in watched}
    for path, lines in reached.items():
        name = module_name(path)
        found[name] |= lines.intersection(watched[name])
    return found
