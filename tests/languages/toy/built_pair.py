"""Both ends of a pair, read: linked, compared, run."""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import ceil
from pathlib import Path

from coevo.languages.builds import Build
from coevo.languages.capabilities import Capability, make_refusal
from coevo.languages.cells import (
    BorrowedSettings,
    CellEdits,
    CellKey,
    CheckedSource,
    CompiledTests,
    SettingsScope,
)
from coevo.languages.conditions import PLAIN, RunConditions
from coevo.languages.declarations import SourceFile
from coevo.languages.traces import TraceBatch, unite_traces
from coevo.languages.verdicts import Verdict, VerdictBatch
from coevo.model.environments import Environment
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Outcome
from coevo.sandboxes import libfaketime
from coevo.sandboxes.sandbox import Job, Mount
from tests.languages.toy import builds
from tests.languages.toy.builds import Builds
from tests.languages.toy.process import run_programs
from tests.languages.toy.programs import Linked, link
from tests.languages.toy.syntax import parse
from tests.languages.toy.tracing import traces_of
from tests.languages.toy.trees import SUFFIX, open_tree

# Wall seconds for a test where nobody says how many CPU seconds; they wait, they do not spin.
SECONDS = 3.0

Texts = dict[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    compiled: CompiledTests
    linked: Linked
    code_failure: Mapping[str, str]  # by path: the line that cannot be read


Cells = dict[CellKey, _Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyBuiltPair:
    """Fulfils `coevo.languages.engine.BuiltPair`, as far as the language offers it.

    cells  of all pairs of the thread
    """

    pair: Pair
    old: Build
    new: Build
    builds: Builds
    cells: Cells

    mutate = staticmethod(make_refusal(Capability.MUTATE))

    def build_with_other_runtime(self) -> None:
        """There is one runtime."""

    def compile(
        self,
        tests_rev: str,
        code_rev: str,
        module: str,
        borrowed: BorrowedSettings | None = None,
        edits: CellEdits | None = None,
        methods: Sequence[TestMethod] | None = None,
    ) -> CompiledTests:
        key = CellKey(
            tests_rev=tests_rev, code_rev=code_rev, module=module, borrowed=borrowed, edits=edits
        )
        if key not in self.cells:
            self.cells[key] = self._linked(tests_rev, code_rev, module, borrowed, edits)
        return self.cells[key].compiled

    def do_settings_differ(self, code_rev: str, module: str, borrowed: BorrowedSettings) -> bool:
        return self._settings(code_rev, module, borrowed) != self._settings(code_rev, module, None)

    def find_compile_verdict(self, compiled: CompiledTests, method: TestMethod) -> Verdict | None:
        if compiled.code_failure is not None:
            return Verdict(outcome=Outcome.UNBUILDABLE, signature=compiled.code_failure)
        wrong = self._of(compiled).linked.wrong.get((method.test_class, method.test_method))
        if wrong is None:
            return None
        return Verdict(
            outcome=Outcome.COMPILE_ERROR, signature=wrong.signature, syntax=wrong.syntax
        )

    def find_shadowing_classes(self, compiled: CompiledTests) -> frozenset[str]:
        """Types of the module's tests that have the names of types of the code."""
        edits = dict(compiled.edits.tests) if compiled.edits else {}
        tests = self._texts(self.builds.built(compiled.tests_rev).tests, edits)
        own = {type_.name for text in tests.values() for type_ in parse(text).types}
        code = self._code(compiled).values()
        return frozenset(own & {type_.name for file in code for type_ in file.types})

    def digest_content(self, compiled: CompiledTests) -> str | None:
        """Of whole trees: a test may read any file that is laid out beside it."""
        header = self.builds.repository.header
        parts = (
            str(header(compiled.code_rev).tree),
            str(header(compiled.tests_rev).tree),
            compiled.module,
            repr(self._settings(compiled.code_rev, compiled.module, compiled.borrowed)),
            repr(compiled.edits),
            self.builds.sandbox.name,
        )
        return hashlib.sha256('\0'.join(parts).encode(errors='surrogateescape')).hexdigest()

    def run(
        self,
        compiled: CompiledTests,
        methods: Sequence[TestMethod],
        conditions: RunConditions = PLAIN,
    ) -> VerdictBatch:
        """A method that was not linked is missing; no process is asked."""
        if compiled.code_failure is not None:
            refused = Verdict(outcome=Outcome.UNBUILDABLE, signature=compiled.code_failure)
            return VerdictBatch(verdicts=(refused,) * len(methods), cpu_seconds=0.0)
        programs = self._of(compiled).linked.programs
        keys = [(method.test_class, method.test_method) for method in methods]
        chosen = [place for place, key in enumerate(keys) if key in programs]
        verdicts: list[Verdict | None] = [Verdict(outcome=Outcome.MISSING)] * len(methods)
        if not chosen:
            return VerdictBatch(verdicts=tuple(verdicts), cpu_seconds=0.0)
        clock = _clock(conditions.clock)
        if clock is None:
            unknown = Verdict(outcome=Outcome.INFRA, signature='no_clock')
            return VerdictBatch(verdicts=(unknown,) * len(methods), cpu_seconds=0.0)
        seconds = SECONDS if conditions.cpu_limit is None else conditions.cpu_limit
        with self._laid_out(compiled) as mounts:
            job = self._job(compiled, mounts, clock, conditions.process_cpu_limit)
            batch = run_programs(
                self.builds.sandbox, job, [programs[keys[place]] for place in chosen], seconds
            )
        for place, verdict in zip(chosen, batch.verdicts, strict=True):
            verdicts[place] = verdict
        return replace(batch, verdicts=tuple(verdicts))

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
        """A test that passes has taken all of its steps, and asked for all that they name."""
        batch = self.run(compiled, methods, conditions)
        code = self._code(compiled)
        asked = self._of(compiled).linked.asked
        traces = [
            traces_of(code, asked[method.test_class, method.test_method], files)
            if verdict is not None and verdict.outcome is Outcome.PASS
            else None
            for method, verdict in zip(methods, batch.verdicts, strict=True)
        ]
        return TraceBatch(
            traces=tuple(traces),
            cpu_seconds=batch.cpu_seconds,
            together=unite_traces(traces) if together else None,
        )

    def check_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[CheckedSource, ...]:
        """A line that cannot be read does not compile; comments are no part of a program."""
        found = [parse(text) for text in variants]
        return tuple(
            CheckedSource(
                signature=f'unreadable {path}' if file.has_error else None,
                digest=None if file.has_error else file.hash,
                outside=str(sorted(member.name for t in file.types for member in t.members)),
            )
            for file in found
        )

    def _code(self, compiled: CompiledTests) -> dict[str, SourceFile]:
        edits = dict(compiled.edits.code) if compiled.edits else {}
        texts = self._texts(self.builds.built(compiled.code_rev).code, edits)
        return {path: parse(text) for path, text in texts.items()}

    def describe_environment(self, rev: str, module: str) -> Environment | None:
        if module not in self.builds.built(rev).build.modules:
            return None
        return Environment(runtime='sh', build_tool='sh', libraries=())

    def _of(self, compiled: CompiledTests) -> _Cell:
        return self.cells[compiled.key]

    def _linked(
        self,
        tests_rev: str,
        code_rev: str,
        module: str,
        borrowed: BorrowedSettings | None,
        edits: CellEdits | None,
    ) -> _Cell:
        tests = self._texts(self.builds.built(tests_rev).tests, dict(edits.tests) if edits else {})
        code = self._texts(self.builds.built(code_rev).code, dict(edits.code) if edits else {})
        failures = {
            path: f'unreadable {path}'
            for path, _ in (edits.code if edits else ())
            if path in code and parse(code[path]).has_error
        }
        own = [
            parse(text) for path, text in tests.items() if self._module(tests_rev, path) == module
        ]
        linked = link(
            own,
            [parse(text) for text in code.values()],
            self._settings(code_rev, module, borrowed),
        )
        broken = sorted(f'{type_}#{name}' for type_, name in linked.wrong)
        compiled = CompiledTests(
            tests_rev=tests_rev,
            code_rev=code_rev,
            module=module,
            unit_ok=not broken and not failures and not any(file.has_error for file in own),
            borrowed=borrowed,
            edits=edits,
            code_failure=next(iter(failures.values()), None),
            broken=tuple(broken),
        )
        return _Cell(compiled=compiled, linked=linked, code_failure=failures)

    @staticmethod
    def _texts(folder: Path, edits: Mapping[str, bytes | None]) -> Texts:
        """The toy files of one side by repository path, sorted."""
        found: dict[str, bytes | None] = {
            str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob(f'*{SUFFIX}')
        }
        found |= {path: text for path, text in edits.items() if path.endswith(SUFFIX)}
        return {path: text for path, text in sorted(found.items()) if text is not None}

    def _module(self, rev: str, path: str) -> str:
        return open_tree(self.builds.repository, rev).find_module(path)

    def _settings(
        self, code_rev: str, module: str, borrowed: BorrowedSettings | None
    ) -> Mapping[str, str]:
        own = dict(self.builds.built(code_rev).settings.get(module, {}))
        if borrowed is None:
            return own
        other = self.builds.built(borrowed.rev).settings.get(module, {})
        names = (
            ('library',)
            if borrowed.scope is SettingsScope.TEST_LIBRARIES
            else ('library', 'setting')
        )
        return own | {name: other[name] for name in names if name in other}

    @contextmanager
    def _laid_out(self, compiled: CompiledTests) -> Iterator[tuple[Mount, ...]]:
        """Both sides as they are mounted; copies where files are other than their revision's."""
        code = self.builds.built(compiled.code_rev).code
        tests = self.builds.built(compiled.tests_rev).tests
        if compiled.edits is None:
            yield _mounts(code, tests, self.builds.tools)
            return
        folder = self.builds.root / f'cell-{secrets.token_hex(8)}'
        folder.mkdir(mode=0o755)
        try:
            for side, edits in ((code, compiled.edits.code), (tests, compiled.edits.tests)):
                copy = folder / side.name
                shutil.copytree(side, copy, symlinks=True)
                for path, text in edits:
                    _write(copy, path, text)
            yield _mounts(folder / code.name, folder / tests.name, self.builds.tools)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _job(
        self,
        compiled: CompiledTests,
        mounts: tuple[Mount, ...],
        clock: Mapping[str, str],
        process_cpu_limit: float | None,
    ) -> Job:
        cpu = builds.LIMITS.cpu_seconds if process_cpu_limit is None else process_cpu_limit
        return Job(
            argv=('/bin/sh', '/tools/supervisor.sh', compiled.module),
            limits=replace(builds.LIMITS, cpu_seconds=cpu),
            mounts=mounts,
            environment=clock,
        )


def _mounts(code: Path, tests: Path, tools: Path) -> tuple[Mount, ...]:
    return (
        Mount(source=code, target='/in/code'),
        Mount(source=tests, target='/in/tests'),
        Mount(source=tools, target='/tools'),
    )


def _write(folder: Path, path: str, text: bytes | None) -> None:
    place = folder / path
    if text is None:
        place.unlink(missing_ok=True)
        return
    place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    place.write_bytes(text)
    place.chmod(0o644)


def _clock(start: datetime | None) -> Mapping[str, str] | None:
    """The variables of a process whose clock starts at a date; None where it cannot be set."""
    if start is None:
        return {}
    library = next(iter(libfaketime.find_libraries()), None)
    if library is None:
        return None
    seconds = ceil((start - datetime.now(UTC)).total_seconds())
    return {'LD_PRELOAD': str(library), 'FAKETIME': f'{seconds:+d}'}
