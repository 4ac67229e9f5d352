"""What a name means that one module of a revision imports from another."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from functools import lru_cache

from coevo.languages.declarations import Import
from coevo.languages.declarations import SourceFile
from coevo.languages.python.reading.module_contents import ModuleContents
from coevo.languages.python.reading.module_contents import Taken
from coevo.languages.python.reading.module_contents import module_contents
from coevo.languages.python.reading.module_paths import ModulePaths
from coevo.languages.python.reading.places import module_name

_DEPTH = 8

_Asked = dict[str, None]
"""The paths of the modules whose contents an answer rests on, in the order of asking."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a file imports, and the contents of the modules that this rests on."""

    imports: tuple[Import, ...]
    contents: tuple[tuple[str, ModuleContents], ...]


@dataclass(slots=True)
class _KeptImports:
    answer: _Answer | None = None


@lru_cache(maxsize=4096)
def _kept(paths: ModulePaths, path: str, source: bytes) -> _KeptImports:
    """Where to keep what a file imports, for other revisions with the same files."""
    return _KeptImports()


class Modules:
    """The modules of one revision. What was asked once is kept: most imports are of a few names.

    paths   where they lie
    source  the text of a file
    """

    def __init__(self, paths: ModulePaths, source: Callable[[str], bytes]) -> None:
        self._paths = paths
        self._source = source
        self._declared_in: dict[tuple[str, str, int], tuple[str, bool, _Asked]] = {}

    def imports(self, path: str, file: SourceFile) -> tuple[Import, ...]:
        """A file's imports by where what they take is declared, as far as that is in the revision.

        With them what the file takes by the name of a package that took it from elsewhere: in
        `import attr; attr.define()` `define` is that of `attr._next_gen`. What it takes so may be a
        module that hands on more; modules that name each other are asked once. The same object where
        another revision has the same answer for the same reasons.
        """
        kept = _kept(self._paths, path, self._source(path))
        answer = kept.answer
        if answer is None or any(self._contents(one) is not had for one, had in answer.contents):
            asked: _Asked = {path: None}
            found = self._find_imports(path, file, asked)
            answer = _Answer(found, tuple((one, self._contents(one)) for one in asked))
            kept.answer = answer
        return answer.imports

    def _find_imports(self, path: str, file: SourceFile, asked: _Asked) -> tuple[Import, ...]:
        taken = self._contents(path).imports
        found = [
            self._resolved(path, one, full, asked)
            for one, full in zip(file.imports, taken, strict=True)
        ]
        handed = found
        while handed:
            known = frozenset(found)
            through = self._through(path, file, handed, asked)
            handed = [one for one in dict.fromkeys(through) if one not in known]
            found += handed
        return tuple(found)

    def _contents(self, path: str) -> ModuleContents:
        return module_contents(self._source(path), path)

    def _resolved(self, importer: str, one: Import, taken: Taken, asked: _Asked) -> Import:
        if one.name == '*':
            path = self._paths.find(taken.text, importer)
            return replace(one, text=taken.text if path is None else module_name(path))
        text, is_type = self._declared(taken.text, importer, _DEPTH, asked)
        return replace(one, text=text, static=one.static and not is_type)

    def _declared(self, text: str, importer: str, depth: int, asked: _Asked) -> tuple[str, bool]:
        """The full name of what an import takes, and whether that is a module or class."""
        path = self._paths.find(text, importer)
        if path is not None:
            return module_name(path), True
        holder, _, name = text.rpartition('.')
        path = self._paths.find(holder, importer) if holder else None
        if path is None:
            return text, text.rpartition('.')[2][:1].isupper()
        return self._declared_by(path, name, depth, asked)

    def _declared_by(self, path: str, name: str, depth: int, asked: _Asked) -> tuple[str, bool]:
        """The same of a name that a module has."""
        key = (path, name, depth)
        if key not in self._declared_in:
            own: _Asked = {path: None}
            self._declared_in[key] = (*self._find_declared(path, name, depth, own), own)
        text, is_type, rests_on = self._declared_in[key]
        asked |= rests_on
        return text, is_type

    def _find_declared(self, path: str, name: str, depth: int, asked: _Asked) -> tuple[str, bool]:
        contents, full = self._contents(path), f'{module_name(path)}.{name}'
        if name in contents.classes:
            return full, True
        if name in contents.functions:
            return full, False
        for one in self._taking(path, contents, name, asked) if depth else ():
            found = self._declared(one, path, depth - 1, asked)
            if '.' in found[0]:
                return found
        return full, False

    def _taking(
        self, path: str, contents: ModuleContents, name: str, asked: _Asked
    ) -> Iterator[str]:
        """What a module may have a name from, in full."""
        for one in contents.imports:
            if one.name == name:
                yield one.text
        for one in contents.imports:
            found = self._paths.find(one.text, path) if one.name == '*' else None
            if found and found != path:
                asked[found] = None
                if name in self._contents(found).shown:
                    yield f'{one.text}.{name}'

    def _through(
        self, importer: str, file: SourceFile, found: Sequence[Import], asked: _Asked
    ) -> Iterator[Import]:
        """What a file names behind a module that only hands it on."""
        for one in found:
            if one.static and one.name != '*':
                continue
            path = self._paths.find(one.text, importer)
            if path is None:
                continue
            asked[path] = None
            for name in sorted(self._contents(path).imported & file.names):
                text, is_type = self._declared_by(path, name, _DEPTH, asked)
                if text.rpartition('.')[0] != module_name(path):
                    yield replace(one, text=text, name=name, static=not is_type)
