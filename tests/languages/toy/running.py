"""Toys built, linked and run: revisions, the cells of their pairs, one process for a cell's tests."""

from __future__ import annotations

import hashlib
import shutil
import signal
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Any, ClassVar

from coevo.languages.cells import (
    BorrowedSettings,
    Build,
    CellEdits,
    CellKey,
    CheckedSource,
    CompiledTests,
    SettingsScope,
)
from coevo.languages.core.cell_files import RevisionTrees, pack_files
from coevo.languages.core.channel import NumberedReport, TargetReport
from coevo.languages.core.engines import RunEngine, open_sandbox_and_workspace
from coevo.languages.core.test_processes import MOST_KILLS, CpuBounds
from coevo.languages.core.test_runs import run_in_fresh_process
from coevo.languages.declarations import SourceFile
from coevo.languages.engine import (
    BuiltPair,
    RunSettings,
    find_no_other_runtime,
    refuse_mutation,
    refuse_project_run,
)
from coevo.languages.verdicts import (
    NO_CLOCK,
    PLAIN,
    CoveredLine,
    ExecutedMethod,
    RunConditions,
    Trace,
    TraceBatch,
    Verdict,
    VerdictBatch,
    unite_traces,
)
from coevo.model.pair_rows import Environment
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Outcome
from coevo.sandboxes import clock
from coevo.sandboxes.sandbox import Job, Limits, Mount
from tests.languages.toy.programs import Linked, link
from tests.languages.toy.syntax import parse
from tests.languages.toy.trees import BUILD_FILE, SUFFIX, is_test_file, open_tree

# Wall seconds for a test where nobody says how many CPU seconds; they wait, they do not spin.
SECONDS = 3.0
SHELL = 'sh'
LIMITS = Limits(
    cpu_seconds=60,
    wall_seconds=300,
    memory_bytes=1 << 30,
    processes=64,
    file_bytes=1 << 24,
    disk_bytes=1 << 24,
)
BUILD_LIMITS = LIMITS  # of builds, which tests do not starve
_UNPACK = 'tar -x -p --no-same-owner -f /in/tree -C /w && cd'
_KILLED = 128 + signal.SIGKILL  # by somebody else: a build of toys never does so by itself


class Builds:
    """What all builders of a run share; safe from several threads."""

    def __init__(self, run: RunSettings, stack: ExitStack) -> None:
        self.repository = run.repository
        self.sandbox, self.root = open_sandbox_and_workspace(run.sandbox, stack)
        self.trees = RevisionTrees(
            repository=run.repository,
            select_test_paths=lambda repository, rev: filter(is_test_file, repository.tree(rev)),
        )
        shutil.copy(Path(__file__).with_name('supervisor.sh'), self.root)
        self._built: dict[str, Build] = {}
        self._lock = threading.Lock()

    def remove_builds_of_revision(self, rev: str) -> None:
        self._built.pop(rev, None)

    def build(self, rev: str) -> Build:
        """Build a revision, or answer at no cost from what was built before."""
        with self._lock:
            if rev in self._built:
                return replace(self._built[rev], cpu_seconds=0.0)
            self._built[rev] = self._build(rev)
            return self._built[rev]

    def _build(self, rev: str) -> Build:
        tree = pack_files(self.trees.collect_cell_files(rev, rev), self.root / 'trees')
        failures, used = {}, 0.0
        for module in sorted(open_tree(self.repository, rev).module_folders):
            failures[module], seconds = self._build_module(tree, module, rev)
            used += seconds
        failure = next(iter(failures.values()), 'no_build_file')
        return Build(
            rev=rev,
            failure=failure if '.' not in failures or len(failures) == 1 else None,
            modules=failures,
            builder=SHELL,
            runtime=SHELL,
            runtimes_tried=(SHELL,),
            cpu_seconds=used,
        )

    def _build_module(self, tree: Path, module: str, rev: str) -> tuple[str | None, float]:
        """Why a module is not built, with the CPU seconds that its own command took."""
        command = self.find_settings(rev, module).get('build')
        if command is None:
            return None, 0.0
        used = 0.0
        for _ in range(MOST_KILLS):
            argv = ('/bin/sh', '-c', f'{_UNPACK} /w/{module} && {command}')
            with self.sandbox.start(
                replace(self.make_job(argv, tree), limits=BUILD_LIMITS)
            ) as process:
                process.stdin.close()
                while process.stdout.read(1 << 16):
                    pass
                status = process.wait()
                used += process.get_cpu_seconds()
            if status != _KILLED:
                break
        return f'status {status}' if status else None, used

    def make_job(
        self, argv: tuple[str, ...], tree: Path, clock: Mapping[str, str] | None = None
    ) -> Job:
        mounts = (
            Mount(source=tree, target='/in/tree'),
            Mount(source=self.root / 'supervisor.sh', target='/in/supervisor.sh'),
        )
        return Job(argv=argv, limits=LIMITS, mounts=mounts, environment=clock or {})

    def find_settings(
        self, rev: str, module: str, borrowed: BorrowedSettings | None = None
    ) -> dict[str, str]:
        """What a module's build file says, with what is borrowed."""
        path = BUILD_FILE if module == '.' else f'{module}/{BUILD_FILE}'
        tree = open_tree(self.repository, rev)
        text = tree.read_content(path).decode() if path in tree.entries else ''
        pairs = (line.partition(':') for line in text.splitlines() if ':' in line)
        own = {name.strip(): value.strip() for name, _, value in pairs}
        if borrowed is None:
            return own
        other = self.find_settings(borrowed.rev, module)
        alone = borrowed.scope is SettingsScope.TEST_LIBRARIES
        names = ('library',) if alone else ('library', 'setting')
        return own | {name: other[name] for name in names if name in other}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyCell:
    """code, tests  the toy files by path; tree: all that lies beside them, packed"""

    compiled: CompiledTests
    linked: Linked
    code: Mapping[str, SourceFile]
    tests: Mapping[str, SourceFile]
    tree: Path


def make_cell(builds: Builds, key: CellKey) -> ToyCell:
    files = builds.trees.collect_cell_files(key.tests_rev, key.code_rev, key.edits)
    read = {p: parse(text) for p, (_, text) in sorted(files.items()) if p.endswith(SUFFIX)}
    tests = {path: file for path, file in read.items() if is_test_file(path)}
    code = {path: file for path, file in read.items() if not is_test_file(path)}
    edited = (path for path, _ in (key.edits.code if key.edits else ()))
    failures = [f'unreadable {path}' for path in edited if path in code and code[path].has_error]
    modules = open_tree(builds.repository, key.tests_rev)
    own = [file for path, file in tests.items() if modules.find_module_folder(path) == key.module]
    settings = builds.find_settings(key.code_rev, key.module, key.borrowed)
    linked = link(own, list(code.values()), settings)
    broken = sorted(f'{type_}#{name}' for type_, name in linked.wrong)
    compiled = CompiledTests(
        tests_rev=key.tests_rev,
        code_rev=key.code_rev,
        module=key.module,
        unit_ok=not broken and not failures and not any(file.has_error for file in own),
        borrowed=key.borrowed,
        edits=key.edits,
        code_failure=next(iter(failures), None),
        broken=tuple(broken),
    )
    tree = pack_files(files, builds.root / 'trees')
    return ToyCell(compiled=compiled, linked=linked, code=code, tests=tests, tree=tree)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyRun:
    """Programs in order, each with so many wall seconds. Fulfils `coevo.languages.core.test_runs.TestRun`."""

    programs: Sequence[Sequence[str]]
    seconds: float
    line_bytes: ClassVar[int] = 1 << 16
    most_cpu_seconds: ClassVar[float] = LIMITS.cpu_seconds

    @property
    def bounds(self) -> CpuBounds[int]:
        limits = dict.fromkeys(range(len(self.programs)), self.seconds)
        return CpuBounds(tests=limits, loading=120.0, wall_per_cpu=1)

    def make_report(self, key: str) -> NumberedReport:
        targets = [TargetReport() for _ in self.programs]
        return NumberedReport(targets=targets, make_verdict=_make_verdict)

    def make_run_order(self, nonce: str, key: str) -> str:
        lines = [nonce]
        for index, steps in enumerate(self.programs):
            lines += [f'begin {index}', *steps, f'end {index}']
        return '\n'.join(lines)


def _make_verdict(event: dict[str, Any]) -> Verdict:
    outcome = Outcome(event['outcome'])
    message = event['message'] if outcome.is_broken else ''
    return Verdict(
        outcome=outcome,
        signature=message.strip() or None,
        message=message,
        environment=message.partition('withheld ')[2] or None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyBuiltPair:
    """Fulfils `coevo.languages.engine.BuiltPair`, as far as the language offers it.

    cells  of all pairs of the thread
    """

    pair: Pair
    old: Build
    new: Build
    builds: Builds
    cells: dict[CellKey, ToyCell]

    build_with_other_runtime = find_no_other_runtime
    mutate = refuse_mutation
    run_project = refuse_project_run

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
            self.cells[key] = make_cell(self.builds, key)
        return self.cells[key].compiled

    def do_settings_differ(self, code_rev: str, module: str, borrowed: BorrowedSettings) -> bool:
        own = self.builds.find_settings(code_rev, module)
        return self.builds.find_settings(code_rev, module, borrowed) != own

    def find_compile_verdict(self, compiled: CompiledTests, method: TestMethod) -> Verdict | None:
        if compiled.code_failure is not None:
            return Verdict(outcome=Outcome.UNBUILDABLE, signature=compiled.code_failure)
        wrong = self.cells[compiled.key].linked.wrong.get((method.test_class, method.test_method))
        if wrong is None:
            return None
        return Verdict(
            outcome=Outcome.COMPILE_ERROR, signature=wrong.signature, syntax=wrong.syntax
        )

    def find_shadowing_classes(self, compiled: CompiledTests) -> frozenset[str]:
        """Types of the tests that have the names of types of the code."""
        cell = self.cells[compiled.key]
        own, code = (
            {type_.name for file in files.values() for type_ in file.types}
            for files in (cell.tests, cell.code)
        )
        return frozenset(own & code)

    def digest_run_inputs(self, compiled: CompiledTests) -> str | None:
        """Of whole trees: a test may read any file that is laid out beside it."""
        header = self.builds.repository.header
        parts = (
            str(header(compiled.code_rev).tree),
            str(header(compiled.tests_rev).tree),
            compiled.module,
            repr(self.builds.find_settings(compiled.code_rev, compiled.module, compiled.borrowed)),
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
        cell = self.cells[compiled.key]
        keys = [(method.test_class, method.test_method) for method in methods]
        chosen = [place for place, key in enumerate(keys) if key in cell.linked.programs]
        verdicts: list[Verdict | None] = [Verdict(outcome=Outcome.MISSING)] * len(methods)
        if not chosen:
            return VerdictBatch(verdicts=tuple(verdicts), cpu_seconds=0.0)
        clock = _make_clock_variables(conditions.clock)
        if clock is None:
            unknown = Verdict(outcome=Outcome.INFRA, signature=NO_CLOCK)
            return VerdictBatch(verdicts=(unknown,) * len(methods), cpu_seconds=0.0)
        argv = ('/bin/sh', '/in/supervisor.sh', compiled.module)
        job = self.builds.make_job(argv, cell.tree, clock)
        if conditions.process_cpu_limit is not None:
            job = replace(job, limits=replace(LIMITS, cpu_seconds=conditions.process_cpu_limit))
        run = ToyRun(
            programs=[cell.linked.programs[keys[place]] for place in chosen],
            seconds=SECONDS if conditions.cpu_limit is None else conditions.cpu_limit,
        )
        done = run_in_fresh_process(self.builds.sandbox, job, run)
        told = done.heard.derive_verdicts(done.status, done.noise)
        for place, verdict in zip(chosen, told, strict=True):
            verdicts[place] = verdict
        return VerdictBatch(
            verdicts=tuple(verdicts), cpu_seconds=done.cpu_seconds, output=done.noise
        )

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
        cell = self.cells[compiled.key]
        traces = [
            make_trace(cell.code, cell.linked.asked[method.test_class, method.test_method], files)
            if verdict is not None and verdict.outcome is Outcome.PASS
            else None
            for method, verdict in zip(methods, batch.verdicts, strict=True)
        ]
        return TraceBatch(
            traces=tuple(traces),
            cpu_seconds=batch.cpu_seconds,
            together=unite_traces(traces) if together else None,
        )

    def check_main_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[CheckedSource, ...]:
        """A line that cannot be read does not compile; comments are no part of a program."""
        return tuple(
            CheckedSource(
                signature=f'unreadable {path}' if file.has_error else None,
                digest=None if file.has_error else file.hash,
                outside=str(sorted(member.name for t in file.types for member in t.members)),
            )
            for file in map(parse, variants)
        )

    def describe_environment(self, rev: str, module: str) -> Environment | None:
        if module not in self.builds.build(rev).modules:
            return None
        return Environment(runtime=SHELL, build_tool=SHELL, libraries=())


def make_trace(
    code: Mapping[str, SourceFile], asked: Collection[str], files: Collection[str]
) -> Trace:
    """A line of the code is a method with one instruction; `asked` has names as `Type.name`."""
    lines: dict[str, list[CoveredLine]] = {path: [] for path in sorted(files)}
    executed = []
    for path, file in code.items():
        for type_, member in ((owner, m) for owner in file.types for m in owner.members):
            hit = f'{type_.simple}.{member.name}' in asked
            if path in lines:
                line = CoveredLine(
                    line=member.start_line,
                    missed_instructions=int(not hit),
                    covered_instructions=int(hit),
                )
                lines[path].append(line)
            if hit:
                method = ExecutedMethod(
                    type=type_.name,
                    method=member.name,
                    file=path,
                    first_line=member.start_line,
                    last_line=member.end_line,
                )
                executed.append(method)
    return Trace(
        executed=tuple(sorted(executed, key=lambda one: (one.type, one.method))),
        lines={path: tuple(covered) for path, covered in lines.items()},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyBuilder:
    """Fulfils `coevo.languages.engine.Builder`."""

    builds: Builds
    cells: dict[CellKey, ToyCell] = field(default_factory=dict)

    def build(self, pair: Pair) -> BuiltPair:
        old, new = (self.builds.build(commit.rev) for commit in (pair.old, pair.new))
        return ToyBuiltPair(pair=pair, old=old, new=new, builds=self.builds, cells=self.cells)

    def close(self) -> None:
        self.cells.clear()


def make_engine(run: RunSettings, stack: ExitStack) -> RunEngine:
    builds = Builds(run, stack)
    return RunEngine(
        sandbox=builds.sandbox,
        make_builder=lambda: ToyBuilder(builds=builds),
        remove_builds_of_revision=builds.remove_builds_of_revision,
    )


def _make_clock_variables(start: datetime | None) -> Mapping[str, str] | None:
    """The variables of a process whose clock starts at a date; None where it cannot be set."""
    if start is None:
        return {}
    library = next(iter(clock.find_libraries()), None)
    if library is None:
        return None
    seconds = ceil((start - datetime.now(UTC)).total_seconds())
    return {'LD_PRELOAD': str(library), 'FAKETIME': f'{seconds:+d}'}
