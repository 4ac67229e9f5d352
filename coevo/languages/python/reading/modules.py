"""Where a revision's modules lie, and what a name means that one imports from another."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from coevo.languages.declarations import Import
from coevo.languages.declarations import SourceFile
from coevo.languages.python.reading.places import absolute
from coevo.languages.python.reading.places import module_name

# Folders of a project that are put on the path beside its root.
_ROOTS = ('', 'src', 'lib', 'python')
_DEPTH = 8


class Modules:
    """The modules of one revision.

    paths   of all files
    builds  folders with a build file, '.' is the root
    read    parses a file
    """

    def __init__(
        self, paths: Collection[str], builds: Collection[str], read: Callable[[str], SourceFile]
    ) -> None:
        self._paths = paths
        self._read = read
        self._project_roots = tuple(
            '/'.join(part for part in (folder.strip('.'), root) if part)
            for folder in sorted({*builds, '.'})
            for root in _ROOTS
        )
        self._roots = lru_cache(maxsize=None)(self._find_roots)

    def imports(self, path: str, file: SourceFile) -> tuple[Import, ...]:
        """A file's imports by where what they take is declared, as far as that is in the revision.

        With them what the file takes by the name of a package that took it from elsewhere: in
        `import attr; attr.define()` `define` is that of `attr._next_gen`.
        """
        found: list[Import] = []
        for one in file.imports:
            text = absolute(one.text, module_name(path), is_package=_is_package(path))
            found.append(self._resolved(path, replace(one, text=text)))
        found += self._through(path, file, found)
        return tuple(found)

    def find(self, text: str, importer: str) -> str | None:
        """The path of a module by what is written to import it."""
        relative = text.replace('.', '/')
        for root in (*self._roots(importer.rpartition('/')[0]), *self._project_roots):
            base = f'{root}/{relative}' if root else relative
            for path in (f'{base}.py', f'{base}/__init__.py'):
                if path in self._paths:
                    return path
        return None

    def _find_roots(self, folder: str) -> tuple[str, ...]:
        """The folders above a file that Python may look for modules in: those that are no packages."""
        found = []
        while True:
            if (f'{folder}/__init__.py' if folder else '__init__.py') not in self._paths:
                found.append(folder)
            if not folder:
                return tuple(found)
            folder = folder.rpartition('/')[0]

    def _resolved(self, importer: str, one: Import) -> Import:
        if one.name == '*':
            path = self._module(one.text, importer)
            return one if path is None else replace(one, text=module_name(path))
        text, is_type = self._declared(one.text, importer, _DEPTH)
        return replace(one, text=text, name=one.name, static=one.static and not is_type)

    def _module(self, text: str, importer: str) -> str | None:
        """A module by its own name, or by what is written to import it."""
        return self.find(text, importer)

    def _declared(self, text: str, importer: str, depth: int) -> tuple[str, bool]:
        """The full name of what an import takes, and whether that is a module or class."""
        path = self._module(text, importer)
        if path is not None:
            return module_name(path), True
        holder, _, name = text.rpartition('.')
        path = self._module(holder, importer) if holder else None
        if path is None:
            return text, text.rpartition('.')[2][:1].isupper()
        return self._declared_in(path, name, depth)

    def _declared_in(self, path: str, name: str, depth: int) -> tuple[str, bool]:
        file, module = self._read(path), module_name(path)
        for type_ in file.types:
            if len(type_.around) == 1 and type_.simple == name:
                return f'{module}.{name}', True
        own = next((t for t in file.types if t.kind == 'module'), None)
        if own is not None and any(m.name == name and m.kind == 'method' for m in own.members):
            return f'{module}.{name}', False
        for one in self._taking(path, file, name) if depth else ():
            found = self._declared(one, path, depth - 1)
            if '.' in found[0]:
                return found
        return f'{module}.{name}', False

    def _taking(self, path: str, file: SourceFile, name: str) -> Iterator[str]:
        """What a module may have a name from, in full."""
        for one in file.imports:
            text = absolute(one.text, module_name(path), is_package=_is_package(path))
            if one.name == name:
                yield text
        for one in file.imports:
            text = absolute(one.text, module_name(path), is_package=_is_package(path))
            if one.name == '*' and (found := self.find(text, path)) and found != path:
                types = self._read(found).types
                if any(m.name == name for t in types[:1] for m in t.members) or any(
                    t.simple == name for t in types
                ):
                    yield f'{text}.{name}'

    def _through(self, importer: str, file: SourceFile, found: list[Import]) -> Iterator[Import]:
        """What a file names behind a module that only hands it on."""
        for one in found:
            if one.static and one.name != '*':
                continue
            path = self.find(one.text, importer)
            if path is None:
                continue
            module = self._read(path)
            for name in sorted({i.name for i in module.imports} & file.names):
                text, is_type = self._declared_in(path, name, _DEPTH)
                if text.rpartition('.')[0] != module_name(path):
                    yield replace(one, text=text, name=name, static=not is_type)


def _is_package(path: str) -> bool:
    return path.rpartition('/')[2] == '__init__.py'
