"""The Go side of one revision: which files are tests or sources, their packages, their types.

What is compiled as one is the folder of a package: it takes the place of a module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from functools import lru_cache
from pathlib import PurePosixPath

from coevo.git.objects import LINK
from coevo.git.repository import Repository
from coevo.languages.declarations import Import
from coevo.languages.declarations import Located
from coevo.languages.golang.reading.files import TEST_SUFFIX
from coevo.languages.golang.reading.files import GoFile
from coevo.languages.golang.reading.layout import GO_MOD
from coevo.languages.golang.reading.layout import VENDOR
from coevo.languages.golang.reading.layout import is_compiled
from coevo.languages.golang.reading.layout import is_test_path
from coevo.languages.golang.reading.module_paths import ImportingFile
from coevo.languages.golang.reading.module_paths import ModulePaths
from coevo.languages.golang.reading.module_paths import module_path
from coevo.languages.golang.reading.module_paths import own_path
from coevo.languages.golang.reading.origins import origin_of
from coevo.languages.golang.reading.placed_files import Surroundings
from coevo.languages.golang.reading.placed_files import placed_file
from coevo.languages.golang.reading.syntax import parse
from coevo.languages.golang.reading.testing_packages import ImportEdge
from coevo.languages.golang.reading.testing_packages import may_be_for_tests
from coevo.languages.golang.reading.testing_packages import only_for_tests
from coevo.languages.layout import Side
from coevo.languages.located_types import meant
from coevo.languages.located_types import paths_by_side
from coevo.languages.located_types import types_by_name
from coevo.model.records import Origin

_EXTERNAL = '_test'

Package = tuple[str, str]
"""A folder, and the name in the package clause."""


class GoTree:
    """One revision's Go files. Nothing is parsed before it is asked for, or imported by what is."""

    def __init__(self, repository: Repository, rev: str) -> None:
        self._repository = repository
        self.entries = repository.tree(rev)
        self._files: dict[str, GoFile] = {}
        self._origins: dict[str, Origin] = {}
        self._seen: dict[str, frozenset[Package]] = {}
        self._names: dict[str, str] = {}

    def file(self, path: str) -> GoFile:
        if path not in self._files:
            self._files[path] = self._placed(path)
        return self._files[path]

    def content(self, path: str) -> bytes:
        return self._repository.blob(self.entries[path].oid)

    def parsed(self, path: str) -> GoFile:
        """As the file alone tells."""
        return parse(self.content(path), path)

    def _placed(self, path: str) -> GoFile:
        """A file as its neighbours make it: what is imported from the revision gives its names.

        So does the package that a file belongs to; its test files see each other's.
        """
        parsed = self.parsed(path)
        imports = [self._resolved(one) for one in parsed.imports]
        own = _clause(parsed)
        if own and not own.endswith(_EXTERNAL):
            imports.append(_all_of(own, 0))
        seen = (own, own.removesuffix(_EXTERNAL)) if self.is_of_tests(path) else ()
        around = Surroundings(imports=tuple(imports), interfaces=tuple(dict.fromkeys(seen)))
        return placed_file(self.content(path), path, around)

    def _resolved(self, one: Import) -> Import:
        folder = self.module_paths.folder(one.text)
        return one if folder is None else _all_of(self._package_name(folder), one.start_byte)

    def _package_name(self, folder: str) -> str:
        """What most files of a folder that are no tests have in their package clause."""
        if folder not in self._names:
            paths = self._by_folder.get(folder, ())
            sources = [path for path in paths if not path.endswith(TEST_SUFFIX)] or paths
            counts = Counter(_clause(self.parsed(path)) for path in sources)
            names = [name for name, count in counts.items() if count == max(counts.values())]
            self._names[folder] = min(names, default='').removesuffix(_EXTERNAL)
        return self._names[folder]

    def origin(self, path: str) -> Origin:
        """Whether a file was written here, generated, or taken from another project."""
        if path not in self._origins:
            source, types = self.content(path), self.parsed(path).types
            starts = [member.start_byte for type_ in types[:1] for member in type_.members]
            starts += [type_.start_byte for type_ in types[1:]]
            first = min(starts, default=len(source))
            self._origins[path] = origin_of(path, source, first)
        return self._origins[path]

    def side(self, path: str) -> Side | None:
        entry = self.entries.get(path)
        if entry is None or entry.mode == LINK or not is_compiled(path):
            return None
        if self.is_of_tests(path):
            return Side.TEST
        return None if path.endswith(TEST_SUFFIX) else Side.SOURCE

    def is_source(self, path: str) -> bool:
        """Whether a file of whatever kind belongs to the code, which cannot see the tests."""
        return not self.is_of_tests(path)

    def is_of_tests(self, path: str) -> bool:
        """Whether a file of whatever kind belongs to the tests, as all of a package does that is there for them."""
        return is_test_path(path) or self.module(path) in self._testing_folders

    def module(self, path: str) -> str:
        """The folder of the package that a file belongs to, if only as its data; '.' is the root."""
        for folder in PurePosixPath(path).parents:
            if str(folder) in self._by_folder:
                return str(folder)
        return '.'

    @cached_property
    def _by_folder(self) -> dict[str, tuple[str, ...]]:
        """The Go files of each folder."""
        found: dict[str, list[str]] = {}
        for path in self.entries:
            if is_compiled(path):
                found.setdefault(path.rpartition('/')[0] or '.', []).append(path)
        return {folder: tuple(paths) for folder, paths in found.items()}

    @cached_property
    def module_paths(self) -> ModulePaths:
        folders = frozenset(self._by_folder)
        roots = {
            path.rpartition('/')[0] or '.': module_path(self.content(path))
            for path in self.entries
            if path.rpartition('/')[2] == GO_MOD and VENDOR not in path.split('/')
        }
        if not roots:
            roots = {'.': own_path(self._importing(), folders)}
        return ModulePaths(roots, folders)

    def _importing(self) -> Iterator[ImportingFile]:
        for folder, paths in self._by_folder.items():
            for path in paths if VENDOR not in folder.split('/') else ():
                parsed = self.parsed(path)
                clause = _clause(parsed)
                yield ImportingFile(
                    folder=folder,
                    package=clause.removesuffix(_EXTERNAL),
                    is_external=path.endswith(TEST_SUFFIX) and clause.endswith(_EXTERNAL),
                    imports=tuple(one.text for one in parsed.imports),
                )

    @cached_property
    def _testing_folders(self) -> frozenset[str]:
        """The packages that are there for tests alone."""
        candidates = frozenset(filter(may_be_for_tests, self._by_folder))
        return only_for_tests(candidates, self._import_graph()) if candidates else frozenset()

    def _import_graph(self) -> Iterator[ImportEdge]:
        for folder, paths in self._by_folder.items():
            for path in paths:
                for one in self.parsed(path).imports:
                    found = self.module_paths.folder(one.text)
                    if found is not None and found != folder:
                        yield ImportEdge(
                            importer=folder, imported=found, by_test=path.endswith(TEST_SUFFIX)
                        )

    def paths(self, side: Side) -> tuple[str, ...]:
        return self._paths[side]

    @cached_property
    def _paths(self) -> dict[Side, tuple[str, ...]]:
        return paths_by_side(self.entries, self.side)

    @cached_property
    def test_types(self) -> dict[str, tuple[Located, ...]]:
        """The types of the test tree by simple name; of a package, one for each file."""
        return types_by_name(self)

    def resolve(self, path: str, simple: str) -> tuple[Located, ...]:
        """The types of the test tree that a simple name may mean in a file of it."""
        return meant(self, path, simple)

    def visible(self, path: str, type_: Located) -> bool:
        """Whether a type can be meant by its simple name, or behind its package's, in a file."""
        folder = type_.path.rpartition('/')[0] or '.'
        return (folder, type_.outermost) in self._packages_seen(path)

    def sees(self, path: str, other: str) -> bool:
        """Whether a file may use what another one declares."""
        return self.package_of(other) in self._packages_seen(path)

    def package_of(self, path: str) -> Package:
        return path.rpartition('/')[0] or '.', _clause(self.parsed(path))

    def _packages_seen(self, path: str) -> frozenset[Package]:
        """A file's own package and those of the revision that it imports."""
        if path not in self._seen:
            parsed = self.parsed(path)
            folders = (self.module_paths.folder(one.text) for one in parsed.imports)
            found = {(each, self._package_name(each)) for each in folders if each is not None}
            self._seen[path] = frozenset({self.package_of(path), *found})
        return self._seen[path]


def _clause(file: GoFile) -> str:
    """The name in a file's package clause."""
    return file.types[0].simple if file.types else ''


def _all_of(package: str, at: int) -> Import:
    """All names of a package of the revision."""
    return Import(text=package, name='*', static=True, start_byte=at, end_byte=at)


@lru_cache(maxsize=4)
def tree(repository: Repository, rev: str) -> GoTree:
    """The tree of a revision, kept since a walk's neighbours share one end."""
    return GoTree(repository, rev)
