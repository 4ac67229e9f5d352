"""Test trees in the trees of code, each packed once, and which of their files load there.

Nothing is compiled: to load a test file is what comes nearest. A file that does not load is given
stand-ins for the names that the code lacks; if it loads then, its methods run, and those that need such
a name say so themselves (`inside/absent.py`).
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from coevo.languages.conditions import MainSources
from coevo.languages.packed_files import SECONDS
from coevo.languages.packed_files import Files
from coevo.languages.packed_files import pack
from coevo.languages.python.built import PythonModule
from coevo.languages.python.cell import PythonCell
from coevo.languages.python.cell import PythonCellKey
from coevo.languages.python.events import is_below
from coevo.languages.python.launch import PythonSetup
from coevo.languages.python.launch import job
from coevo.languages.python.layout import metadata
from coevo.languages.python.places import PACKAGES
from coevo.languages.python.places import TREE
from coevo.languages.python.rewritten import Said
from coevo.languages.python.run_context import PythonRunContext
from coevo.languages.python.runner import LOADING_SECONDS
from coevo.languages.python.runner import Done
from coevo.languages.python.runner import run_request
from coevo.languages.python.sessions import Run
from coevo.languages.python.sessions import SessionKey
from coevo.languages.python.sessions import Sessions
from coevo.languages.python.shown_sources import sources_of
from coevo.languages.python.shown_sources import with_shown
from coevo.languages.test_processes import WALL_PER_CPU
from coevo.languages.verdicts import Verdict
from coevo.model.errors import Transient
from coevo.model.words import Outcome

# Archives of one pair. Each is as large as its tree, and a test runs several times with the same one.
_MOST_PACKED = 6

# Bytes of sources up to which their byte code lies beside them, whether a test needs it or not.
_MOST_COMPILED = 8 << 20

_UNSAID = (None, None)

# What is raised where a name is not there, or where somebody took None in its place.
_OF_NAMES = frozenset(('ImportError', 'AttributeError', 'NameError', 'TypeError'))


class PythonCells:
    """Those of one pair."""

    def __init__(self, context: PythonRunContext, sessions: Sessions) -> None:
        self._context, self._sessions = context, sessions
        self._folder = context.root / f'trees-{id(self):x}'
        self._cells: dict[PythonCellKey, PythonCell] = {}
        self._shown: dict[tuple[PythonCellKey, MainSources], tuple[PythonModule, Path]] = {}

    def get(self, key: PythonCellKey, module: PythonModule) -> PythonCell:
        found = self._cells.pop(key, None)
        if found is not None and found.module != module:  # of an interpreter that was tried before
            _remove(found)
            found = None
        if found is None:
            while len(self._cells) >= _MOST_PACKED:
                _remove(self._cells.pop(next(iter(self._cells))))
            files = self._context.trees.cell(key.tests_rev, key.code_rev, key.edits)
            found = PythonCell(key=key, module=module, files=files)
        self._cells[key] = found  # used last
        return found

    def close(self) -> None:
        """Remove what was packed; it is packed again when asked for."""
        self._cells.clear()
        self._shown.clear()
        shutil.rmtree(self._folder, ignore_errors=True)

    def load_all(self, cell: PythonCell, files: Sequence[str] | None = None) -> float:
        """Find out which test files load, all of them if none are named; CPU seconds."""
        every = cell.test_files if files is None else files
        wanted = [path for path in every if path not in cell.loaded]
        if not wanted:
            return 0.0
        self.expect(cell, wanted)
        found, used = self._loading(cell, wanted)
        return used + self.settle(cell, found)

    def settle(self, cell: PythonCell, found: dict[str, Verdict | None]) -> float:
        """Keep which of some files load, those that do not after another try with stand-ins; CPU seconds."""
        used = 0.0
        broken = {path: why for path, why in found.items() if why is not None}
        may_load = [path for path, why in broken.items() if _may_lack_a_name(why)]
        if may_load:
            cell.stood_in |= {path: broken[path] for path in may_load}
            again, used = self._loading(cell, may_load)
            for path in may_load:
                if again[path] is not None:
                    del cell.stood_in[path]
                else:
                    found[path] = None
        cell.loaded |= found
        return used

    def expect(self, cell: PythonCell, files: Sequence[str]) -> None:
        """Have the tree packed for some test files; others are left to each process, as pytest has it."""
        if not cell.asked.issuperset(files):
            cell.asked.update(files)
            _remove(cell)

    def ask(
        self,
        cell: PythonCell,
        request: dict[str, Any],
        limits: Sequence[float],
        *,
        alone: bool = False,
        cpu_seconds: float | None = None,
        watched: Mapping[str, int] | None = None,
        sources: MainSources | None = None,
        clock: Mapping[str, str] | None = None,
    ) -> Done:
        """Run a request in a cell; what it says of the tree is filled in.

        limits       CPU seconds for each target
        cpu_seconds  for the whole process; None is what its targets may use together
        watched      as `run_request` has it
        sources      as `Conditions` has them
        clock        as `job` has it
        """
        module = cell.module
        setup = PythonSetup(installed=module.installed, programs=self._context.programs)
        most = cpu_seconds or sum(limits) + LOADING_SECONDS
        whole = {
            'root': TREE,
            'targets': [],
            'options': list(module.options),
            'absent': [],
            'tops': sorted(module.tops),
            'packages': PACKAGES,
            **request,
        }
        spent = 0.0
        tree = self._tree(cell) if sources is None else self._with_sources(cell, sources)
        if self._may_share(cell, sources) and watched is None and clock is None:
            run = Run(request=whole, tree=tree, limits=limits, cpu_seconds=most)
            done, spent = self._sessions.run(_session_key(module, alone), setup, run)
            if done is not None:
                return done
        chosen = job(
            setup,
            tree,
            module.folder,
            module.roots,
            alone=alone,
            cpu_seconds=most,
            wall_seconds=(sum(limits) + LOADING_SECONDS) * WALL_PER_CPU,
            clock=clock,
        )
        done = run_request(self._context.sandbox, chosen, whole, limits, watched)
        return replace(done, cpu_seconds=done.cpu_seconds + spent)

    def files(self, cell: PythonCell, files: Sequence[str]) -> list[str]:
        """Paths of the repository as the process sees them from its folder."""
        folder = cell.module.folder
        prefix = '' if folder == '.' else f'{folder}/'
        up = '../' * (folder.count('/') + 1) if prefix else ''
        return [
            path.removeprefix(prefix) if path.startswith(prefix) else up + path for path in files
        ]

    def absent(self, cell: PythonCell, files: Sequence[str]) -> list[list[str]]:
        """Files to find stand-ins for: those that load only so, with the conftests above them."""
        found: dict[str, None] = {}
        for file in files:
            if file in cell.stood_in:
                parts = file.split('/')
                above = ['/'.join((*parts[:end], 'conftest.py')) for end in range(len(parts))]
                found |= dict.fromkeys(path for path in (*above, file) if cell.has(path))
        places = self.files(cell, list(found))
        return [[place, _package(path)] for place, path in zip(places, found, strict=True)]

    def _loading(
        self, cell: PythonCell, files: Sequence[str]
    ) -> tuple[dict[str, Verdict | None], float]:
        """Of each file why it does not load; a conftest takes those below it along, no others."""
        found: dict[str, Verdict | None] = {}
        used = 0.0
        left = list(files)
        while left:
            done = self._loaded(cell, left)
            used += done.cpu_seconds
            cell.absent |= done.heard.absent
            told = {
                path: why
                for path, why in done.heard.files.items()
                if why.outcome is Outcome.COMPILE_ERROR
            }
            found |= {path: told[path] for path in left if path in told}
            others = [path for path in told if path not in left]
            below = {path: told[one] for one in others for path in left if is_below(path, one)}
            if done.heard.loaded and not below:
                return dict.fromkeys(left) | found, used
            if not below and len(left) > 1:  # one of them ends the process: each for itself
                for path in left:
                    alone, more = self._loading(cell, [path])
                    found |= alone
                    used += more
                return found, used
            ended = Verdict(outcome=Outcome.COMPILE_ERROR, signature=f'loading:{done.status}')
            found |= below or {path: found.get(path) or ended for path in left}
            left = [path for path in left if path not in found]
        return found, used

    def _loaded(self, cell: PythonCell, files: Sequence[str]) -> Done:
        request = {
            'mode': 'load',
            'files': self.files(cell, files),
            'absent': self.absent(cell, files),
        }
        done = self.ask(cell, request, ())
        if not done.heard.started:
            raise Transient(f'a test process did not start: {done.noise[-300:].strip()}')
        return done

    def _may_share(self, cell: PythonCell, sources: MainSources | None) -> bool:
        """Whether runs may be forked from one process: a patch that somebody handed in could tell by its
        neighbours in which run it is.
        """
        return self._context.own_edits or (cell.key.edits is None and sources is None)

    def _tree(self, cell: PythonCell) -> Path:
        if cell.tree is None:
            cell.tree = self._packed(cell)
        return cell.tree

    def _with_sources(self, cell: PythonCell, sources: MainSources) -> Path:
        """The tree of a cell with other sources than its own beside its code."""
        key = (cell.key, sources)
        found = self._shown.pop(key, None)
        if found is not None and found[0] is not cell.module:  # of an interpreter tried before
            found[1].unlink()
            found = None
        if found is None:
            while len(self._shown) >= _MOST_PACKED:
                self._shown.pop(next(iter(self._shown)))[1].unlink()
            found = cell.module, self._packed_with(cell, sources)
        self._shown[key] = found
        return found[1]

    def _packed_with(self, cell: PythonCell, sources: MainSources) -> Path:
        module, trees = cell.module, self._context.trees
        files = _with_made(cell)
        shown: dict[str, bytes] = {}
        if sources.rev is not None:
            texts = trees.cell(sources.rev, sources.rev, None)
            shown = sources_of(texts, trees.tests(sources.rev))
        tests = trees.tests(cell.key.tests_rev)
        own = sources_of(files, tests | {path for path, _ in _test_edits(cell.key)})
        compiled = partial(self._context.byte_code.of, installed=module.installed)
        feature = module.installed.interpreter.feature
        return self._pack(with_shown(files, own, shown, feature, compiled), cell)

    def _packed(self, cell: PythonCell) -> Path:
        """With the byte code of all that is not edited: it is made once, not by each process."""
        key, module, files = cell.key, cell.module, _with_made(cell)
        edited = {path for path, _ in (*key.edits.code, *key.edits.tests)} if key.edits else set()
        theirs = self._context.trees.tests(key.tests_rev)
        own = sources_of(files, theirs | edited)
        if sum(map(len, own.values())) <= _MOST_COMPILED:
            compiled = partial(self._context.byte_code.of, installed=module.installed)
            files = with_shown(files, own, own, module.installed.interpreter.feature, compiled)
        return self._pack(files, cell)

    def _rewritten(
        self, cell: PythonCell, sources: Sequence[tuple[str, str]]
    ) -> Sequence[Said] | None:
        """Of test files, by a process that is forked where the cell's runs are."""
        if not self._may_share(cell, None):
            return None
        request = {'mode': 'rewrite', 'sources': sources, 'date': SECONDS, 'targets': []}
        run = Run(request=request, tree=None, limits=(), cpu_seconds=LOADING_SECONDS)
        setup = PythonSetup(installed=cell.module.installed, programs=self._context.programs)
        done, _ = self._sessions.run(_session_key(cell.module, alone=False), setup, run)
        if done is None:
            return None
        return [done.heard.rewritten.get(place, _UNSAID) for place in range(len(sources))]

    def _pack(self, files: Files, cell: PythonCell) -> Path:
        module, key = cell.module, cell.key
        unedited = self._context.trees.tests(key.tests_rev) - {path for path, _ in _test_edits(key)}
        wanted = unedited & cell.imported_with(cell.asked)
        ask = partial(self._rewritten, cell)
        rewritten = self._context.rewritten.beside(files, wanted, module.installed, ask)
        major, minor = module.installed.interpreter.feature
        site = f'env/lib/python{major}.{minor}/site-packages'
        packed = {f'tree/{path}': found for path, found in {**files, **rewritten}.items()}
        for path, content in metadata(module.needs).items():
            packed[f'{site}/{path}'] = ('100644', content)
        return pack(packed, self._folder)


def _with_made(cell: PythonCell) -> dict[str, tuple[str, bytes]]:
    """The files of a cell, with modules that a build would have written."""
    files = dict(cell.files)
    for path, content in (*cell.module.written, *cell.module.compiled):
        files.setdefault(path, ('100644', content))
    return files


def _may_lack_a_name(why: Verdict) -> bool:
    """Whether stand-ins may help a file that does not load: not against a lack of data, say, in whose place a
    second load of the same files would find the same.
    """
    unknown = not why.exceptions or any(name.endswith('CollectError') for name in why.exceptions)
    return not why.syntax and (unknown or not _OF_NAMES.isdisjoint(why.exceptions))


def _remove(cell: PythonCell) -> None:
    if cell.tree is not None:
        cell.tree.unlink()
        cell.tree = None


def _session_key(module: PythonModule, alone: bool) -> SessionKey:
    return SessionKey(
        site=module.installed.site,
        interpreter=module.installed.interpreter.version,
        folder=module.folder,
        roots=module.roots,
        alone=alone,
    )


def _test_edits(key: PythonCellKey) -> tuple[tuple[str, bytes | None], ...]:
    return key.edits.tests if key.edits is not None else ()


def _package(path: str) -> str:
    """The package that a file's relative imports start from."""
    return '.'.join(path.split('/')[:-1])
