"""Where a revision's modules lie, and what a name means that one imports from another."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from functools import cache

from coevo.languages.declarations import Import
from coevo.languages.declarations import SourceFile
from coevo.languages.python.reading.places import absolute
from coevo.languages.python.reading.places import module_name

# Folders of a project that are put on the path beside its root.
_ROOTS = ('', 'src', 'lib', 'python')
_DEPTH = 8


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a file imports: the text in full, the name that it gets, '*' for all."""

    text: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contents:
    """The names that a module has: its own, and what it imports, in its order.

    shown  what `*` takes from it
    """

    classes: frozenset[str]
    functions: frozenset[str]
    shown: frozenset[str]
    imports: tuple[_Taken, ...]


class Modules:
    """The modules of one revision. What was asked once is kept: most imports are of a few names.

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
        self._roots = cache(self._find_roots)
        self._path_of = cache(self._find_path)
        self._contents = cache(self._read_contents)
        self._declared_in = cache(self._find_declared_in)

    def imports(self, path: str, file: SourceFile) -> tuple[Import, ...]:
        """A file's imports by where what they take is declared, as far as that is in the revision.

        With them what the file takes by the name of a package that took it from elsewhere: in
        `import attr; attr.define()` `define` is that of `attr._next_gen`. What it takes so may be a
        module that hands on more; modules that name each other are asked once.
        """
        taken = self._contents(path).imports
        found = [self._resolved(path, *each) for each in zip(file.imports, taken, strict=True)]
        handed = found
        while handed:
            known = frozenset(found)
            handed = [
                one for one in dict.fromkeys(self._through(path, file, handed)) if one not in known
            ]
            found += handed
        return tuple(found)

    def find(self, text: str, importer: str) -> str | None:
        """The path of a module by what is written to import it."""
        return self._path_of(text, importer.rpartition('/')[0])

    def _find_path(self, text: str, folder: str) -> str | None:
        relative = text.replace('.', '/')
        for root in (*self._roots(folder), *self._project_roots):
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

    def _read_contents(self, path: str) -> _Contents:
        file, module, is_package = self._read(path), module_name(path), _is_package(path)
        own = next((t for t in file.types if t.kind == 'module'), None)
        members = () if own is None else own.members
        first = (m.name for t in file.types[:1] for m in t.members)
        return _Contents(
            classes=frozenset(t.simple for t in file.types if len(t.around) == 1),
            functions=frozenset(m.name for m in members if m.kind == 'method'),
            shown=frozenset((*first, *(t.simple for t in file.types))),
            imports=tuple(
                _Taken(absolute(one.text, module, is_package=is_package), one.name)
                for one in file.imports
            ),
        )

    def _resolved(self, importer: str, one: Import, taken: _Taken) -> Import:
        if one.name == '*':
            path = self.find(taken.text, importer)
            return replace(one, text=taken.text if path is None else module_name(path))
        text, is_type = self._declared(taken.text, importer, _DEPTH)
        return replace(one, text=text, static=one.static and not is_type)

    def _declared(self, text: str, importer: str, depth: int) -> tuple[str, bool]:
        """The full name of what an import takes, and whether that is a module or class."""
        path = self.find(text, importer)
        if path is not None:
            return module_name(path), True
        holder, _, name = text.rpartition('.')
        path = self.find(holder, importer) if holder else None
        if path is None:
            return text, text.rpartition('.')[2][:1].isupper()
        return self._declared_in(path, name, depth)

    def _find_declared_in(self, path: str, name: str, depth: int) -> tuple[str, bool]:
        contents, full = self._contents(path), f'{module_name(path)}.{name}'
        if name in contents.classes:
            return full, True
        if name in contents.functions:
            return full, False
        for one in self._taking(path, contents, name) if depth else ():
            found = self._declared(one, path, depth - 1)
            if '.' in found[0]:
                return found
        return full, False

    def _taking(self, path: str, contents: _Contents, name: str) -> Iterator[str]:
        """What a module may have a name from, in full."""
        for one in contents.imports:
            if one.name == name:
                yield one.text
        for one in contents.imports:
            found = self.find(one.text, path) if one.name == '*' else None
            if found and found != path and name in self._contents(found).shown:
                yield f'{one.text}.{name}'

    def _through(
        self, importer: str, file: SourceFile, found: Sequence[Import]
    ) -> Iterator[Import]:
        """What a file names behind a module that only hands it on."""
        for one in found:
            if one.static and one.name != '*':
                continue
            path = self.find(one.text, importer)
            if path is None:
                continue
            for name in sorted({i.name for i in self._contents(path).imports} & file.names):
                text, is_type = self._declared_in(path, name, _DEPTH)
                if text.rpartition('.')[0] != module_name(path):
                    yield replace(one, text=text, name=name, static=not is_type)


def _is_package(path: str) -> bool:
    return path.rpartition('/')[2] == '__init__.py'
