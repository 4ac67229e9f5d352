"""Pack the trees of cells once, and find out which of their test files load.

Python compiles nothing: loading a test file is the closest counterpart. A file that does not load
gets stand-ins for the names that the code lacks. If it then loads, its methods run, and those that
need such a name report so themselves (`inside/absent.py`).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from coevo.languages.cells import CellKey
from coevo.languages.core.cell_files import SECONDS, Files, pack_files, require_unread
from coevo.languages.core.test_processes import WALL_PER_CPU
from coevo.languages.core.test_runs import run_in_fresh_process
from coevo.languages.python.built import PythonModule
from coevo.languages.python.byte_code import Said, select_sources, show_sources_beside_byte_code
from coevo.languages.python.cell import PythonCell
from coevo.languages.python.events import is_below_conftest
from coevo.languages.python.interpreters import PACKAGES, TREE
from coevo.languages.python.launch import PythonSetup, make_test_job
from coevo.languages.python.run_context import PythonRunContext
from coevo.languages.python.runner import (
    LOADING_SECONDS,
    PythonRunResult,
    PythonSessionOrders,
    PythonSessions,
    PythonTestRun,
    SessionKey,
)
from coevo.languages.python.scripts import list_entry_points, make_scripts, make_tool_links
from coevo.languages.verdicts import MainSources, Verdict
from coevo.model.errors import Transient
from coevo.model.words import Outcome

# Limit of the archives of one pair. Each is as large as its tree, and several runs use it.
_MOST_PACKED = 6

# Size of the sources, in bytes, up to which their byte code is always packed with them.
_MOST_COMPILED = 8 << 20

_UNSAID = (None, None)

_CALLS_C = re.compile(rb'\b(?:ctypes|cffi)\b')

# Exceptions that a missing name raises, directly or because None was used in its place.
_OF_NAMES = frozenset(('ImportError', 'AttributeError', 'NameError', 'TypeError'))


class PythonCells:
    """The cells of one pair: their packed trees, and the runs of requests in them."""

    def __init__(self, context: PythonRunContext, sessions: PythonSessions) -> None:
        self._context, self._sessions = context, sessions
        self._folder = context.root / f'trees-{id(self):x}'
        self._cells: dict[CellKey, PythonCell] = {}
        self._shown: dict[tuple[CellKey, MainSources], tuple[PythonModule, Path]] = {}

    def get(self, key: CellKey, module: PythonModule) -> PythonCell:
        """Return the cell with a key, made if need be.

        The archives of at most six cells are kept: another one replaces the least recently used
        cell. A cell that was made for a different `module` is made anew.
        """
        cell = self._cells.pop(key, None)
        if cell is not None and cell.module != module:  # built with an interpreter tried before
            _remove_packed_tree(cell)
            cell = None
        if cell is None:
            while len(self._cells) >= _MOST_PACKED:
                _remove_packed_tree(self._cells.pop(next(iter(self._cells))))
            files = self._context.trees.collect_cell_files(key.tests_rev, key.code_rev, key.edits)
            cell = PythonCell(key=key, module=module, files=files)
        self._cells[key] = cell  # most recently used
        return cell

    def close(self) -> None:
        """Forget all cells and remove their packed trees; they are made again when needed."""
        self._cells.clear()
        self._shown.clear()
        shutil.rmtree(self._folder, ignore_errors=True)

    def load_test_files_returning_cpu_seconds(
        self, cell: PythonCell, files: Sequence[str] | None = None
    ) -> float:
        """Find out which test files load, and record it in the cell. Return the CPU seconds.

        Files that were tried before are skipped.

        files  None for all test files of the module
        """
        every = cell.test_files if files is None else files
        wanted = [path for path in every if path not in cell.loaded]
        if not wanted:
            return 0.0
        self.ensure_rewritten_test_files(cell, wanted)
        verdict_by_path, used = self._try_loading_with_cpu_seconds(cell, wanted)
        return used + self.record_loading_returning_cpu_seconds(cell, verdict_by_path)

    def record_loading_returning_cpu_seconds(
        self, cell: PythonCell, found: dict[str, Verdict | None]
    ) -> float:
        """Record in the cell which files load. Return the CPU seconds.

        Files that may have failed because of a missing name are first tried again with stand-ins.

        found  by file, why it does not load; None if it loads
        """
        used = 0.0
        broken = {path: why for path, why in found.items() if why is not None}
        may_load = [path for path, why in broken.items() if _may_lack_a_name(why)]
        if may_load:
            cell.stood_in |= {path: broken[path] for path in may_load}
            again, used = self._try_loading_with_cpu_seconds(cell, may_load)
            for path in may_load:
                if again[path] is not None:
                    del cell.stood_in[path]
                else:
                    found[path] = None
        cell.loaded |= found
        return used

    def ensure_rewritten_test_files(self, cell: PythonCell, files: Sequence[str]) -> None:
        """Ensure that the packed tree will have these test files as pytest rewrites them.

        A packed tree without one of them is removed and packed anew when it is next needed. A test
        file that is not rewritten there is rewritten by pytest in each run.
        """
        if not cell.requested_files.issuperset(files):
            cell.requested_files.update(files)
            _remove_packed_tree(cell)

    def run_request(
        self,
        cell: PythonCell,
        request: dict[str, Any],
        limits: Sequence[float],
        *,
        alone: bool = False,
        cpu_seconds: float | None = None,
        wall_seconds: float | None = None,
        loading: float = LOADING_SECONDS,
        watched: Mapping[str, int] | None = None,
        sources: MainSources | None = None,
        clock: Mapping[str, str] | None = None,
        shared: bool = True,
    ) -> PythonRunResult:
        """Run a request in a test process on the tree of a cell; return what the process reported.

        Fields of the request that describe the tree are added. The process is forked from a shared
        one or, if that is not possible, fresh.

        limits        CPU seconds for each target
        alone         whether the process has one target: it then has another hash seed
        cpu_seconds   for the whole process; None is the sum for its targets and for loading
        wall_seconds  for a fresh process; None is ten times its CPU seconds
        loading       CPU seconds before the first target
        watched       as in `PythonTestRun`
        sources       as in `RunConditions`
        clock         as in `make_test_job`
        shared        whether the process may be forked from one that has imported pytest

        Raises:
            CorruptObject: the process may have read a file of which the clone lacks the content.
        """
        whole = self._complete_request(cell, request, observed=watched is not None)
        tree = (
            self._get_tree(cell)
            if sources is None
            else self._get_tree_showing_sources(cell, sources)
        )
        run = PythonTestRun(
            request=whole,
            tree=tree,
            limits=limits,
            most_cpu_seconds=cpu_seconds or sum(limits) + loading,
            loading=loading,
            watched=watched,
            stand_ins=cell.stand_ins,
        )
        done, spent = None, 0.0
        if shared and self._may_share_process(cell, sources) and watched is None and clock is None:
            done, spent = self._run_in_session_with_cpu_seconds(cell.module, run, alone=alone)
        if done is None:
            fresh = self._run_in_fresh_sandbox(
                cell.module, tree, run, alone=alone, wall_seconds=wall_seconds, clock=clock
            )
            done = replace(fresh, cpu_seconds=fresh.cpu_seconds + spent)
        require_unread(run.stand_ins, unread=done.heard.unread)
        return done

    def _complete_request(
        self, cell: PythonCell, request: dict[str, Any], *, observed: bool
    ) -> dict[str, Any]:
        """Return a request with the fields that describe its cell, where it does not have them."""
        return {
            'root': TREE,
            'targets': [],
            'options': list(cell.module.options),
            'absent': [],
            'tops': sorted(cell.module.tops),
            'packages': PACKAGES,
            'natives': self._find_code_files_calling_c(cell) if observed else [],
            **request,
        }

    def _run_in_fresh_sandbox(
        self,
        module: PythonModule,
        tree: Path,
        run: PythonTestRun,
        *,
        alone: bool,
        wall_seconds: float | None,
        clock: Mapping[str, str] | None,
    ) -> PythonRunResult:
        """Run a request in a sandbox of its own."""
        most = run.most_cpu_seconds
        chosen = make_test_job(
            self._make_setup(module),
            tree,
            module.folder,
            module.roots,
            alone=alone,
            cpu_seconds=most,
            wall_seconds=wall_seconds or max(most, sum(run.limits) + run.loading) * WALL_PER_CPU,
            clock=clock,
        )
        return run_in_fresh_process(self._context.sandbox, chosen, run)

    def _make_setup(self, module: PythonModule) -> PythonSetup:
        return PythonSetup(installed=module.installed, programs=self._context.programs)

    def _run_in_session_with_cpu_seconds(
        self, module: PythonModule, run: PythonTestRun, *, alone: bool
    ) -> tuple[PythonRunResult | None, float]:
        key = SessionKey(
            site=module.installed.site,
            interpreter=module.installed.interpreter.version,
            folder=module.folder,
            roots=module.roots,
            alone=alone,
        )
        make_orders = partial(PythonSessionOrders, key, self._make_setup(module))
        return self._sessions.run_in_session_counting_cpu_seconds(key, run, make_orders)

    def _find_code_files_calling_c(self, cell: PythonCell) -> list[str]:
        """Return the unedited files of the code that name `ctypes` or `cffi`, which call C."""
        edits = cell.key.edits
        apart = {path for path, _ in (*edits.code, *edits.tests)} if edits else set()
        apart |= self._context.trees.list_test_paths(cell.key.tests_rev)
        return sorted(
            path
            for path, (_, content) in cell.files.items()
            if path.endswith('.py') and path not in apart and _CALLS_C.search(content)
        )

    def make_paths_relative_to_module(self, cell: PythonCell, files: Sequence[str]) -> list[str]:
        """Return repository paths relative to the module's folder, in which its processes run."""
        folder = cell.module.folder
        prefix = '' if folder == '.' else f'{folder}/'
        up = '../' * (folder.count('/') + 1) if prefix else ''
        return [
            path.removeprefix(prefix) if path.startswith(prefix) else up + path for path in files
        ]

    def list_files_needing_stand_ins(
        self, cell: PythonCell, files: Sequence[str]
    ) -> list[list[str]]:
        """Return [path, package] of files that load only with stand-ins, and of what these load.

        These are conftests above, and modules of the tests that any of them imports. The path is
        relative to the folder of the process. Files that load as they are are left out.
        """
        paths: dict[str, None] = {}
        for file in files:
            if file in cell.stood_in:
                parts = file.split('/')
                above = ['/'.join((*parts[:end], 'conftest.py')) for end in range(len(parts))]
                loaded = [path for path in (*above, file) if cell.has_file(path)]
                paths |= dict.fromkeys((*cell.find_imported_test_modules(loaded), *loaded))
        places = self.make_paths_relative_to_module(cell, list(paths))
        return [
            [process_path, cell.derive_package(path)]
            for process_path, path in zip(places, paths, strict=True)
        ]

    def _try_loading_with_cpu_seconds(
        self, cell: PythonCell, files: Sequence[str]
    ) -> tuple[dict[str, Verdict | None], float]:
        """Load test files in a process; return by file why it does not load, and CPU seconds.

        None if it loads. A failing conftest is the reason for the files below it only. If a file
        ends the process, each file is tried separately.
        """
        verdict_by_path: dict[str, Verdict | None] = {}
        used = 0.0
        left = list(files)
        while left:
            done = self._run_load_request(cell, left)
            used += done.cpu_seconds
            cell.absent |= done.heard.absent
            errors = {
                path: why
                for path, why in done.heard.files.items()
                if why.outcome is Outcome.COMPILE_ERROR
            }
            verdict_by_path |= {path: errors[path] for path in left if path in errors}
            others = [path for path in errors if path not in left]
            below = {
                path: errors[conftest]
                for conftest in others
                for path in left
                if is_below_conftest(path, conftest)
            }
            if done.heard.loaded and not below:
                return dict.fromkeys(left) | verdict_by_path, used
            if not below and len(left) > 1:  # one of them ends the process: try each separately
                for path in left:
                    alone, more = self._try_loading_with_cpu_seconds(cell, [path])
                    verdict_by_path |= alone
                    used += more
                return verdict_by_path, used
            ended = Verdict(outcome=Outcome.COMPILE_ERROR, signature=f'loading:{done.status}')
            verdict_by_path |= below or {path: verdict_by_path.get(path) or ended for path in left}
            left = [path for path in left if path not in verdict_by_path]
        return verdict_by_path, used

    def _run_load_request(self, cell: PythonCell, files: Sequence[str]) -> PythonRunResult:
        request = {
            'mode': 'load',
            'files': self.make_paths_relative_to_module(cell, files),
            'absent': self.list_files_needing_stand_ins(cell, files),
        }
        done = self.run_request(cell, request, ())
        if not done.heard.started:
            raise Transient(f'a test process did not start: {done.noise[-300:].strip()}')
        return done

    def _may_share_process(self, cell: PythonCell, sources: MainSources | None) -> bool:
        """Return whether runs in a cell may be forked from a process that serves other runs, too.

        A submitted patch is run separately: from its neighbours it could tell which run it is in.
        """
        return self._context.own_edits or (cell.key.edits is None and sources is None)

    def _get_tree(self, cell: PythonCell) -> Path:
        if cell.tree is None:
            cell.tree = self._pack_with_byte_code(cell)
        return cell.tree

    def _get_tree_showing_sources(self, cell: PythonCell, sources: MainSources) -> Path:
        """Return the packed tree of a cell: its code as byte code, beside the texts of `sources`.

        These texts are not executed: a test that reads them cannot tell from them which code runs.
        """
        key = (cell.key, sources)
        entry = self._shown.pop(key, None)
        # built with an interpreter tried before
        if entry is not None and entry[0] is not cell.module:
            entry[1].unlink()
            entry = None
        if entry is None:
            while len(self._shown) >= _MOST_PACKED:
                self._shown.pop(next(iter(self._shown)))[1].unlink()
            entry = cell.module, self._pack_showing_sources(cell, sources)
        self._shown[key] = entry
        return entry[1]

    def _pack_showing_sources(self, cell: PythonCell, sources: MainSources) -> Path:
        module, trees = cell.module, self._context.trees
        files = _add_generated_modules(cell)
        shown: dict[str, bytes] = {}
        if sources.rev is not None:
            texts = trees.collect_cell_files(sources.rev, sources.rev, None)
            shown = select_sources(texts, trees.list_test_paths(sources.rev))
        tests = trees.list_test_paths(cell.key.tests_rev)
        own = select_sources(files, tests | {path for path, _ in _get_test_edits(cell.key)})
        compiled = partial(self._context.byte_code.get_or_compile, installed=module.installed)
        feature = module.installed.interpreter.feature
        return self._pack(show_sources_beside_byte_code(files, own, shown, feature, compiled), cell)

    def _pack_with_byte_code(self, cell: PythonCell) -> Path:
        """Pack the tree with the byte code of its unedited code, so that no process compiles it.

        If the sources have more than 8 MiB, none has byte code.
        """
        key, module, files = cell.key, cell.module, _add_generated_modules(cell)
        edited = {path for path, _ in (*key.edits.code, *key.edits.tests)} if key.edits else set()
        theirs = self._context.trees.list_test_paths(key.tests_rev)
        own = select_sources(files, theirs | edited)
        if sum(map(len, own.values())) <= _MOST_COMPILED:
            compiled = partial(self._context.byte_code.get_or_compile, installed=module.installed)
            files = show_sources_beside_byte_code(
                files, own, own, module.installed.interpreter.feature, compiled
            )
        return self._pack(files, cell)

    def _rewrite_test_files(
        self, cell: PythonCell, sources: Sequence[tuple[str, str]]
    ) -> Sequence[Said] | None:
        """Return test files as pytest rewrites them, in a process forked for this purpose.

        None if the cell may not share a process, or if the session does not take the run.

        sources  paths, and texts in Base64
        """
        if not self._may_share_process(cell, None):
            return None
        request = {'mode': 'rewrite', 'sources': sources, 'date': SECONDS, 'targets': []}
        run = PythonTestRun(request=request, tree=None, limits=(), most_cpu_seconds=LOADING_SECONDS)
        done, _ = self._run_in_session_with_cpu_seconds(cell.module, run, alone=False)
        if done is None:
            return None
        return [done.heard.rewritten.get(index, _UNSAID) for index in range(len(sources))]

    def _pack(self, files: Files, cell: PythonCell) -> Path:
        module, key = cell.module, cell.key
        unedited = self._context.trees.list_test_paths(key.tests_rev) - {
            path for path, _ in _get_test_edits(key)
        }
        wanted = unedited & cell.extend_to_importable_test_files(cell.requested_files)
        ask = partial(self._rewrite_test_files, cell)
        rewritten = self._context.rewritten.get_rewritten_byte_code(
            files, wanted, module.installed, ask
        )
        major, minor = module.installed.interpreter.feature
        site = f'env/lib/python{major}.{minor}/site-packages'
        packed = {f'tree/{path}': entry for path, entry in {**files, **rewritten}.items()}
        for path, content in module.metadata:
            packed[f'{site}/{path}'] = ('100644', content)
        scripts = make_scripts(list_entry_points(module.metadata), module.installed.site)
        for path, entry in {**make_tool_links(), **scripts}.items():
            packed[path.removeprefix('/w/')] = entry
        return pack_files(packed, self._folder)


def _add_generated_modules(cell: PythonCell) -> dict[str, tuple[str, bytes]]:
    """Return the files of a cell with the modules that a build would have generated."""
    files = dict(cell.files)
    for path, content in (*cell.module.written, *cell.module.compiled):
        files.setdefault(path, ('100644', content))
    return files


def _may_lack_a_name(why: Verdict) -> bool:
    """Return whether a file may have failed to load because of a missing name.

    Only then can stand-ins help. With missing data, for example, a second load would fail as well.
    """
    unknown = not why.exceptions or any(name.endswith('CollectError') for name in why.exceptions)
    return not why.syntax and (unknown or not _OF_NAMES.isdisjoint(why.exceptions))


def _remove_packed_tree(cell: PythonCell) -> None:
    if cell.tree is not None:
        cell.tree.unlink()
        cell.tree = None


def _get_test_edits(key: CellKey) -> tuple[tuple[str, bytes | None], ...]:
    return key.edits.tests if key.edits is not None else ()
