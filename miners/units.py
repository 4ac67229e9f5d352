"""The units of the code, functions and packages, judged by text, and functions that no test is
about.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

import lizard
import lizard_languages

from coevo.languages.declarations import MODULE, DeclaredType, LocatedType, Member, SourceFile
from coevo.languages.reading import RevisionTree, Side
from coevo.languages.table import get_reading
from coevo.model.families import Family, Focus, FocusKind
from coevo.model.profiles import FunctionRules, ModuleRules, Profile
from coevo.model.reasons import Reason
from coevo.model.records import FileOrigin

# List the units of the code for the families of suites: functions and packages, judged by text.

# Stands for the complexity of a language that lizard does not read.
_UNKNOWN = 'not_offered'


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeUnit:
    """A function or a package of a revision.

    name        a function as `FILE#Type.name(TYPE,…)`, a package by its folder
    focus       the function, or the files of the package
    function    its declaration; None for a package
    complexity  cyclomatic, of a function; None if lizard does not read its language
    reason      why it is not worth running; None if it is
    """

    family: Family
    name: str
    focus: tuple[Focus, ...]
    function: Member | None = None
    type: DeclaredType | None = None
    complexity: int | None = None
    reason: Reason | None = None
    detail: str = ''

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the unit."""
        return tuple(focus.file for focus in self.focus)


def list_code_units(
    tree: RevisionTree, language: str, families: Sequence[Family], profile: Profile
) -> Iterator[CodeUnit]:
    """Yield the units of the families `function` and `module`, if they are asked for.

    Functions come first, then packages, each in the order of paths. Units with a reason are among
    them.
    """
    if Family.FUNCTION in families:
        yield from _list_functions(tree, profile.functions)
    if Family.MODULE in families:
        yield from _list_packages(tree, language, profile.modules)


# -- functions -------------------------------------------------------------------------------------


def _list_functions(tree: RevisionTree, rules: FunctionRules) -> Iterator[CodeUnit]:
    """Yield functions of modules and static methods, which need no object.

    They are the "top-level functions" of ULT.
    """
    for path in _list_handwritten_sources(tree):
        functions = [
            (type_, member)
            for type_ in tree.parse_file(path).types
            for member in type_.members
            if needs_no_object(type_, member)
        ]
        known = _measure_complexities(path, tree.read_content(path)) if functions else {}
        for type_, member in functions:
            yield _make_function_unit(path, type_, member, _find_complexity(member, known), rules)


def needs_no_object(type_: DeclaredType, member: Member) -> bool:
    """Return whether a member of a type is a function of a module, or a static method."""
    return member.kind == 'method' and (type_.kind == MODULE or 'static' in member.modifiers)


def _make_function_unit(
    path: str, type_: DeclaredType, member: Member, complexity: int | None, rules: FunctionRules
) -> CodeUnit:
    known = _UNKNOWN if complexity is None else str(complexity)
    simple = rules.least_complexity > 0 and (
        complexity is None or complexity < rules.least_complexity
    )
    focus = Focus(
        file=path,
        declaration=f'{type_.canonical_name}.{member.name}',
        kind=FocusKind.FUNCTION,
        start_line=member.start_line,
        end_line=member.end_line,
    )
    return CodeUnit(
        family=Family.FUNCTION,
        name=f'{path}#{type_.name.rpartition(".")[2]}.{member.name}({",".join(member.parameters)})',
        focus=(focus,),
        function=member,
        type=type_,
        complexity=complexity,
        reason=Reason.TOO_SIMPLE if simple else None,
        detail=known if simple else '',
    )


def _measure_complexities(path: str, text: bytes) -> dict[tuple[str, int], int]:
    """Return the complexity of each function of a file, by name and first line.

    The result is empty if lizard does not read the language.
    """
    if lizard_languages.get_reader_for(path) is None:
        return {}
    analysis = lizard.analyze_file.analyze_source_code(path, text.decode('utf-8', 'replace'))
    return {
        (function.name.rpartition('::')[2], function.start_line): function.cyclomatic_complexity
        for function in analysis.function_list
    }


def _find_complexity(member: Member, known: dict[tuple[str, int], int]) -> int | None:
    """Return the complexity of a declared function; None if it is not known.

    Functions of its name may be nested in it, so the first one within its lines counts.
    """
    lines = [
        line
        for name, line in known
        if name == member.name and member.start_line <= line <= member.end_line
    ]
    return known[member.name, min(lines)] if lines else None


# -- packages --------------------------------------------------------------------------------------


def _list_packages(tree: RevisionTree, language: str, rules: ModuleRules) -> Iterator[CodeUnit]:
    folders: dict[str, list[str]] = defaultdict(list)
    for path in _list_handwritten_sources(tree):
        if tree.read_content(path).strip() and not get_reading(language).is_build_file(path):
            folders[path.rpartition('/')[0]].append(path)
    for folder, paths in sorted(folders.items()):
        counts = [len(tree.read_content(path).splitlines()) for path in paths]
        reason, detail = _check_size(rules, len(paths), sum(counts))
        yield CodeUnit(
            family=Family.MODULE,
            name=folder or '.',
            focus=tuple(
                _make_file_focus(tree, *path_and_count)
                for path_and_count in zip(paths, counts, strict=True)
            ),
            reason=reason,
            detail=detail,
        )


def _check_size(rules: ModuleRules, files: int, lines: int) -> tuple[Reason | None, str]:
    if files < rules.least_files:
        return Reason.TOO_FEW_FILES, str(files)
    if files > rules.most_files:
        return Reason.TOO_MANY_FILES, str(files)
    return (Reason.TOO_MANY_LINES, str(lines)) if lines >= rules.fewer_lines else (None, '')


def _make_file_focus(tree: RevisionTree, path: str, lines: int) -> Focus:
    types = tree.parse_file(path).types
    return Focus(
        file=path,
        declaration=LocatedType(path, types[0]).canonical_name if types else '',
        kind=FocusKind.FILE,
        start_line=1,
        end_line=max(1, lines),
    )


def _list_handwritten_sources(tree: RevisionTree) -> Iterator[str]:
    """Yield handwritten sources; generated and vendored files need no tests."""
    return (
        path
        for path in tree.list_paths(Side.SOURCE)
        if tree.find_origin(path) is FileOrigin.WRITTEN
    )


# Choose functions that no test is about, and where a first test file about each belongs.
#
# ULT's functions are those of which no test can be found. A function is taken if its text calls no
# other declaration of the code, as ULT demands, and if no file of the tests has its name. Whether a
# test executes it, only a run shows.

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
