"""The modules of a revision, and what they need: go.mod and go.sum as the go command completes them.

What go.mod and go.sum do not pin is the newest of the pair's date.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from datetime import datetime
from pathlib import Path

from coevo.git.objects import LINK
from coevo.git.repository import Repository
from coevo.languages.golang.module_listing import ListedModule
from coevo.languages.golang.module_listing import ModuleLister
from coevo.languages.golang.module_listing import hashes
from coevo.languages.golang.places import SOURCES
from coevo.languages.golang.reading.layout import GO_MOD
from coevo.languages.golang.reading.layout import GO_WORK
from coevo.languages.golang.reading.layout import VENDOR
from coevo.languages.golang.reading.layout import is_compiled
from coevo.languages.golang.reading.layout import is_test_path
from coevo.languages.golang.reading.module_paths import ImportingFile
from coevo.languages.golang.reading.module_paths import go_mod_of
from coevo.languages.golang.reading.module_paths import module_path
from coevo.languages.golang.reading.module_paths import module_path_fault
from coevo.languages.golang.reading.module_paths import own_path
from coevo.languages.golang.reading.module_paths import owner_of
from coevo.languages.golang.reading.trees import GoTree
from coevo.languages.golang.reading.trees import tree
from coevo.languages.golang.reading.workspaces import joined
from coevo.languages.golang.standard_library import Prepared
from coevo.languages.golang.toolchains import level_of
from coevo.languages.golang.toolchains import numbers
from coevo.languages.packed_files import pack
from coevo.model.environments import LibraryEntry

GO_SUM = 'go.sum'
_MOST_MODULES = 64
_EXTERNAL = '_test'


@dataclass(frozen=True, slots=True, kw_only=True)
class GoProject:
    """A revision as the go command sees it.

    path       of the module at its root, or by which it imports itself
    folders    of its modules that have tests, sorted; '.' is the root
    files      go.mod and go.sum of each, by path in the repository
    libraries  of each module
    failures   by module, why it cannot be read
    """

    path: str
    folders: tuple[str, ...]
    files: Mapping[str, bytes]
    libraries: Mapping[str, tuple[LibraryEntry, ...]]
    failures: Mapping[str, str]

    @property
    def paths(self) -> dict[str, str]:
        """The path of each module."""
        return {one: module_path(self.files[go_mod_of(one)]) for one in self.folders}

    @property
    def root(self) -> str:
        """Where its tree lies in the sandbox."""
        return f'{SOURCES}/{self.path}'

    def module_of(self, package: str) -> str:
        """The folder of the module that a package folder belongs to."""
        return owner_of(package, self.folders)

    @property
    def digest(self) -> str:
        text = repr((self.path, sorted(self.files.items())))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What a revision itself says, before the go command is asked.

    path     of the module at its root, or by which it imports itself
    folders  of its modules that have tests, sorted; '.' is the root
    texts    go.mod and go.sum by path, with one of ours where there is none at the root
    level    the newest language level that is asked for
    needs    a digest of all that decides what is downloaded
    refused  by folder, why a module's path cannot be that of a folder; its tests have no other verdict
    """

    path: str
    folders: tuple[str, ...]
    texts: Mapping[str, bytes]
    level: tuple[int, ...]
    needs: str
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def refusal(self) -> str | None:
        """Why the whole revision cannot be laid out; None if it can."""
        return self.refused.get('.')


def describe(repository: Repository, rev: str, name: str, when: datetime | None) -> Described:
    """Return what a revision says of its modules.

    name  that of the repository, such as owner/name
    when  a tree without a go.mod has the language level of that day
    """
    seen = tree(repository, rev)
    texts = dict(_stated(seen))
    roots = sorted(posixpath.dirname(path) or '.' for path in texts if path.endswith(GO_MOD))
    if '.' not in roots:
        path = _own_path(seen) or f'github.com/{name}'
        level = level_of(when.date() if when else None)
        texts[GO_MOD] = f'module {path}\n\ngo {level}\n'.encode()
        roots = ['.', *roots]
    if GO_WORK in seen.entries:
        texts = joined(texts, seen.content(GO_WORK))
    path = module_path(texts[GO_MOD]) or f'github.com/{name}'
    folders = tuple(one for one in roots if one == '.' or _has_tests(seen, one, roots))
    folders = folders[:_MOST_MODULES]
    levels = [_level(texts[go_mod_of(one)]) for one in folders]
    needs = repr((path, folders, sorted(texts.items()), sorted(_imports(seen))))
    return Described(
        path=path,
        folders=folders,
        texts=texts,
        level=max(levels),
        needs=hashlib.sha256(needs.encode(errors='surrogateescape')).hexdigest(),
        refused=dict(_refused(path, folders, texts)),
    )


def _refused(
    path: str, folders: Sequence[str], texts: Mapping[str, bytes]
) -> Iterator[tuple[str, str]]:
    for folder in folders:
        fault = module_path_fault(path if folder == '.' else module_path(texts[go_mod_of(folder)]))
        if fault is not None:
            yield folder, f'module_path:{fault}'


def resolve(
    repository: Repository,
    rev: str,
    described: Described,
    lister: ModuleLister,
    made: Prepared,
    folder: Path,
    when: datetime | None,
) -> GoProject:
    """Return the project with all that its packages and their tests import, downloaded.

    folder  of ours, for the archive of what is read

    Raises: Transient for trouble of the network or of the sandbox.
    """
    tree_file = pack(_read_files(repository, rev, described.texts), folder)
    try:
        folders = [one for one in described.folders if one not in described.refused]
        listed = lister.list_modules(made, tree_file, folders, when)
    finally:
        tree_file.unlink()
    files = dict(described.texts)
    libraries: dict[str, tuple[LibraryEntry, ...]] = {}
    failures = dict(described.refused)
    for module, answer in listed.items():
        if answer.failure is not None:
            failures[module] = answer.failure
            continue
        files[go_mod_of(module)] = answer.go_mod
        if answer.go_sum:
            files[_join(module, GO_SUM)] = answer.go_sum
        libraries[module] = tuple(_libraries(answer))
    return GoProject(
        path=described.path,
        folders=described.folders,
        files=files,
        libraries=libraries,
        failures=failures,
    )


def _libraries(listed: ListedModule) -> Iterator[LibraryEntry]:
    """Yield modules with the hash of their files that go.sum has (`h1:`)."""
    known = {(path, version): digest for path, version, digest in hashes(listed.go_sum)}
    for path, version in listed.modules:
        digest = known.get((path, version), '')
        yield LibraryEntry(
            coordinates=f'{path}@{version}', sha256=hashlib.sha256(digest.encode()).hexdigest()
        )


def _stated(seen: GoTree) -> Iterator[tuple[str, bytes]]:
    for path, entry in seen.entries.items():
        folders, name = posixpath.split(path)
        parts = folders.split('/')
        aside = VENDOR in parts or is_test_path(path) or not is_compiled(_join(folders, 'a.go'))
        if name in (GO_MOD, GO_SUM) and not aside and entry.mode != LINK:
            yield path, seen.content(path)


def _has_tests(seen: GoTree, folder: str, roots: list[str]) -> bool:
    """Whether a module has test files that are no nested module's."""
    nested = tuple(f'{one}/' for one in roots if one.startswith(f'{folder}/'))
    return any(
        path.startswith(f'{folder}/') and path.endswith('_test.go') and not path.startswith(nested)
        for path in seen.entries
    )


def _level(go_mod: bytes) -> tuple[int, ...]:
    for line in go_mod.decode(errors='replace').splitlines():
        words = line.split()
        if words[:1] == ['go'] and len(words) > 1:
            return numbers(words[1])
    return ()


def _imports(seen: GoTree) -> set[tuple[str, str]]:
    return {
        (posixpath.dirname(path), one.text)
        for path in seen.entries
        if is_compiled(path) and VENDOR not in path.split('/')
        for one in seen.parsed(path).imports
    }


def _own_path(seen: GoTree) -> str:
    paths = [p for p in seen.entries if is_compiled(p) and VENDOR not in p.split('/')]
    folders = frozenset(posixpath.dirname(path) or '.' for path in paths)
    return own_path((_importing(seen, path) for path in paths), folders)


def _importing(seen: GoTree, path: str) -> ImportingFile:
    parsed = seen.parsed(path)
    clause = parsed.types[0].simple if parsed.types else ''
    return ImportingFile(
        folder=posixpath.dirname(path) or '.',
        package=clause.removesuffix(_EXTERNAL),
        is_external=path.endswith('_test.go') and clause.endswith(_EXTERNAL),
        imports=tuple(one.text for one in parsed.imports),
    )


def _read_files(
    repository: Repository, rev: str, texts: Mapping[str, bytes]
) -> dict[str, tuple[str, bytes]]:
    """Return what the go command reads to tell what is imported: nothing that could be run is among it."""
    found = {
        path: (entry.mode, repository.blob(entry.oid))
        for path, entry in repository.tree(rev).items()
        if path.endswith('.go') and entry.mode != LINK and VENDOR not in path.split('/')
    }
    return found | {path: ('100644', content) for path, content in texts.items()}


def _join(folder: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(folder, name))
