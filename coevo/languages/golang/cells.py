"""Cells of a pair: laid out and compiled, with the results kept while there is room."""

from __future__ import annotations

import shutil
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from coevo.languages.cells import CellKey
from coevo.languages.core.cell_files import StandIn, find_stand_ins, pack_files, require_unread
from coevo.languages.core.test_runs import Sessions, run_in_fresh_process
from coevo.languages.golang.channel import GoProcessReport
from coevo.languages.golang.compiler import CompilerReply, GoCompiler
from coevo.languages.golang.projects import GoProject
from coevo.languages.golang.run_context import GoRunContext
from coevo.languages.golang.runner import GoCellLayout, GoRunResult, GoTestRun
from coevo.languages.golang.toolchains import OVERLAY
from coevo.languages.verdicts import MainSources

_MOST_BINARIES = 24
_MOST_TREES = 12

# A program that runs the go command names it.
_GO = b'"go"'


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryVariant:
    """Build options of a binary.

    clock    whether its clock can be set
    covered  a pattern of the packages that are instrumented for coverage
    stepped  a pattern of the packages that are compiled without optimizations and inlining (-N -l),
             so that each line has its own code
    """

    clock: bool = False
    covered: str = ''
    stepped: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class GoBinary:
    """A test binary, or the reasons why there is none; the fields are those of `inside/compile.go`.

    whole   whether everything compiled
    none    whether the package has no tests to compile
    broken  error signatures of tests that do not compile, by `FILE#NAME`
    torn    signatures of syntax errors, by test file
    all     the signature if no test could be compiled, otherwise ''
    code    the signature if the code itself does not compile, otherwise ''
    files   the names of the test files whose build constraints this machine fulfils; None if the
            compiler did not list them
    """

    path: Path | None
    name: str
    whole: bool
    none: bool
    broken: Mapping[str, str]
    torn: Mapping[str, str]
    all: str
    code: str
    files: frozenset[str] | None
    cpu_seconds: float

    def remove(self) -> None:
        """Delete the binary from the disk."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


@dataclass(slots=True, kw_only=True)
class GoCells:
    """The cells of one thread with one toolchain; its pairs share what was compiled."""

    context: GoRunContext
    compiler: GoCompiler
    folder: Path
    sessions: Sessions[GoCellLayout, GoTestRun, GoProcessReport]
    _binaries: OrderedDict[tuple[CellKey, str, BinaryVariant], GoBinary] = field(
        default_factory=OrderedDict
    )
    _trees: OrderedDict[tuple[CellKey, str, MainSources | None], Path] = field(
        default_factory=OrderedDict
    )
    _calling_go: set[Path] = field(default_factory=set)
    _stand_ins: dict[Path, tuple[StandIn, ...]] = field(default_factory=dict)

    def compile_binary(self, key: CellKey, project: GoProject, variant: BinaryVariant) -> GoBinary:
        """Return the test binary of a cell with some build options, compiled now or before.

        At most 24 are kept; the least recently used one is deleted for a new one.

        project  provides the go.mod and the flags
        """
        name = (key, project.settings_digest, variant)
        binary = self._binaries.pop(name, None)
        if binary is None:
            while len(self._binaries) >= _MOST_BINARIES:
                self._binaries.popitem(last=False)[1].remove()
            binary = self._compile(key, project, variant)
        self._binaries[name] = binary
        return binary

    def has_binary(self, key: CellKey, project: GoProject) -> bool:
        """Return whether the binary of a cell without any build options is already compiled."""
        return (key, project.settings_digest, BinaryVariant()) in self._binaries

    def pack_tree(
        self, key: CellKey, project: GoProject, sources: MainSources | None = None
    ) -> Path:
        """Return the path of an archive of all files of a cell, made now or before.

        sources  as in `RunConditions`: Go files to show instead of those of the code
        """
        name = (replace(key, module=''), project.settings_digest, sources)
        archive = self._trees.pop(name, None)
        if archive is None:
            while len(self._trees) >= _MOST_TREES:
                _, forgotten = self._trees.popitem(last=False)
                forgotten.unlink(missing_ok=True)
                self._calling_go.discard(forgotten)
                del self._stand_ins[forgotten]
            files = self.context.trees.collect_cell_files(
                key.tests_rev,
                key.code_rev,
                key.edits,
                written=project.files,
                sources=sources,
                suffix='.go',
            )
            archive = pack_files(files, self.folder / 'trees')
            self._stand_ins[archive] = find_stand_ins(files)
            if any(path.endswith('.go') and _GO in content for path, (_, content) in files.items()):
                self._calling_go.add(archive)
        self._trees[name] = archive
        return archive

    def find_standard_library_if_needed(self, tree: Path) -> Path | None:
        """Return the folder of the compiled standard library, for tests that run the go command.

        None if no Go file of the tree contains the text `"go"`.

        tree  the path of an archive that `pack_tree` returned
        """
        return self.compiler.standard if tree in self._calling_go else None

    def get_stand_ins(self, tree: Path) -> tuple[StandIn, ...]:
        """Return the stand-ins in a tree, given the path of an archive that `pack_tree` returned."""
        return self._stand_ins[tree]

    def ask_compiler(
        self, mode: str, tree_archive: Path, order: Mapping[str, object]
    ) -> CompilerReply:
        """Have the compiler do an order on a tree, see `GoCompiler.ask`.

        Raises:
            CorruptObject: it read a file of which the clone lacks the content, such as one that the
                code embeds.
        """
        stand_ins = self.get_stand_ins(tree_archive)
        paths = [stand_in.path for stand_in in stand_ins]
        reply = self.compiler.ask(mode, tree_archive, {**order, 'StandIns': paths})
        require_unread(stand_ins, unread=reply.unread)
        return reply

    def run_test_process(self, run: GoTestRun, *, shared: bool) -> GoRunResult:
        """Run tests in an open session or, if that gives no result, in a fresh process.

        shared  whether a session may be used, in whose sandbox other processes of the cell ran
                before

        Raises:
            CorruptObject: the process may have read a file of which the clone lacks the content.
        """
        done, spent = None, 0.0
        if shared:
            done, spent = self.sessions.run_in_session_counting_cpu_seconds(
                run.ground, run, lambda: run.ground
            )
        if done is None:
            job = run.ground.make_job('run', run.most_cpu_seconds)
            fresh = run_in_fresh_process(self.context.sandbox, job, run)
            done = replace(fresh, cpu_seconds=fresh.cpu_seconds + spent)
        require_unread(run.ground.stand_ins, unread=done.heard.unread)
        return done

    def close(self) -> None:
        """End all sessions and the compiler, and delete all binaries and archives."""
        self.sessions.close()
        self.compiler.close()
        self._binaries.clear()
        self._trees.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _compile(self, key: CellKey, project: GoProject, variant: BinaryVariant) -> GoBinary:
        flags = project.list_flags(key.module)
        if variant.covered:
            flags += ['-cover', '-covermode=set', f'-coverpkg={variant.covered}']
        if variant.stepped:
            flags += [f'-gcflags={variant.stepped}=-dwarf=0 -N -l']
        order = {
            'Root': project.root_in_sandbox,
            'Folder': key.module,
            'Overlay': f'{OVERLAY}/{"clock" if variant.clock else "plain"}.json',
            'Flags': flags,
            'Stubs': variant == BinaryVariant(),
            'Edited': [path for path, _ in key.edits.code] if key.edits else [],
        }
        if not order['Stubs']:
            order['Stubs'] = not self.compile_binary(key, project, BinaryVariant()).whole
        return _make_binary(self.ask_compiler('compile', self.pack_tree(key, project), order))


def _make_binary(answer: CompilerReply) -> GoBinary:
    result = answer.result
    return GoBinary(
        path=answer.binary,
        name=answer.name,
        whole=result.get('Whole') is True,
        none=result.get('None') is True,
        broken=dict(result.get('Broken') or {}),
        torn=dict(result.get('Torn') or {}),
        all=str(result.get('All') or ''),
        code=str(result.get('Code') or ''),
        files=None if result.get('Files') is None else frozenset(result['Files']),
        cpu_seconds=answer.cpu_seconds,
    )
