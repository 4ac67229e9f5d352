"""One revision's toy files: sides by their names, modules by the build file above them."""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from coevo.git.repository import Repository
from coevo.languages.declarations import LocatedType, SourceFile
from coevo.languages.located_types import (
    find_folder_above,
    find_kind_of_code,
    find_meant_test_types,
    find_no_companions,
    find_no_embedders,
    group_paths_by_side,
    index_test_types,
    list_paths_of_side,
)
from coevo.languages.reading import Side
from coevo.model.records import FileOrigin
from tests.languages.toy.syntax import parse

SUFFIX = '.toy'
BUILD_FILE = 'toy.build'


def is_test_file(path: str) -> bool:
    """Whether a file of whatever kind belongs to the tests."""
    return PurePosixPath(path).name.startswith('test_')


class ToyTree:
    """Fulfils `coevo.languages.reading.RevisionTree`."""

    paths_by_side = cached_property(group_paths_by_side)
    list_paths = list_paths_of_side
    test_types = cached_property(index_test_types)
    resolve_test_type = find_meant_test_types
    find_types_sharing_fixtures = find_no_companions
    find_embedders = find_no_embedders
    find_production_kind = find_kind_of_code

    def __init__(self, repository: Repository, rev: str) -> None:
        self._repository = repository
        self.entries = repository.tree(rev)

    def parse_file(self, path: str) -> SourceFile:
        return parse(self.read_content(path))

    def read_content(self, path: str) -> bytes:
        return self._repository.blob(self.entries[path].oid)

    def find_origin(self, path: str) -> FileOrigin:
        return FileOrigin.WRITTEN

    def find_side(self, path: str) -> Side | None:
        if path not in self.entries or not path.endswith(SUFFIX):
            return None
        return Side.TEST if is_test_file(path) else Side.SOURCE

    def belongs_to_code(self, path: str) -> bool:
        return not is_test_file(path)

    def belongs_to_tests(self, path: str) -> bool:
        return is_test_file(path)

    @cached_property
    def module_folders(self) -> frozenset[str]:
        paths = map(PurePosixPath, self.entries)
        return frozenset(str(path.parent) for path in paths if path.name == BUILD_FILE)

    def find_module_folder(self, path: str) -> str:
        return find_folder_above(path, self.module_folders)

    def is_visible(self, path: str, type_: LocatedType) -> bool:
        """All that is declared can be named everywhere."""
        return True


@lru_cache(maxsize=8)
def open_tree(repository: Repository, rev: str) -> ToyTree:
    return ToyTree(repository, rev)
