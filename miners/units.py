"""List the units of the code for the families of suites: functions and packages, judged by text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import lizard
import lizard_languages

from coevo.languages.declarations import MODULE, DeclaredType, LocatedType, Member
from coevo.languages.layout import Side
from coevo.languages.reading import RevisionTree
from coevo.languages.table import get_reading
from coevo.model.families import Family, Focus, FocusKind
from coevo.model.profiles import FunctionRules, ModuleRules, Profile
from coevo.model.reasons import Reason
from coevo.model.records import FileOrigin

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
