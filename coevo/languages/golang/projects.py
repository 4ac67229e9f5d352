"""The modules of a revision and what they need: go.mod and go.sum as the go command completes them.

Versions that go.mod and go.sum do not pin are the newest at the pair's date.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from coevo.git.objects import LINK
from coevo.git.repository import Repository
from coevo.languages.core.cell_files import CellFiles, pack_files
from coevo.languages.golang.module_listing import ListedModule, ModuleLister, parse_hashes
from coevo.languages.golang.reading.imports import (
    ImportingFile,
    add_workspace_replacements,
    find_module_path_fault,
    find_owning_module,
    guess_root_import_path,
    make_go_mod_path,
    parse_module_path,
)
from coevo.languages.golang.reading.layout import (
    GO_MOD,
    GO_WORK,
    VENDOR,
    VENDORED,
    VENDORING,
    is_go_package_file,
    is_test_path,
)
from coevo.languages.golang.reading.trees import GoTree, open_tree
from coevo.languages.golang.standard_library import PreparedToolchain
from coevo.languages.golang.toolchains import SOURCES, find_language_level_at, parse_numbers
from coevo.model.pair_rows import LibraryEntry

GO_SUM = 'go.sum'
_MOST_MODULES = 64
_EXTERNAL = '_test'


@dataclass(frozen=True, slots=True, kw_only=True)
class GoProject:
    """A revision with the go.mod and go.sum files as the go command completes them.

    path       of the module at its root; without one, the path by which the tree imports itself
    folders    of its modules that have tests, sorted; '.' is the root
    files      go.mod and go.sum of each module, by path in the repository
    libraries  of each module, by its folder
    failures   why a module cannot be read, by its folder
    vendored   the folders of modules whose libraries are those of their folder `vendor`
    """

    path: str
    folders: tuple[str, ...]
    files: Mapping[str, bytes]
    libraries: Mapping[str, tuple[LibraryEntry, ...]]
    failures: Mapping[str, str]
    vendored: frozenset[str] = frozenset()

    @property
    def import_path_by_folder(self) -> dict[str, str]:
        """The import path of each module, by its folder."""
        return {
            folder: parse_module_path(self.files[make_go_mod_path(folder)])
            for folder in self.folders
        }

    @property
    def root_in_sandbox(self) -> str:
        """The folder of the revision's tree in the sandbox."""
        return f'{SOURCES}/{self.path}'

    def find_module_folder(self, package: str) -> str:
        """Return the folder of the module to which a package folder belongs."""
        return find_owning_module(package, self.folders)

    def list_flags(self, package: str) -> list[str]:
        """Return the flags of the go command for a package: `-mod=vendor`, or none."""
        return [VENDORING] if self.find_module_folder(package) in self.vendored else []

    @property
    def settings_digest(self) -> str:
        """A digest of the files that decide which libraries are used."""
        text = repr((self.path, sorted(self.files.items()), sorted(self.vendored)))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleDescription:
    """The modules of a revision according to its files alone, before the go command runs.

    path     of the module at its root; without one, the path by which the tree imports itself
    folders  of its modules that have tests, sorted; '.' is the root
    texts    go.mod and go.sum by path; a go.mod is made up if there is none at the root
    level    the newest language level that a module requires
    needs    a digest of everything that decides what is downloaded
    refused  by folder, why a module's path cannot be that of a folder; this decides the verdict on
             its tests
    """

    path: str
    folders: tuple[str, ...]
    texts: Mapping[str, bytes]
    level: tuple[int, ...]
    needs: str
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def refusal(self) -> str | None:
        """The reason why the whole revision cannot be laid out; None if it can."""
        return self.refused.get('.')


def describe_modules(
    repository: Repository, rev: str, name: str, when: datetime | None
) -> ModuleDescription:
    """Return the modules of a revision by its files alone; nothing is run or downloaded.

    Modules without tests are left out, except the one at the root. If the root has no go.mod, one
    is made up. `replace` lines stand for a workspace.

    name  of the repository, such as owner/name
    when  a tree without a go.mod gets the language level of that day
    """
    seen = open_tree(repository, rev)
    texts = dict(_load_go_mod_and_sum_files(seen))
    roots = sorted(posixpath.dirname(path) or '.' for path in texts if path.endswith(GO_MOD))
    if '.' not in roots:
        path = _guess_root_import_path(seen) or f'github.com/{name}'
        level = find_language_level_at(when.date() if when else None)
        texts[GO_MOD] = f'module {path}\n\ngo {level}\n'.encode()
        roots = ['.', *roots]
    if GO_WORK in seen.entries:
        texts = add_workspace_replacements(texts, seen.read_content(GO_WORK))
    path = parse_module_path(texts[GO_MOD]) or f'github.com/{name}'
    folders = tuple(folder for folder in roots if folder == '.' or _has_tests(seen, folder, roots))
    folders = folders[:_MOST_MODULES]
    levels = [_parse_language_level(texts[make_go_mod_path(folder)]) for folder in folders]
    vendored = sorted(
        (path, repr(entry.oid)) for path, entry in seen.entries.items() if path.endswith(VENDORED)
    )
    needs = repr(
        (path, folders, sorted(texts.items()), sorted(_list_imports_by_folder(seen)), vendored)
    )
    return ModuleDescription(
        path=path,
        folders=folders,
        texts=texts,
        level=max(levels),
        needs=hashlib.sha256(needs.encode(errors='surrogateescape')).hexdigest(),
        refused=dict(_list_refused_folders(path, folders, texts)),
    )


def _list_refused_folders(
    path: str, folders: Sequence[str], texts: Mapping[str, bytes]
) -> Iterator[tuple[str, str]]:
    for folder in folders:
        fault = find_module_path_fault(
            path if folder == '.' else parse_module_path(texts[make_go_mod_path(folder)])
        )
        if fault is not None:
            yield folder, f'module_path:{fault}'


def resolve_by_downloading_modules(
    repository: Repository,
    rev: str,
    described: ModuleDescription,
    lister: ModuleLister,
    made: PreparedToolchain,
    folder: Path,
    when: datetime | None,
) -> GoProject:
    """Download all that packages and tests of a revision import, and return the completed project.

    The folder `vendor` of a module is used if it has packages that no proxy has.

    lister  runs the go command in the sandbox
    folder  holds the archive of the files that the go command reads
    when    where no version is required, nothing newer is used; None for now

    Raises:
        Transient: the network or the sandbox failed.
    """
    folders = [each for each in described.folders if each not in described.refused]
    compiled = _load_files_for_listing(repository, rev, described.texts)
    with _pack_temporarily(compiled, folder) as tree_file:
        listed = lister.download_and_list_modules(made, tree_file, folders, when)
    vendored: set[str] = set()
    doubtful = [each for each in folders if listed[each].failure or listed[each].lacking]
    if wanting := [each for each in doubtful if _join_path(each, VENDORED) in repository.tree(rev)]:
        compiled |= _load_vendored_files(repository, rev, wanting)
        with _pack_temporarily(compiled, folder) as tree_file:
            again = lister.download_and_list_modules(made, tree_file, wanting, when, VENDORING)
        vendored = {each for each in wanting if _is_more_complete(again[each], listed[each])}
        listed |= {each: again[each] for each in vendored}
    files = dict(described.texts)
    libraries: dict[str, tuple[LibraryEntry, ...]] = {}
    failures = dict(described.refused)
    for module, answer in listed.items():
        if answer.failure is not None:
            failures[module] = answer.failure
            continue
        files[make_go_mod_path(module)] = answer.go_mod
        if answer.go_sum:
            files[_join_path(module, GO_SUM)] = answer.go_sum
        libraries[module] = tuple(_list_libraries(answer))
    return GoProject(
        path=described.path,
        folders=described.folders,
        files=files,
        libraries=libraries,
        failures=failures,
        vendored=frozenset(vendored),
    )


@contextmanager
def _pack_temporarily(files: CellFiles, folder: Path) -> Iterator[Path]:
    tree_file = pack_files(files, folder)
    try:
        yield tree_file
    finally:
        tree_file.unlink()


def _is_more_complete(vendored: ListedModule, plain: ListedModule) -> bool:
    """Return whether a module can be listed better with its folder `vendor` than without.

    False if the go command refuses that folder, since it does not agree with go.mod.
    """
    if vendored.failure is not None:
        return False
    return plain.failure is not None or vendored.lacking < plain.lacking


def _load_vendored_files(repository: Repository, rev: str, modules: Sequence[str]) -> CellFiles:
    """Return the files in the folders `vendor` of some modules, except symbolic links."""
    tops = tuple(f'{_join_path(module, VENDOR)}/' for module in modules)
    return {
        path: (entry.mode, repository.blob(entry.oid))
        for path, entry in repository.tree(rev).items()
        if path.startswith(tops) and entry.mode != LINK
    }


def _list_libraries(listed: ListedModule) -> Iterator[LibraryEntry]:
    """Yield the listed modules, each with a SHA-256 of the hash (`h1:`) that go.sum has for it."""
    known = {(path, version): digest for path, version, digest in parse_hashes(listed.go_sum)}
    for path, version in listed.modules:
        digest = known.get((path, version), '')
        yield LibraryEntry(
            coordinates=f'{path}@{version}', sha256=hashlib.sha256(digest.encode()).hexdigest()
        )


def _load_go_mod_and_sum_files(seen: GoTree) -> Iterator[tuple[str, bytes]]:
    for path, entry in seen.entries.items():
        folders, name = posixpath.split(path)
        parts = folders.split('/')
        aside = (
            VENDOR in parts
            or is_test_path(path)
            or not is_go_package_file(_join_path(folders, 'a.go'))
        )
        if name in (GO_MOD, GO_SUM) and not aside and entry.mode != LINK:
            yield path, seen.read_content(path)


def _has_tests(seen: GoTree, folder: str, roots: list[str]) -> bool:
    """Return whether a module has test files that are not in a module nested in it."""
    nested = tuple(f'{root}/' for root in roots if root.startswith(f'{folder}/'))
    return any(
        path.startswith(f'{folder}/') and path.endswith('_test.go') and not path.startswith(nested)
        for path in seen.entries
    )


def _parse_language_level(go_mod: bytes) -> tuple[int, ...]:
    for line in go_mod.decode(errors='replace').splitlines():
        words = line.split()
        if words[:1] == ['go'] and len(words) > 1:
            return parse_numbers(words[1])
    return ()


def _list_imports_by_folder(seen: GoTree) -> set[tuple[str, str]]:
    return {
        (posixpath.dirname(path), import_.text)
        for path in seen.entries
        if is_go_package_file(path) and VENDOR not in path.split('/')
        for import_ in seen.parse_alone(path).imports
    }


def _guess_root_import_path(seen: GoTree) -> str:
    paths = [p for p in seen.entries if is_go_package_file(p) and VENDOR not in p.split('/')]
    folders = frozenset(posixpath.dirname(path) or '.' for path in paths)
    return guess_root_import_path((_describe_imports(seen, path) for path in paths), folders)


def _describe_imports(seen: GoTree, path: str) -> ImportingFile:
    parsed = seen.parse_alone(path)
    clause = parsed.types[0].simple if parsed.types else ''
    return ImportingFile(
        folder=posixpath.dirname(path) or '.',
        package=clause.removesuffix(_EXTERNAL),
        is_external=path.endswith('_test.go') and clause.endswith(_EXTERNAL),
        imports=tuple(import_.text for import_ in parsed.imports),
    )


def _load_files_for_listing(
    repository: Repository, rev: str, texts: Mapping[str, bytes]
) -> CellFiles:
    """Return the Go files of a revision and some go.mod files, without `vendor` and links.

    The go command learns the imports from them. None of them can be run.

    texts  go.mod and go.sum by path
    """
    files = {
        path: (entry.mode, repository.blob(entry.oid))
        for path, entry in repository.tree(rev).items()
        if path.endswith('.go') and entry.mode != LINK and VENDOR not in path.split('/')
    }
    return files | {path: ('100644', content) for path, content in texts.items()}


def _join_path(folder: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(folder, name))
