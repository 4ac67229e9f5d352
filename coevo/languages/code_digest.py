"""Digests of the code on which a result depends.

If that code changes, the result must be made again.

A digest covers each module-level definition that some roots reach by name, and the files that a
language runs inside the sandbox. Comments, docstrings, annotations of functions and the names of
local variables do not count. Example: `filters.filter_candidates` calls a new filter, and mining
reaches `filter_candidates`, so the digest of mining changes; a reworded docstring changes nothing.

If reached code contains the full name of a module as a text, the whole module counts, since `python
-m` may run it. If reached code uses `__file__` of a package, all files of the package count.
Definitions that are reached only by a name in a text (`getattr(module, 'x')`) are missed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from coevo.languages.module_code import DIGITS, Code, ModuleCode, hash_file, read_module
from coevo.storage.disk import find_cache_folder
from coevo.storage.durable import write_durably

PACKAGES = ('coevo', 'filters', 'flows', 'miners', 'packagers')
"""The packages of the product. Other imports do not count."""

_HOME = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeDigest:
    """A digest of all reached code, and in `parts` one for each module and file of that code.

    The parts are by the name of the module or the path of the file. The digest of a module covers
    only its reached definitions.
    """

    digest: str
    parts: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRoots:
    """The starting points of the search for reached code.

    names     definitions such as `flows.mining:mine_pair`
    language  a module whose definitions count if reached code mentions their names as attributes;
              all files beside it that are not Python count, too; None for no language
    members   further attributes that count as mentioned
    left_out  packages that the search does not enter: those of other languages
    """

    names: tuple[str, ...]
    language: str | None = None
    members: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def list_differing_names(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names whose parts differ between two digests, or that only one has, sorted."""
    return tuple(sorted(name for name in {*old, *new} if old.get(name) != new.get(name)))


@cache
def compute_code_digest(roots: CodeRoots) -> CodeDigest:
    """Return the digest of the installed code that some roots reach.

    The result is cached in this process, and in a file of the cache folder until a file of the
    product changes.
    """
    folders = {package: _HOME / package for package in PACKAGES}
    for name in (*roots.names, roots.language or ''):
        package = name.partition(':')[0].partition('.')[0]
        if package:
            folders.setdefault(package, _HOME / package)
    key = hashlib.sha256(repr(roots).encode() + _hash_files(tuple(folders.values())))
    cache_file = find_cache_folder() / 'code_digests' / f'{key.hexdigest()}.json'
    try:
        parts = json.loads(cache_file.read_bytes())
    except (OSError, ValueError):
        parts = digest_reached_modules_and_files(folders, roots)
        with suppress(OSError):  # a cache that cannot be written costs seconds
            write_durably(cache_file, [json.dumps(parts, sort_keys=True).encode()])
    return CodeDigest(digest=_digest_parts(parts), parts=parts)


@cache
def _hash_files(folders: Sequence[Path]) -> bytes:
    """Return a hash of the paths and contents of all files of some folders, read once a process."""
    digest = hashlib.sha256()
    for path in _list_files(folders):
        digest.update(f'{path.relative_to(_HOME)}\0'.encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()


def digest_reached_modules_and_files(
    folders: Mapping[str, Path], roots: CodeRoots
) -> dict[str, str]:
    """Return the digest of the reached part of each module and file, by the name of either.

    folders  the folder of each package, by its name
    """
    search = _Search(folders=folders, roots=roots)
    search.run()
    parts = {
        name: _digest_parts(hashes) for name, hashes in search.collect_definition_hashes().items()
    }
    for path in sorted(search.files):
        parts[search.make_relative_path(path)] = hash_file(path.name, path.read_bytes())
    return parts


def _digest_parts(parts: Mapping[str, str]) -> str:
    text = '\0'.join(f'{name}\0{digest}' for name, digest in sorted(parts.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _list_files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        for path in sorted(folder.rglob('*')):
            if path.suffix != '.pyc' and 'node_modules' not in path.parts and path.is_file():
                yield path


@dataclass(slots=True, kw_only=True)
class _Search:
    """A search for the definitions that the roots reach by name, directly or not.

    reached     module and name of each reached definition
    waiting     reached definitions whose own references are still to be followed
    begun       modules of which anything was reached
    files       further files that count as a whole
    attributes  every name that reached code mentions as an attribute
    """

    folders: Mapping[str, Path]
    roots: CodeRoots
    reached: set[tuple[str, str]] = field(default_factory=set)
    waiting: list[tuple[str, str]] = field(default_factory=list)
    begun: set[str] = field(default_factory=set)
    files: set[Path] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    modules: dict[str, ModuleCode | None] = field(default_factory=dict)

    def run(self) -> None:
        """Follow all references from the roots."""
        for root in self.roots.names:
            module, _, name = root.partition(':')
            self._reach_definition(module, name)
        self._follow_waiting_definitions()
        if self.roots.language is None:
            return
        self.attributes.update(self.roots.members)
        beside = _list_files([self._get_module_path(self.roots.language).parent])
        self.files.update(file for file in beside if file.suffix != '.py')
        while self._reach_mentioned_language_members():
            self._follow_waiting_definitions()

    def collect_definition_hashes(self) -> dict[str, dict[str, str]]:
        """Return the hashes of the reached definitions of each module, by their names."""
        hashes: dict[str, dict[str, str]] = {name: {} for name in self.begun}
        for name in self.begun:
            module = self._load(name)
            assert module is not None, 'only modules are begun'
            if module.effects is not None:
                hashes[name][''] = module.effects.digest
        for name, definition in self.reached:
            module = self._load(name)
            assert module is not None, 'only definitions of modules are reached'
            hashes[name][definition] = module.definitions[definition].digest
        return hashes

    def make_relative_path(self, path: Path) -> str:
        """Return the path of a file, beginning with the name of its package."""
        folder = next(folder for folder in self.folders.values() if path.is_relative_to(folder))
        return path.relative_to(folder.parent).as_posix()

    def _reach_mentioned_language_members(self) -> bool:
        """Reach the definitions of the language's module that reached code mentions.

        Returns whether that reached anything new.
        """
        assert self.roots.language is not None
        module = self._load(self.roots.language)
        assert module is not None, f'{self.roots.language} is no module'
        before = len(self.reached)
        for name in (*module.definitions, *module.imports):
            if name in self.attributes:
                self._reach_definition(self.roots.language, name)
        return len(self.reached) > before or bool(self.waiting)

    def _follow_waiting_definitions(self) -> None:
        while self.waiting:
            name, definition = self.waiting.pop()
            module = self._load(name)
            assert module is not None, 'only definitions of modules wait'
            self._follow_references(name, module, module.definitions[definition])

    def _follow_references(self, name: str, module: ModuleCode, code: Code) -> None:
        for before, attribute in code.attributes:
            self.attributes.add(attribute)
            target = self._resolve_module(module, before)
            if target is not None:
                self._reach_definition(target, attribute)
                if attribute == '__file__':
                    self._add_files(target)
            elif before is not None:
                self._reach_definition(name, before)
        for text in code.texts:
            if self._load(text) is not None:
                self._reach_all_definitions(text)  # as `python -m` runs it
        for source, imported in code.imports:
            self._reach_import(source, imported)
        for mentioned in code.names:
            self._reach_definition(name, mentioned)

    def _resolve_module(self, module: ModuleCode, value: str | None) -> str | None:
        """Return the name of the module of the product that a name stands for in a module.

        None if the name is not that of an imported module of the product.
        """
        if value is None or value not in module.imports:
            return None
        source, imported = module.imports[value]
        target = source if imported is None else f'{source}.{imported}'
        return target if self._load(target) is not None else None

    def _reach_definition(self, name: str, definition: str) -> None:
        module = self._load(name)
        if module is None:
            return
        if name not in self.begun:
            self.begun.add(name)
            if module.effects is not None:
                self._follow_references(name, module, module.effects)
        if definition in module.definitions:
            if (name, definition) not in self.reached:
                self.reached.add((name, definition))
                self.waiting.append((name, definition))
        elif definition in module.imports:
            self._reach_import(*module.imports[definition])
        elif self._load(f'{name}.{definition}') is not None:
            self._reach_all_definitions(f'{name}.{definition}')

    def _reach_import(self, source: str, imported: str | None) -> None:
        if imported is None:
            return  # the attributes used with it are followed instead
        target = f'{source}.{imported}'
        module = self._load(source)
        if self._load(target) is not None and (
            module is None or imported not in module.definitions
        ):
            self._reach_all_definitions(target)
        else:
            self._reach_definition(source, imported)

    def _reach_all_definitions(self, name: str) -> None:
        """Reach all definitions of a module that is used as a value.

        The module of the language is an exception: `_reach_mentioned_language_members` selects from it.
        """
        if name == self.roots.language:
            return
        module = self._load(name)
        assert module is not None, 'who asks has seen it'
        for definition in (*module.definitions, *module.imports):
            self._reach_definition(name, definition)

    def _add_files(self, name: str) -> None:
        """Add the file of a module or, for a package, all files of its folder."""
        path = self._get_module_path(name)
        self.files.update(_list_files([path.parent]) if path.name == '__init__.py' else [path])

    def _get_module_path(self, name: str) -> Path:
        path = self._locate_module(name)
        assert path is not None, f'{name} is no module'
        return path

    def _load(self, name: str) -> ModuleCode | None:
        """Read a module of the product; None for another module or one that is left out."""
        if name not in self.modules:
            path = None if self._is_left_out(name) else self._locate_module(name)
            self.modules[name] = None if path is None else read_module(path.read_bytes())
        return self.modules[name]

    def _is_left_out(self, name: str) -> bool:
        return any(f'{name}.'.startswith(f'{package}.') for package in self.roots.left_out)

    def _locate_module(self, name: str) -> Path | None:
        package, *inner = name.split('.')
        if package not in self.folders:
            return None
        path = self.folders[package].joinpath(*inner)
        for file in (path / '__init__.py', path.with_name(f'{path.name}.py')):
            if file.is_file():
                return file
        return None


def list_other_packages(modules: Collection[str], chosen: str) -> tuple[str, ...]:
    """Return the packages in which all modules but the chosen one lie, sorted.

    Example: `coevo.languages.java.language` lies in `coevo.languages.java`.
    """
    return tuple(sorted(name.rpartition('.')[0] or name for name in modules if name != chosen))
