"""One cell: the tests of one revision on the code of another, and its known properties."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from coevo.languages.cells import CellKey, CompiledTests
from coevo.languages.core.cell_files import Files, StandIn, find_stand_ins
from coevo.languages.python.built import PythonModule
from coevo.languages.python.commands import make_target
from coevo.languages.python.layout import TestNames, find_test_file_names, select_test_paths
from coevo.languages.python.reading.module_paths import (
    PythonModulePaths,
    derive_module_name,
    get_module_paths,
)
from coevo.languages.python.reading.modules import parse_module_contents
from coevo.languages.python.run_context import PythonRunContext
from coevo.languages.python.runner import PythonRunResult
from coevo.languages.verdicts import Verdict
from coevo.model.records import TestMethod

_WORD = re.compile(rb'\w+')


@dataclass(kw_only=True)
class PythonCell:
    """A cell: the tests of one revision on the code of another, and what is known about it so far.

    module           supplies the environment and the settings of its runs
    files            all files of its tree, with all edits
    tree             the packed tree, made when it is first needed
    requested_files  the test files that the packed tree has as pytest rewrites them
    loaded           by requested test file: None if it loads, with stand-ins if need be, else the
                     verdict
    stood_in         files that load only with stand-ins (`inside/absent.py`), and why they do not
                     without
    absent           by file, class and function: a name that the function needs and the code lacks
    begun            a first run that is kept for the engine, and its methods, until it is taken
    """

    key: CellKey
    module: PythonModule
    files: Files
    tree: Path | None = None
    requested_files: set[str] = field(default_factory=set)
    loaded: dict[str, Verdict | None] = field(default_factory=dict)
    stood_in: dict[str, Verdict] = field(default_factory=dict)
    absent: dict[tuple[str, str, str], str] = field(default_factory=dict)
    begun: tuple[tuple[TestMethod, ...], PythonRunResult] | None = None
    _mentioning: dict[bytes, list[str]] = field(default_factory=dict)

    @property
    def broken_files(self) -> frozenset[str]:
        """The test files that were tried and do not load without stand-ins."""
        return frozenset((*self.stood_in, *(path for path, why in self.loaded.items() if why)))

    @cached_property
    def stand_ins(self) -> tuple[StandIn, ...]:
        """The files of which the clone lacks the content."""
        return find_stand_ins(self.files)

    @cached_property
    def _names(self) -> TestNames:
        return find_test_file_names(self.files.keys(), self.load_file)

    @cached_property
    def _test_paths(self) -> frozenset[str]:
        return select_test_paths(self.files.keys(), self._names)

    @property
    def test_files(self) -> list[str]:
        """The files of this module that may have tests, without those of projects below it."""
        folder = self.module.folder
        prefix = '' if folder == '.' else f'{folder}/'
        others = tuple(f'{project}/' for project in self.module.others)
        return [
            path
            for path in self._collectable_files
            if path.startswith(prefix) and not path.startswith(others)
        ]

    @cached_property
    def _collectable_files(self) -> list[str]:
        """The files of all modules that may have tests, sorted, without conftests."""
        theirs = (path for path in self._test_paths if self._names.is_test_file(path))
        return sorted(path for path in theirs if not path.endswith('conftest.py'))

    def load_file(self, path: str) -> bytes:
        """Return the content of a file; b'' if the tree lacks it."""
        return self.files[path][1] if path in self.files else b''

    def has_file(self, path: str) -> bool:
        """Return whether the tree has a file."""
        return path in self.files

    def declares_method(self, method: TestMethod) -> bool:
        """Return whether the text of a test's file has a `def` of its name, in any class."""
        name = re.escape(method.test_method.encode(errors='surrogateescape'))
        return (
            re.search(rb'\bdef\s+' + name + rb'\s*\(', self.load_file(method.test_file)) is not None
        )

    def find_possible_subclass_files(self, file: str, name: str) -> list[str]:
        """Return the other test files that may define subclasses of the class `name` of `file`.

        These are all test files in which the last part of the name occurs other than after `class`.
        """
        last = name.rpartition('.')[2].encode(errors='surrogateescape')
        if last not in self._mentioning:
            named = re.compile(rb'(?<!\bclass )\b' + re.escape(last) + rb'\b')
            self._mentioning[last] = [
                path
                for path in self._collectable_files
                if named.search(self.load_file(path)) is not None
            ]
        return [path for path in self._mentioning[last] if path != file]

    def list_candidate_files(self, methods: Sequence[TestMethod]) -> list[str]:
        """Return the files of the methods and those that may define subclasses of their classes.

        A method's file that the cell lacks is left out.
        """
        files: dict[str, None] = {}
        for method in methods:
            _, owner, _ = make_target(method)
            if self.has_file(method.test_file):
                files[method.test_file] = None
            if owner:
                files |= dict.fromkeys(self.find_possible_subclass_files(method.test_file, owner))
        return list(files)

    def compute_line_bounds(self, modules: Collection[str]) -> dict[str, int]:
        """Return, by path, a number above all line numbers of each file of the modules.

        modules  dotted names
        """
        return {
            path: content.count(b'\n') + content.count(b'\r') + 2
            for path, (_, content) in self.files.items()
            if path.endswith('.py') and derive_module_name(path) in modules
        }

    def find_imported_test_modules(self, files: Iterable[str]) -> list[str]:
        """Return the other modules of the tests that these files import, the most indirect first."""
        seen = dict.fromkeys(files)
        first, queue = set(seen), list(seen)
        while queue:
            path = queue.pop()
            for imported in parse_module_contents(self.load_file(path), path).imports:
                for name in (imported.text, imported.text.rpartition('.')[0]):
                    found = self._module_paths.find_module_path(name, path) if name else None
                    if found is not None and found in self._test_paths and found not in seen:
                        seen[found] = None
                        queue.append(found)
        return [path for path in reversed(seen) if path not in first]

    def derive_package(self, path: str) -> str:
        """Return the package from which relative imports of a file start; '' if it is in none.

        As for pytest, it begins below the nearest folder above the file that is no package:
        `shop.tests` for `src/shop/tests/test_till.py`.
        """
        folder, parts = path.rpartition('/')[0], list[str]()
        while folder and self.has_file(f'{folder}/__init__.py'):
            folder, _, name = folder.rpartition('/')
            parts.append(name)
        return '.'.join(reversed(parts))

    @cached_property
    def _module_paths(self) -> PythonModulePaths:
        paths = frozenset(path for path in self.files if path.endswith('.py'))
        return get_module_paths(paths, frozenset({self.module.folder}))

    def extend_to_importable_test_files(self, files: Iterable[str]) -> frozenset[str]:
        """Return the given files, all conftests, and the test files that these may import.

        A file may be imported if its module name occurs as a word anywhere in the text of another
        one.
        """
        by_name: dict[bytes, list[str]] = {}
        for path in filter(self._names.is_test_file, self._test_paths):
            name = path.rpartition('/')[2].removesuffix('.py')
            by_name.setdefault(name.encode(errors='surrogateescape'), []).append(path)
        left = [*files, *by_name.get(b'conftest', ())]
        importable = set[str]()
        while left:
            path = left.pop()
            if path not in importable:
                importable.add(path)
                names = by_name.keys() & set(_WORD.findall(self.load_file(path)))
                left += [other for name in names for other in by_name[name]]
        return frozenset(importable)


def digest_cell(context: PythonRunContext, cell: PythonCell, compiled: CompiledTests) -> str:
    """Return the digest of all that a run in a cell depends on; see `BuiltPair.digest_run_inputs`."""
    repository = context.repository
    revs = (compiled.code_rev, compiled.tests_rev)
    parts = (
        *(str(repository.header(rev).tree) for rev in revs),
        repr(replace(cell.module.needs, pins=())),  # the effect of the pins is in `locked`
        repr((cell.module.folder, cell.module.roots, cell.module.options, cell.module.written)),
        *(f'{path} {hashlib.sha256(binary).hexdigest()}' for path, binary in cell.module.compiled),
        *(f'{path} {hashlib.sha256(text).hexdigest()}' for path, text in cell.module.metadata),
        cell.module.installed.locked,
        cell.module.installed.interpreter.version,
        context.digest,
        context.sandbox.name,
        repr(compiled.borrowed),
        repr(compiled.edits),
    )
    return hashlib.sha256('\0'.join(parts).encode(errors='surrogateescape')).hexdigest()
