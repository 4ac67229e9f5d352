"""Choose functions that no test is about, and where a first test file about each belongs.

ULT's functions are those of which no test can be found. A function is taken if its text calls no
other declaration of the code, as ULT demands, and if no file of the tests has its name. Whether a
test executes it, only a run shows.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from coevo.languages.declarations import MODULE, SourceFile
from coevo.languages.layout import Side
from coevo.languages.reading import RevisionTree
from coevo.languages.table import get_reading
from coevo.model.families import Focus
from miners.units import CodeUnit, needs_no_object

# How test files are named: before or behind what they are about, with the form of that name.
_NAMES: Sequence[tuple[re.Pattern[str], Callable[[str, str], str]]] = (
    (re.compile(r'test_(.+)'), lambda file, function: f'test_{file}_{function}'),
    (re.compile(r'(.+)_test'), lambda file, function: f'{function}_{file}_test'),
    (re.compile(r'(.+)Tests?'), lambda file, function: f'{file}{_capitalize(function)}Test'),
    (re.compile(r'Test(.+)'), lambda file, function: f'Test{file}{_capitalize(function)}'),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UntestedFunction:
    """A function without tests, and the absent file in which its first tests belong.

    focus      its body: the lines of its declaration run when its file is loaded
    module     the module of that test file
    callees    other functions and types of the code whose names it calls, sorted; it is not
               self-contained if there are any
    test_file  None if no test file of the module shows where one belongs, or a file has its name
    """

    unit: CodeUnit
    focus: tuple[Focus, ...]
    module: str
    callees: tuple[str, ...]
    test_file: str | None


def list_untested_functions(
    tree: RevisionTree, language: str, units: Iterable[CodeUnit]
) -> Iterator[UntestedFunction]:
    """Yield those functions of some units whose names no file of the tests contains."""
    texts = _RevisionTexts(tree=tree, language=language)
    for unit in units:
        function = unit.function
        if function is None or function.name in texts.names_in_tests:
            continue
        (focus,) = unit.focus
        first = function.start_line + function.source[: function.body_at].count('\n')
        yield UntestedFunction(
            unit=unit,
            focus=(replace(focus, start_line=first),),
            module=tree.find_module_folder(focus.file),
            callees=tuple(sorted((function.calls & texts.declared_names) - {function.name})),
            test_file=texts.find_path_for_new_test(focus.file, function.name),
        )


@dataclass(frozen=True, kw_only=True)
class _RevisionTexts:
    """The names in all files of a revision, read once: those declared, and those used."""

    tree: RevisionTree
    language: str

    @cached_property
    def declared_names(self) -> frozenset[str]:
        """The names of types and of functions that need no object, without those of libraries."""
        names = {
            name
            for path in self.tree.list_paths(Side.SOURCE)
            for name in _list_declared_names(self.tree.parse_file(path))
        }
        return frozenset(names) - get_reading(self.language).COMMON_CALLS

    @cached_property
    def names_in_tests(self) -> frozenset[str]:
        """All identifiers of the tests."""
        files = map(self.tree.parse_file, self.tree.list_paths(Side.TEST))
        return frozenset[str]().union(*(file.names for file in files))

    def find_path_for_new_test(self, source: str, function: str) -> str | None:
        """Return the path for a new test file about a function; None if there is none.

        It is named like the test file of the module that is nearest to the source, and lies beside
        it. In languages with packages of types it lies in the package of the source.
        """
        module, stem = self.tree.find_module_folder(source), PurePosixPath(source).stem
        near = self._test_files.get(module, ())
        for path in sorted(near, key=lambda path: (not _is_about(path, stem), len(path), path)):
            name = _name_test_file(PurePosixPath(path).stem, stem, function)
            folder = self._find_test_folder(path, source)
            if name is None or folder is None:
                continue
            new_path = str(PurePosixPath(folder) / f'{name}{PurePosixPath(source).suffix}')
            return None if new_path in self.tree.entries else new_path
        return None

    @cached_property
    def _test_files(self) -> Mapping[str, Sequence[str]]:
        """The files with tests, by module."""
        paths: dict[str, list[str]] = defaultdict(list)
        for path in self.tree.list_paths(Side.TEST):
            if self._has_tests(path):
                paths[self.tree.find_module_folder(path)].append(path)
        return paths

    def _has_tests(self, path: str) -> bool:
        return bool(get_reading(self.language).find_tests(self.tree.parse_file(path), lambda _: ()))

    def _find_test_folder(self, test_file: str, source: str) -> str | None:
        """Return the folder for tests of a source, by that of another test file.

        None if both are of different packages, and the folder of the other file does not mirror
        its package.
        """
        folder, file = str(PurePosixPath(test_file).parent), self.tree.parse_file(test_file)
        package = self.tree.parse_file(source).package
        if file.package == package or any(type_.kind == MODULE for type_ in file.types):
            return folder
        mirrored = file.package.replace('.', '/')
        if not mirrored or not f'/{folder}'.endswith(f'/{mirrored}'):
            return None
        return str(PurePosixPath(folder.removesuffix(mirrored)) / package.replace('.', '/'))


def _list_declared_names(file: SourceFile) -> Iterator[str]:
    for type_ in file.types:
        if type_.kind != MODULE:
            yield type_.simple
        yield from (member.name for member in type_.members if needs_no_object(type_, member))


def _is_about(test_file: str, stem: str) -> bool:
    """Return whether a test file is named after a source file with this stem."""
    name = PurePosixPath(test_file).stem
    return any(match is not None and match[1] == stem for match in _match_test_name_patterns(name))


def _match_test_name_patterns(name: str) -> Iterator[re.Match[str] | None]:
    return (pattern.fullmatch(name) for pattern, _ in _NAMES)


def _name_test_file(like: str, stem: str, function: str) -> str | None:
    """Return the stem of a test file about a function, named like another one; None if unusual."""
    return next((form(stem, function) for pattern, form in _NAMES if pattern.fullmatch(like)), None)


def _capitalize(name: str) -> str:
    return name[:1].upper() + name[1:]
