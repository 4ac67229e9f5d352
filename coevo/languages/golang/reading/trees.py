"""The Go files of one revision: which are tests or code, their packages and their types.

A package folder takes the place of a module, since it is what is compiled together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from coevo.git.objects import LINK
from coevo.git.repository import Repository
from coevo.languages.declarations import DeclaredType, Import, LocatedType, Member
from coevo.languages.golang.reading.declared import MARK, is_embedded, list_embed_patterns
from coevo.languages.golang.reading.imports import (
    GoModulePaths,
    ImportingFile,
    guess_root_import_path,
    parse_module_path,
)
from coevo.languages.golang.reading.layout import (
    ASSEMBLED,
    GO_MOD,
    TEST_SUFFIX,
    VENDOR,
    GoFile,
    GoFileHead,
    ImportEdge,
    find_test_only_packages,
    is_go_package_file,
    is_test_path,
    may_be_test_only_package,
)
from coevo.languages.golang.reading.syntax import parse, parse_head
from coevo.languages.located_types import (
    PlacedFiles,
    find_folder_above,
    find_kind_of_code,
    find_meant_test_types,
    group_paths_by_side,
    index_test_types,
    list_paths_of_side,
)
from coevo.languages.reading import ProductionKind, Side
from coevo.model.records import FileOrigin, compute_short_hash

_EXTERNAL = '_test'

Package = tuple[str, str]
"""A folder, and the name in the package clause."""


class GoTree:
    """The Go files of one revision, as `coevo.languages.reading.RevisionTree` requires them.

    A file is parsed only if it, or a file that imports it, is requested.
    """

    paths_by_side = cached_property(group_paths_by_side)
    list_paths = list_paths_of_side
    test_types = cached_property(index_test_types)
    resolve_test_type = find_meant_test_types

    def __init__(self, repository: Repository, rev: str) -> None:
        self._repository = repository
        self.entries = repository.tree(rev)
        self._files: dict[str, GoFile] = {}
        self._origins: dict[str, FileOrigin] = {}
        self._seen: dict[str, frozenset[Package]] = {}
        self._names: dict[str, str] = {}
        self._patterns: dict[str, tuple[tuple[str, str, str], ...]] = {}

    def parse_file(self, path: str) -> GoFile:
        """Return a parsed file with its context in the revision: see `GoFileContext`."""
        if path not in self._files:
            self._files[path] = self._parse_in_context(path)
        return self._files[path]

    def read_content(self, path: str) -> bytes:
        """Return the content of a file."""
        return self._repository.blob(self.entries[path].oid)

    def parse_alone(self, path: str) -> GoFile:
        """Return a parsed file without its context in the revision."""
        return parse(self.read_content(path), path)

    def _read_head(self, path: str) -> GoFileHead:
        return parse_head(self.read_content(path))

    def _parse_in_context(self, path: str) -> GoFile:
        """Return a parsed file with its context in the revision, without caching it in this tree.

        A file imports all names of the packages of the revision that it imports, and of its own
        package. Test files also see the names of the test files of their package.
        """
        parsed = self.parse_alone(path)
        imports = [self._resolve_import(import_) for import_ in parsed.imports]
        own = _get_package_name(parsed)
        if own and not own.endswith(_EXTERNAL):
            imports.append(_make_wildcard_import(own, 0))
        seen = (own, own.removesuffix(_EXTERNAL)) if self.belongs_to_tests(path) else ()
        around = GoFileContext(
            imports=tuple(imports),
            interfaces=tuple(dict.fromkeys(seen)),
            embedded=self._digest_files_by_embedding_variable(path),
        )
        return _PLACED.place(self.read_content(path), path, around)

    def _resolve_import(self, one: Import) -> Import:
        folder = self.module_paths.find_package_folder(one.text)
        return (
            one
            if folder is None
            else _make_wildcard_import(self._find_package_name(folder), one.start_byte)
        )

    def _find_package_name(self, folder: str) -> str:
        """Return the most frequent name in the package clauses of a folder, without its `_test`.

        Test files count only if there are no others. '' for a folder without Go files.
        """
        if folder not in self._names:
            paths = self._paths_by_folder.get(folder, ())
            sources = [path for path in paths if not path.endswith(TEST_SUFFIX)] or paths
            counts = Counter(self._read_head(path).package for path in sources)
            names = [name for name, count in counts.items() if count == max(counts.values())]
            self._names[folder] = min(names, default='').removesuffix(_EXTERNAL)
        return self._names[folder]

    def find_origin(self, path: str) -> FileOrigin:
        """Return whether a file was written in this project, generated, or copied into it."""
        if path not in self._origins:
            source, types = self.read_content(path), self.parse_alone(path).types
            starts = [member.start_byte for type_ in types[:1] for member in type_.members]
            starts += [type_.start_byte for type_ in types[1:]]
            first = min(starts, default=len(source))
            self._origins[path] = find_origin(path, source, first)
        return self._origins[path]

    def find_side(self, path: str) -> Side | None:
        """Return SOURCE or TEST for a Go file that is compiled; None for links and all other files.

        None, too, for a vendored `_test.go` file.
        """
        entry = self.entries.get(path)
        if entry is None or entry.mode == LINK or not is_go_package_file(path):
            return None
        if self.belongs_to_tests(path):
            return Side.TEST
        return None if path.endswith(TEST_SUFFIX) else Side.SOURCE

    def find_production_kind(self, path: str) -> ProductionKind | None:
        """Return CODE for a Go file of the code, and OTHER for assembly beside one; else None."""
        folder, _, name = path.rpartition('/')
        entry = self.entries.get(path)
        if entry is None or entry.mode == LINK or not name.endswith(ASSEMBLED):
            return find_kind_of_code(self, path)
        is_compiled = not name.startswith(('_', '.')) and (folder or '.') in self._paths_by_folder
        return ProductionKind.OTHER if is_compiled and not self.belongs_to_tests(path) else None

    def belongs_to_code(self, path: str) -> bool:
        """Return whether a file of any kind belongs to the code: not to the tests."""
        return not self.belongs_to_tests(path)

    def belongs_to_tests(self, path: str) -> bool:
        """Return whether a file of any kind belongs to the tests.

        These are test files, files below `testdata`, all files of a package that serves tests
        alone, and files that only tests embed.
        """
        if is_test_path(path) or self.find_module_folder(path) in self._test_only_folders:
            return True
        embedders = () if is_go_package_file(path) else self.find_embedders(path)
        return bool(embedders) and all(map(self.belongs_to_tests, embedders))

    def find_embedders(self, path: str) -> tuple[str, ...]:
        """Return the Go files that compile a file in by `//go:embed`, sorted.

        Only files of the same Go module can. The file need not exist at this revision.
        """
        embedders: dict[str, None] = {}
        for folder in map(str, PurePosixPath(path).parents):
            relative = path if folder == '.' else path[len(folder) + 1 :]
            embedders |= {
                file: None
                for file, _, pattern in self._list_embed_file_variable_pattern(folder)
                if is_embedded(pattern, relative)
            }
            if (GO_MOD if folder == '.' else f'{folder}/{GO_MOD}') in self.entries:
                break
        return tuple(sorted(embedders))

    def _list_embed_file_variable_pattern(self, folder: str) -> tuple[tuple[str, str, str], ...]:
        """Return Go file, variable and pattern of each `//go:embed` directive of a package."""
        if folder not in self._patterns:
            self._patterns[folder] = tuple(
                (path, member.name, pattern)
                for path in self._paths_by_folder.get(folder, ())
                if MARK in self.read_content(path)
                for type_ in self.parse_alone(path).types[:1]
                for member in type_.members
                for pattern in list_embed_patterns(member.tokens)
            )
        return self._patterns[folder]

    def _digest_files_by_embedding_variable(self, path: str) -> tuple[tuple[str, str], ...]:
        """Return the variables of a Go file that embed files, each with a digest of these files."""
        folder = path.rpartition('/')[0]
        own = [
            row for row in self._list_embed_file_variable_pattern(folder or '.') if row[0] == path
        ]
        if not own:
            return ()
        files: dict[str, list[str]] = {}
        for other, entry in sorted(self.entries.items()):
            relative = other[len(folder) + 1 :] if folder else other
            if not other.startswith(folder) or path not in self.find_embedders(other):
                continue
            for _, name, pattern in own:
                if is_embedded(pattern, relative):
                    files.setdefault(name, []).append(f'{relative} {entry.oid!r}')
        return tuple((name, compute_short_hash(*rows)) for name, rows in sorted(files.items()))

    def find_module_folder(self, path: str) -> str:
        """Return the nearest folder at or above a file that has Go files; '.' if there is none.

        This package folder takes the place of a module. The file may be of any kind.
        """
        return find_folder_above(path, self._paths_by_folder)

    @cached_property
    def _paths_by_folder(self) -> dict[str, tuple[str, ...]]:
        """The paths of the Go files that are compiled, by folder."""
        by_folder: dict[str, list[str]] = {}
        for path in self.entries:
            if is_go_package_file(path):
                by_folder.setdefault(path.rpartition('/')[0] or '.', []).append(path)
        return {folder: tuple(paths) for folder, paths in by_folder.items()}

    @cached_property
    def module_paths(self) -> GoModulePaths:
        """The paths of the Go modules, by which imports are found.

        Without any go.mod, the path of the root is guessed from the imports.
        """
        folders = frozenset(self._paths_by_folder)
        roots = {
            path.rpartition('/')[0] or '.': parse_module_path(self.read_content(path))
            for path in self.entries
            if path.rpartition('/')[2] == GO_MOD and VENDOR not in path.split('/')
        }
        if not roots:
            roots = {'.': guess_root_import_path(self._describe_imports(), folders)}
        return GoModulePaths(roots, folders)

    def _describe_imports(self) -> Iterator[ImportingFile]:
        for folder, paths in self._paths_by_folder.items():
            for path in paths if VENDOR not in folder.split('/') else ():
                head = self._read_head(path)
                yield ImportingFile(
                    folder=folder,
                    package=head.package.removesuffix(_EXTERNAL),
                    is_external=path.endswith(TEST_SUFFIX) and head.package.endswith(_EXTERNAL),
                    imports=head.imports,
                )

    @cached_property
    def _test_only_folders(self) -> frozenset[str]:
        """The folders of packages that serve tests alone."""
        candidates = frozenset(filter(may_be_test_only_package, self._paths_by_folder))
        return (
            find_test_only_packages(candidates, self._list_import_edges())
            if candidates
            else frozenset()
        )

    def _list_import_edges(self) -> Iterator[ImportEdge]:
        for folder, paths in self._paths_by_folder.items():
            for path in paths:
                for import_path in self._read_head(path).imports:
                    imported = self.module_paths.find_package_folder(import_path)
                    if imported is not None and imported != folder:
                        yield ImportEdge(
                            importer=folder, imported=imported, by_test=path.endswith(TEST_SUFFIX)
                        )

    def find_types_sharing_fixtures(self, path: str) -> tuple[LocatedType, ...]:
        """Return the parts of the package with which the tests of a file share their binary.

        A package and its external tests (`foo` and `foo_test`) are one binary. The `TestMain`,
        `init` and variables `_` of both run, though neither sees the names of the other's test
        files. () for a file that is no test file.
        """
        if not path.endswith(TEST_SUFFIX):
            return ()
        folder, clause = self.find_package(path)
        base = clause.removesuffix(_EXTERNAL)
        packages = {base, base + _EXTERNAL} - {clause}
        return tuple(
            LocatedType(other, type_)
            for other in self._paths_by_folder.get(folder, ())
            if other.endswith(TEST_SUFFIX) and self.find_package(other)[1] in packages
            for type_ in self.parse_file(other).types[:1]
        )

    def is_visible(self, path: str, type_: LocatedType) -> bool:
        """Return whether a file can refer to a type by its simple name or with its package.

        It can if the type's package is its own or one that it imports.
        """
        folder = type_.path.rpartition('/')[0] or '.'
        return (folder, type_.outermost_simple_name) in self._list_visible_packages(path)

    def can_see(self, path: str, other: str) -> bool:
        """Return whether a file may use declarations of another file: same package, or imported."""
        return self.find_package(other) in self._list_visible_packages(path)

    def find_package(self, path: str) -> Package:
        """Return the package of a file: its folder, and the name in its package clause."""
        return path.rpartition('/')[0] or '.', self._read_head(path).package

    def list_other_files_of_package(self, path: str) -> tuple[str, ...]:
        """Return the paths of the other files of a file's package, both of code and of tests."""
        package = self.find_package(path)
        return tuple(
            other
            for other in self._paths_by_folder.get(package[0], ())
            if other != path
            and self.find_side(other) is not None
            and self.find_package(other) == package
        )

    def _list_visible_packages(self, path: str) -> frozenset[Package]:
        """Return a file's own package and the packages of the revision that it imports."""
        if path not in self._seen:
            folders = map(self.module_paths.find_package_folder, self._read_head(path).imports)
            packages = {
                (each, self._find_package_name(each)) for each in folders if each is not None
            }
            self._seen[path] = frozenset({self.find_package(path), *packages})
        return self._seen[path]


def _get_package_name(file: GoFile) -> str:
    """Return the name in a file's package clause; '' if it has none."""
    return file.types[0].simple if file.types else ''


def _make_wildcard_import(package: str, at: int) -> Import:
    """Return the record of an import of all names of a package of the revision.

    at  the offset of the import in the file
    """
    return Import(text=package, name='*', static=True, start_byte=at, end_byte=at)


@lru_cache(maxsize=4)
def open_tree(repository: Repository, rev: str) -> GoTree:
    """Return the tree of a revision; cached, since neighbouring pairs of a walk share one end."""
    return GoTree(repository, rev)


# Rules that recognize, by path and head, files that were not written by hand. Generated files
# declare it in one agreed line
# (https://pkg.go.dev/cmd/go#hdr-Generate_Go_files_by_processing_source), older ones in various
# words. The other rules are based on GitHub Linguist
# (https://github.com/github-linguist/linguist/blob/main/lib/linguist/vendor.yml).

_VENDORED = re.compile(
    r'_?vendor(s|ed)?|Godeps|_workspace|_?(third|3rd)[-_]?party|extern(al|als)?', re.IGNORECASE
)
_NAMES = re.compile(r'.*\.pb(\.gw)?|.*_grpc\.pb|bindata|zz_generated.*|.*\.generated')
_AGREED = re.compile(rb'^// Code generated .* DO NOT EDIT\.\r?$', re.MULTILINE)
_COMMENT = re.compile(rb'//[^\n]*|/\*.*?\*/', re.DOTALL)
_SAYS = re.compile(
    rb'\b(?:auto(?:matically)?[\s-]*)?generated\b.*\bdo\s+not\s+(?:edit|modify|change)\b'
    rb'|\bdo\s+not\s+(?:edit|modify|change)\b.*\bgenerated\b'
    rb'|(?://|/\*)\s*(?:this\s+(?:file|code)\s+(?:is|was)\s+)?(?:auto(?:matically)?[\s-]*)?'
    rb'generated\s+(?:by|from|with)\b',
    re.IGNORECASE | re.DOTALL,
)


def find_origin(path: str, source: bytes, first_byte: int) -> FileOrigin:
    """Return whether a file is VENDORED, GENERATED or WRITTEN, by its path and its first comments.

    first_byte  the start of its first declaration
    """
    *folders, name = path.removesuffix('.go').split('/')
    if any(map(_VENDORED.fullmatch, folders)):
        return FileOrigin.VENDORED
    head = source[:first_byte]
    if _NAMES.fullmatch(name):
        return FileOrigin.GENERATED
    comments = b'\n'.join(_COMMENT.findall(head))
    if _AGREED.search(head) or _SAYS.search(comments):
        return FileOrigin.GENERATED
    return FileOrigin.WRITTEN


@dataclass(frozen=True, slots=True, kw_only=True)
class GoFileContext:
    """Facts about a file that follow from the rest of the revision.

    imports     the imports with the names that they stand for
    interfaces  of its package: the packages of the test tree whose names the file sees
    embedded    a digest of the files that each variable embeds; they are part of what it is
    """

    imports: tuple[Import, ...]
    interfaces: tuple[str, ...] = ()
    embedded: tuple[tuple[str, str], ...] = ()


def _apply_context(parsed: GoFile, around: GoFileContext) -> GoFile:
    first, others = parsed.types[:1], parsed.types[1:]
    placed = (_apply_context_to_package_type(type_, around) for type_ in first)
    placed_file = replace(parsed, imports=around.imports, types=(*placed, *others))
    if not around.embedded:
        return placed_file
    return replace(placed_file, hash=compute_short_hash(parsed.hash, repr(around.embedded)))


def _apply_context_to_package_type(type_: DeclaredType, around: GoFileContext) -> DeclaredType:
    placed = replace(type_, interfaces=around.interfaces)
    if not around.embedded:
        return placed
    embedded = dict(around.embedded)
    return replace(
        placed,
        header_hash=compute_short_hash(type_.header_hash, repr(around.embedded)),
        members=tuple(
            _add_embedded_digest(member, embedded[member.name])
            if member.kind == 'field' and member.name in embedded
            else member
            for member in type_.members
        ),
    )


def _add_embedded_digest(member: Member, digest: str) -> Member:
    return replace(
        member,
        hash=compute_short_hash(member.hash, digest),
        bare_hash=compute_short_hash(member.bare_hash, digest),
    )


_PLACED = PlacedFiles(parse, _apply_context)
