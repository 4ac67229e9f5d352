"""Units of the code that families ask about: functions and packages, as far as text tells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass

import lizard
import lizard_languages

from coevo.languages.declarations import MODULE
from coevo.languages.declarations import DeclaredType
from coevo.languages.declarations import Located
from coevo.languages.declarations import Member
from coevo.languages.layout import Side
from coevo.languages.reading import Tree
from coevo.languages.table import reading
from coevo.model.families import Family
from coevo.model.families import Focus
from coevo.model.families import FocusKind
from coevo.model.profiles import FunctionRules
from coevo.model.profiles import ModuleRules
from coevo.model.profiles import Profile
from coevo.model.reasons import Reason
from coevo.model.records import Origin

# Of what lizard does not read.
_UNKNOWN = 'not_offered'


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeUnit:
    """A function or a package of a revision.

    name        a function as `FILE#Type.name(TYPE,…)`, a package by its folder
    focus       the function, or the files of the package
    function    its declaration; None for a package
    complexity  cyclomatic, of a function; None where lizard does not read its language
    reason      why it is not worth running; None where it is
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
        return tuple(one.file for one in self.focus)


def code_units(
    tree: Tree, language: str, families: Sequence[Family], profile: Profile
) -> Iterator[CodeUnit]:
    """Those of each family that looks at units, in the order of their names."""
    if Family.FUNCTION in families:
        yield from _functions(tree, profile.functions)
    if Family.MODULE in families:
        yield from _packages(tree, language, profile.modules)


# -- functions -------------------------------------------------------------------------------------


def _functions(tree: Tree, rules: FunctionRules) -> Iterator[CodeUnit]:
    """Functions of modules and static methods: what needs no object (ULT, "top-level functions")."""
    for path in _written(tree):
        found = [
            (type_, member)
            for type_ in tree.file(path).types
            for member in type_.members
            if member.kind == 'method' and (type_.kind == MODULE or 'static' in member.modifiers)
        ]
        known = _complexities(path, tree.content(path)) if found else {}
        for type_, member in found:
            yield _function(path, type_, member, _complexity(member, known), rules)


def _function(
    path: str, type_: DeclaredType, member: Member, complexity: int | None, rules: FunctionRules
) -> CodeUnit:
    known = _UNKNOWN if complexity is None else str(complexity)
    simple = rules.least_complexity > 0 and (
        complexity is None or complexity < rules.least_complexity
    )
    focus = Focus(
        file=path,
        declaration=f'{type_.canonical}.{member.name}',
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


def _complexities(path: str, text: bytes) -> dict[tuple[str, int], int]:
    """Of each function of a file, by its name and first line; empty where lizard does not read it."""
    if lizard_languages.get_reader_for(path) is None:
        return {}
    found = lizard.analyze_file.analyze_source_code(path, text.decode('utf-8', 'replace'))
    return {
        (one.name.rpartition('::')[2], one.start_line): one.cyclomatic_complexity
        for one in found.function_list
    }


def _complexity(member: Member, known: dict[tuple[str, int], int]) -> int | None:
    """Of the first function of its name within a declaration, which is itself."""
    lines = [
        line
        for name, line in known
        if name == member.name and member.start_line <= line <= member.end_line
    ]
    return known[member.name, min(lines)] if lines else None


# -- packages --------------------------------------------------------------------------------------


def _packages(tree: Tree, language: str, rules: ModuleRules) -> Iterator[CodeUnit]:
    folders: dict[str, list[str]] = defaultdict(list)
    for path in _written(tree):
        if tree.content(path).strip() and not reading(language).is_build_file(path):
            folders[path.rpartition('/')[0]].append(path)
    for folder, paths in sorted(folders.items()):
        counts = [len(tree.content(path).splitlines()) for path in paths]
        reason, detail = _size(rules, len(paths), sum(counts))
        yield CodeUnit(
            family=Family.MODULE,
            name=folder or '.',
            focus=tuple(_whole_file(tree, *one) for one in zip(paths, counts, strict=True)),
            reason=reason,
            detail=detail,
        )


def _size(rules: ModuleRules, files: int, lines: int) -> tuple[Reason | None, str]:
    if files < rules.least_files:
        return Reason.TOO_FEW_FILES, str(files)
    if files > rules.most_files:
        return Reason.TOO_MANY_FILES, str(files)
    return (Reason.TOO_MANY_LINES, str(lines)) if lines >= rules.fewer_lines else (None, '')


def _whole_file(tree: Tree, path: str, lines: int) -> Focus:
    types = tree.file(path).types
    return Focus(
        file=path,
        declaration=Located(path, types[0]).canonical if types else '',
        kind=FocusKind.FILE,
        start_line=1,
        end_line=max(1, lines),
    )


def _written(tree: Tree) -> Iterator[str]:
    """Sources that were written here: what is generated, or of others, is nobody's to test."""
    return (path for path in tree.paths(Side.SOURCE) if tree.origin(path) is Origin.WRITTEN)
