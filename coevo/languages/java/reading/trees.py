"""The Java side of one revision: which files are tests or sources, their modules, their types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property, lru_cache
from pathlib import PurePosixPath
from xml.etree import ElementTree

from coevo.git.repository import Repository
from coevo.languages.declarations import LocatedType, SourceFile
from coevo.languages.java.reading.origins import determine_origin
from coevo.languages.java.reading.standard_folders import (
    BUILD_FILE,
    classify_path,
    find_project_folder,
    is_build_file,
)
from coevo.languages.java.reading.syntax import parse
from coevo.languages.layout import Side
from coevo.languages.located_types import find_meant_types, group_paths_by_side, index_test_types
from coevo.model.records import FileOrigin

_LINK = '120000'
_BASEDIR = re.compile(r'^\$\{(?:project\.)?basedir\}/|^\./')


class JavaTree:
    """One revision's Java files. Nothing is parsed before it is asked for."""

    def __init__(self, repository: Repository, rev: str) -> None:
        self._repository = repository
        self.entries = repository.tree(rev)
        self._files: dict[str, SourceFile] = {}
        self._sides: dict[str, Side | None] = {}
        self._origins: dict[str, FileOrigin] = {}
        self._declared_folders = cache(self._parse_declared_folders)

    def parse_file(self, path: str) -> SourceFile:
        if path not in self._files:
            self._files[path] = parse(self.read_content(path))
        return self._files[path]

    def read_content(self, path: str) -> bytes:
        return self._repository.blob(self.entries[path].oid)

    def find_origin(self, path: str) -> FileOrigin:
        """Whether a file was written here, generated, or taken from another project."""
        if path not in self._origins:
            self._origins[path] = determine_origin(
                path, self.read_content(path), self.parse_file(path)
            )
        return self._origins[path]

    def find_side(self, path: str) -> Side | None:
        """Test or source by the standard folders, else by those that the nearest POM declares."""
        if path not in self._sides:
            self._sides[path] = self._find_side(path)
        return self._sides[path]

    def _find_side(self, path: str) -> Side | None:
        entry = self.entries.get(path)
        if entry is None or entry.mode == _LINK or not path.endswith('.java'):
            return None
        placement = classify_path(path)
        if placement is None:
            return self._find_declared_side(path)
        return None if placement.is_resource else placement.side

    def is_source(self, path: str) -> bool:
        """Whether a file of whatever kind belongs to the code, which cannot see the tests."""
        return self._find_side_of_any_file(path) is Side.SOURCE

    def belongs_to_tests(self, path: str) -> bool:
        """Whether a file of whatever kind belongs to the tests."""
        return self._find_side_of_any_file(path) is Side.TEST

    def _find_side_of_any_file(self, path: str) -> Side | None:
        placement = classify_path(path)
        return self._find_declared_side(path) if placement is None else placement.side

    def _find_declared_side(self, path: str) -> Side | None:
        declared = self._declared_folders(self.find_module(path))
        return next((side for folder, side in declared if path.startswith(folder)), None)

    def find_module(self, path: str) -> str:
        """The nearest folder above a file that holds a POM; '.' for the root or where none does."""
        for folder in PurePosixPath(path).parents:
            if str(folder) in self.modules:
                return str(folder)
        return '.'

    @cached_property
    def modules(self) -> frozenset[str]:
        """Folders with a POM. Without one at the root, also those with sources at the usual places: a script
        of Gradle's may speak of folders that have none of their own."""
        folders = {str(PurePosixPath(path).parent) for path in self.entries if is_build_file(path)}
        if BUILD_FILE not in self.entries:
            folders |= {
                folder for path in self.entries if (folder := find_project_folder(path)) is not None
            }
        return frozenset(folders)

    def _parse_declared_folders(self, module: str) -> list[tuple[str, Side]]:
        pom = 'pom.xml' if module == '.' else f'{module}/pom.xml'
        if pom not in self.entries:
            return []
        prefix = '' if module == '.' else f'{module}/'
        declared = _parse_source_folders(self._repository.blob(self.entries[pom].oid))
        return [(f'{prefix}{folder}', side) for folder, side in declared]

    def list_paths(self, side: Side) -> tuple[str, ...]:
        return self._paths[side]

    @cached_property
    def _paths(self) -> dict[Side, tuple[str, ...]]:
        return group_paths_by_side(self.entries, self.find_side)

    @cached_property
    def test_types(self) -> dict[str, tuple[LocatedType, ...]]:
        """The types of the test tree by simple name."""
        return index_test_types(self)

    def resolve_type(self, path: str, simple: str) -> tuple[LocatedType, ...]:
        """The types of the test tree that a simple name may mean in a file of it."""
        return find_meant_types(self, path, simple)

    def is_visible(self, path: str, type_: LocatedType) -> bool:
        """Whether a type can be meant by its simple name in a file."""
        if path == type_.path:
            return True
        file = self.parse_file(path)
        imported = [i for i in file.imports if i.name == type_.type.simple]
        if imported:
            return any(i.text == type_.canonical for i in imported)
        if file.package == type_.package:
            return True
        if type_.type.simple != type_.outermost and type_.outermost in file.names:
            return True
        holders = {type_.package, type_.canonical.rpartition('.')[0]}
        return any(i.name == '*' and i.text in holders for i in file.imports)


@lru_cache(maxsize=4)
def open_tree(repository: Repository, rev: str) -> JavaTree:
    """The tree of a revision, kept since a walk's neighbours share one end."""
    return JavaTree(repository, rev)


@lru_cache(maxsize=1024)
def _parse_source_folders(pom: bytes) -> tuple[tuple[str, Side], ...]:
    return tuple(_iterate_source_folders(pom))


def _iterate_source_folders(pom: bytes) -> Iterator[tuple[str, Side]]:
    try:
        root = ElementTree.fromstring(pom)
    except (ElementTree.ParseError, ValueError, LookupError):
        return  # a POM that Maven cannot read either declares nothing
    for element in root.iterfind('{*}build/*'):
        name = element.tag.rpartition('}')[2]
        side = {'testSourceDirectory': Side.TEST, 'sourceDirectory': Side.SOURCE}.get(name)
        folder = _BASEDIR.sub('', (element.text or '').strip()).strip('/')
        if side is not None and folder and '$' not in folder:
            yield f'{folder}/', side
