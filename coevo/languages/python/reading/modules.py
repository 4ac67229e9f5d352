"""Find where the names that a module of a revision imports are declared, and which fixtures apply
to a file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from coevo.languages.declarations import Import, SourceFile
from coevo.languages.python.reading.module_paths import (
    PythonModulePaths,
    derive_module_name,
    make_import_absolute,
)
from coevo.languages.python.reading.syntax import parse

# Find where the names that a module of a revision imports are declared.

_DEPTH = 8

_Asked = dict[str, None]
"""The paths of the modules that a result depends on, in the order of access."""


@dataclass(frozen=True, slots=True)
class _ResolvedImports:
    """The resolved imports of a file, and the contents of the modules that they depend on."""

    imports: tuple[Import, ...]
    contents: tuple[tuple[str, ModuleContents], ...]


@dataclass(slots=True)
class _ImportCache:
    answer: _ResolvedImports | None = None


@lru_cache(maxsize=4096)
def _get_import_cache(paths: PythonModulePaths, path: str, source: bytes) -> _ImportCache:
    """Return the cache entry for a file, empty at first; revisions with the same files share it."""
    return _ImportCache()


class PythonModules:
    """The modules of one revision. Lookups are cached, since most imports are of a few names.

    paths   where the modules lie
    source  returns the text of a file
    """

    def __init__(self, paths: PythonModulePaths, source: Callable[[str], bytes]) -> None:
        self._paths = paths
        self._source = source
        self._declared_in: dict[tuple[str, str, int], tuple[str, bool, _Asked]] = {}

    def resolve_imports(self, path: str, file: SourceFile) -> tuple[Import, ...]:
        """Return the imports of a file, with the full names of their declarations if known.

        A name that a package re-exports has the name of its origin, and is added if the file uses
        it through the package: in `import attr; attr.define()`, `define` is that of
        `attr._next_gen`. A re-exported name can itself be a module that re-exports more; import
        cycles end because each import is followed once. If the contents of all modules involved are
        unchanged, the same object is returned for another revision.
        """
        cache = _get_import_cache(self._paths, path, self._source(path))
        answer = cache.answer
        if answer is None or any(
            self._read_contents(module_path) is not had for module_path, had in answer.contents
        ):
            asked_paths: _Asked = {path: None}
            resolved = self._find_imports(path, file, asked_paths)
            answer = _ResolvedImports(
                resolved,
                tuple(
                    (module_path, self._read_contents(module_path)) for module_path in asked_paths
                ),
            )
            cache.answer = answer
        return answer.imports

    def _find_imports(self, path: str, file: SourceFile, asked: _Asked) -> tuple[Import, ...]:
        taken = self._read_contents(path).imports
        resolved_imports = [
            self._resolve_import(path, imported, full, asked)
            for imported, full in zip(file.imports, taken, strict=True)
        ]
        handed = resolved_imports
        while handed:
            known = frozenset(resolved_imports)
            through = self._find_reexported_imports(path, file, handed, asked)
            handed = [imported for imported in dict.fromkeys(through) if imported not in known]
            resolved_imports += handed
        return tuple(resolved_imports)

    def _read_contents(self, path: str) -> ModuleContents:
        return parse_module_contents(self._source(path), path)

    def _resolve_import(
        self, importer: str, one: Import, taken: ModuleImport, asked: _Asked
    ) -> Import:
        if one.name == '*':
            path = self._paths.find_module_path(taken.text, importer)
            return replace(one, text=taken.text if path is None else derive_module_name(path))
        text, is_type = self._find_declaration_and_if_type(taken.text, importer, _DEPTH, asked)
        return replace(one, text=text, static=one.static and not is_type)

    def _find_declaration_and_if_type(
        self, text: str, importer: str, depth: int, asked: _Asked
    ) -> tuple[str, bool]:
        """Return the full name of an imported declaration, and whether it is a module or class.

        A name outside of the revision is returned as it is; it then counts as a class if it begins
        with a capital letter.
        """
        path = self._paths.find_module_path(text, importer)
        if path is not None:
            return derive_module_name(path), True
        holder, _, name = text.rpartition('.')
        path = self._paths.find_module_path(holder, importer) if holder else None
        if path is None:
            return text, text.rpartition('.')[2][:1].isupper()
        return self._find_declaration_in_and_if_type(path, name, depth, asked)

    def _find_declaration_in_and_if_type(
        self, path: str, name: str, depth: int, asked_paths: _Asked
    ) -> tuple[str, bool]:
        """Return the full name of `name` of a module where it is declared, and if it is a type.

        Types are modules and classes. The modules that were read are added to `asked_paths`.
        """
        key = (path, name, depth)
        if key not in self._declared_in:
            own: _Asked = {path: None}
            self._declared_in[key] = (
                *self._search_module_declaration_and_if_type(path, name, depth, own),
                own,
            )
        text, is_type, rests_on = self._declared_in[key]
        asked_paths |= rests_on
        return text, is_type

    def _search_module_declaration_and_if_type(
        self, path: str, name: str, depth: int, asked: _Asked
    ) -> tuple[str, bool]:
        contents, full = self._read_contents(path), f'{derive_module_name(path)}.{name}'
        if name in contents.classes:
            return full, True
        if name in contents.functions:
            return full, False
        for origin in self._list_origins(path, contents, name, asked) if depth else ():
            declaration = self._find_declaration_and_if_type(origin, path, depth - 1, asked)
            if '.' in declaration[0]:
                return declaration
        return full, False

    def _list_origins(
        self, path: str, contents: ModuleContents, name: str, asked: _Asked
    ) -> Iterator[str]:
        """Yield the full names of what a module may import as `name`; those by `*` come last."""
        for imported in contents.imports:
            if imported.name == name:
                yield imported.text
        for imported in contents.imports:
            star_path = (
                self._paths.find_module_path(imported.text, path) if imported.name == '*' else None
            )
            if star_path and star_path != path:
                asked[star_path] = None
                if name in self._read_contents(star_path).shown:
                    yield f'{imported.text}.{name}'

    def _find_reexported_imports(
        self, importer: str, file: SourceFile, found: Sequence[Import], asked: _Asked
    ) -> Iterator[Import]:
        """Yield an import for each name that a file uses through a module that re-exports it.

        found  the imports whose modules are searched
        """
        for imported in found:
            if imported.static and imported.name != '*':
                continue
            path = self._paths.find_module_path(imported.text, importer)
            if path is None:
                continue
            asked[path] = None
            for name in sorted(self._read_contents(path).imported & file.names):
                text, is_type = self._find_declaration_in_and_if_type(path, name, _DEPTH, asked)
                if text.rpartition('.')[0] != derive_module_name(path):
                    yield replace(imported, text=text, name=name, static=not is_type)


# The names of a Python module, from its own text.


@dataclass(frozen=True, slots=True)
class ModuleImport:
    """One name that a module imports: its full absolute text, and its last part ('*' for all)."""

    text: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleContents:
    """The names that a module declares at its top level, and its imports in order.

    shown     the names that `from module import *` takes
    imported  the last parts of the names that it imports
    """

    classes: frozenset[str]
    functions: frozenset[str]
    shown: frozenset[str]
    imports: tuple[ModuleImport, ...]
    imported: frozenset[str]


@lru_cache(maxsize=2048)
def parse_module_contents(source: bytes, path: str) -> ModuleContents:
    """Return the names in a module. Cached.

    Texts of a file with the same names, which adjacent revisions mostly have, share one object.
    """
    return _share_equal(_read_contents(source, path))


@lru_cache(maxsize=2048)
def _share_equal(contents: ModuleContents) -> ModuleContents:
    return contents


def _read_contents(source: bytes, path: str) -> ModuleContents:
    file, module, is_package = parse(source, path), derive_module_name(path), _is_package(path)
    own = next((t for t in file.types if t.kind == 'module'), None)
    members = () if own is None else own.members
    first = (m.name for t in file.types[:1] for m in t.members)
    return ModuleContents(
        classes=frozenset(t.simple for t in file.types if len(t.around) == 1),
        functions=frozenset(m.name for m in members if m.kind == 'method'),
        shown=frozenset((*first, *(t.simple for t in file.types))),
        imports=tuple(
            ModuleImport(
                make_import_absolute(statement.text, module, is_package=is_package), statement.name
            )
            for statement in file.imports
        ),
        imported=frozenset(statement.name for statement in file.imports),
    )


def _is_package(path: str) -> bool:
    return path.rpartition('/')[2] == '__init__.py'


# Find the test files whose fixtures apply to a test file without an import, as pytest does.
#
# https://docs.pytest.org/en/stable/reference/fixtures.html: those of the file itself, of each
# conftest above, of the modules that `pytest_plugins` or `-p` name, and what any of these import,
# by name, by star or as a module. The packages around a file run when it is imported.

_PLUGINS = 'pytest_plugins'
_ABOVE = ('conftest.py', '__init__.py')


class FixtureModules:
    """A finder of the test files whose fixtures apply to a test file, for one revision. Cached.

    tests    the paths of all Python files of the tests
    parse    returns a file without the context of its revision
    read     returns the content of a file
    plugins  returns the modules that the settings of a file's project load by `-p`
    """

    def __init__(
        self,
        modules: PythonModulePaths,
        tests: Collection[str],
        parse: Callable[[str], SourceFile],
        read: Callable[[str], bytes],
        plugins: Callable[[str], Sequence[str]],
    ) -> None:
        self._modules, self._tests = modules, frozenset(tests)
        self._parse, self._read, self._plugins = parse, read, plugins
        self._named: dict[str, tuple[str, ...]] = {}
        self._found: dict[str, tuple[str, ...]] = {}

    def find_fixture_files(self, path: str) -> tuple[str, ...]:
        """Return the other test files whose fixtures a test file may use, nearest first.

        These are conftests and packages above it, plugins, and what any of them imports.
        """
        if path not in self._found:
            seen = dict.fromkeys(
                [path, *self._list_fixture_files_above(path), *self._list_plugins_in_settings(path)]
            )
            queue = list(seen)
            while queue:
                new = [
                    other
                    for other in self._list_imported_test_files(queue.pop(0))
                    if other not in seen
                ]
                seen |= dict.fromkeys(new)
                queue += new
            del seen[path]
            self._found[path] = tuple(seen)
        return self._found[path]

    def _list_fixture_files_above(self, path: str) -> Iterator[str]:
        folder = path
        while folder:
            folder = folder.rpartition('/')[0]
            for name in _ABOVE:
                above = f'{folder}/{name}' if folder else name
                if above in self._tests and above != path:
                    yield above

    def _list_plugins_in_settings(self, path: str) -> Iterator[str]:
        for name in self._plugins(path):
            yield from self._find_test_module(name, path)

    def _list_imported_test_files(self, path: str) -> tuple[str, ...]:
        """Return the test files that a test file imports or names as plugins; cached."""
        if path not in self._named:
            self._named[path] = tuple(dict.fromkeys(self._search_imported_test_files(path)))
        return self._named[path]

    def _search_imported_test_files(self, path: str) -> Iterator[str]:
        for imported in parse_module_contents(self._read(path), path).imports:
            yield from self._find_test_module(imported.text, path)
            yield from self._find_test_module(imported.text.rpartition('.')[0], path)
        for member in (m for type_ in self._parse(path).types[:1] for m in type_.members):
            if member.name == _PLUGINS:
                for name in sorted(member.strings):
                    yield from self._find_test_module(name, path)

    def _find_test_module(self, name: str, importer: str) -> Iterator[str]:
        path = self._modules.find_module_path(name, importer) if name else None
        if path is not None and path in self._tests:
            yield path
