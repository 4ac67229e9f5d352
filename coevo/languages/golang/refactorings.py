"""Finds the refactorings of a pair of Go revisions: what was renamed or moved and nothing more.

A declaration of old that is gone and one of new that has appeared are one declaration if they are
equal word by word, but for names that were renamed consistently: their own, those of other
declarations for which the same holds, and local ones. If several would fit, none is listed. Kinds
have the names that RefactoringMiner gives them (Tsantalis et al., IEEE TSE 2020). Code that was
extracted or inlined is not looked for.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from coevo.git.repository import Repository
from coevo.languages.golang.reading.layout import VENDOR, is_go_package_file
from coevo.languages.golang.reading.submitted_files import list_bound_names, list_words
from coevo.languages.golang.reading.trees import GoTree, open_tree
from coevo.languages.reading import DeclarationPart, Word
from coevo.languages.refactorings import (
    Refactoring,
    RefactoringLocation,
    Refactorings,
    RefactoringStatus,
)

_MOST_ROUNDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A kind of declaration, as RefactoringMiner names it.

    word          in the names of refactorings
    element_type  in the locations of refactorings
    """

    word: str
    element_type: str


_KINDS = {
    'method': _Kind(word='Method', element_type='METHOD_DECLARATION'),
    'field': _Kind(word='Attribute', element_type='FIELD_DECLARATION'),
    'type': _Kind(word='Class', element_type='TYPE_DECLARATION'),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class _GoDeclaration:
    """A function, method, variable, constant or type at one end; `owner` is a method's type."""

    path: str
    kind: str
    owner: str
    name: str
    lines: tuple[int, int]
    source: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The full name: package folder, kind, type and name."""
        return self.path.rpartition('/')[0], self.kind, self.owner, self.name

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The words of its text, with what each may name."""
        return list_words(self.source)

    @cached_property
    def skeleton(self) -> tuple[str, ...]:
        """The words in order, with '' for each word that a renaming may change."""
        parts = DeclarationPart
        return (self.kind, *(w.text if w.part is parts.REST else '' for w in self.words))


_Renamed = frozenset[tuple[str, str]]


class GoRefactoringFinder:
    """A finder of renamed and moved declarations between two revisions; it has no state.

    It is a `coevo.languages.refactorings.RefactoringFinder`.
    """

    def find(self, repository: Repository, old: str, new: str) -> Refactorings:
        """Return renamings and moves between two revisions, sorted; the status is always `found`.

        Only files that differ are read, without those of `vendor`.
        """
        start = time.thread_time()
        files = repository.list_changes(old, new)
        before = _list_declarations(
            open_tree(repository, old), [f.path for f in files if f.old_oid]
        )
        after = _list_declarations(open_tree(repository, new), [f.path for f in files if f.new_oid])
        listed = sorted(
            find_renamings_and_moves(before, after),
            key=lambda each: (each.left, each.type, each.right),
        )
        return Refactorings(
            status=RefactoringStatus.FOUND,
            refactorings=tuple(listed),
            cpu_seconds=time.thread_time() - start,
        )

    def close(self) -> None:
        """Do nothing: no process is started."""


def _list_declarations(tree: GoTree, paths: Sequence[str]) -> list[_GoDeclaration]:
    return [
        declaration
        for path in paths
        if is_go_package_file(path) and VENDOR not in path.split('/')
        for declaration in _read_declarations(tree, path)
    ]


def _read_declarations(tree: GoTree, path: str) -> Iterator[_GoDeclaration]:
    content = tree.read_content(path)
    for type_ in tree.parse_alone(path).types:
        if type_.around and type_.end_byte > type_.start_byte:
            text = content[type_.start_byte : type_.end_byte].decode(errors='replace')
            yield _GoDeclaration(
                path=path,
                kind='type',
                owner='',
                name=type_.simple,
                lines=(type_.start_line, type_.end_line),
                source=text,
            )
        for member in type_.members:
            if member.kind in _KINDS:
                yield _GoDeclaration(
                    path=path,
                    kind=member.kind,
                    owner=type_.simple if type_.around else '',
                    name=member.name,
                    lines=(member.start_line, member.end_line),
                    source=member.source,
                )


def find_renamings_and_moves(
    before: Sequence[_GoDeclaration], after: Sequence[_GoDeclaration]
) -> Iterator[Refactoring]:
    """Yield a refactoring for each declaration that was renamed or moved, then for each local name.

    Local names are compared in matched declarations and in those that kept their names.
    """
    olds, news = ({each.key: each for each in end} for end in (before, after))
    vanished = [each for key, each in olds.items() if key not in news]
    appeared = [each for key, each in news.items() if key not in olds]
    matches = _match_declarations(vanished, appeared)
    for old, new in matches.items():
        yield _make_refactoring(old, new)
    renamed = _list_renamed_names(matches)
    stayed = [(old, news[key]) for key, old in olds.items() if key in news]
    for old, new in (*matches.items(), *stayed):
        if old.source != new.source:
            yield from _find_local_renamings(old, new, renamed)


def _match_declarations(
    vanished: Sequence[_GoDeclaration], appeared: Sequence[_GoDeclaration]
) -> dict[_GoDeclaration, _GoDeclaration]:
    """Return which new declaration each vanished one became; without a certain one it is left out.

    Repeated in rounds: each knows the renamings that the round before it found.
    """
    by_skeleton: Mapping[tuple[str, ...], list[_GoDeclaration]] = defaultdict(list)
    for each in appeared:
        by_skeleton[each.skeleton].append(each)
    matches: dict[_GoDeclaration, _GoDeclaration] = {}
    for _ in range(_MOST_ROUNDS):
        renamed = _list_renamed_names(matches)
        fitting = {
            old: [
                new for new in by_skeleton[old.skeleton] if _are_same_declaration(old, new, renamed)
            ]
            for old in vanished
        }
        taken = [new for candidates in fitting.values() for new in candidates]
        certain_matches = {
            old: candidates[0]
            for old, candidates in fitting.items()
            if len(candidates) == 1 and taken.count(candidates[0]) == 1
        }
        if certain_matches == matches:
            break
        matches = certain_matches
    return matches


def _list_renamed_names(matches: Mapping[_GoDeclaration, _GoDeclaration]) -> _Renamed:
    return frozenset((old.name, new.name) for old, new in matches.items() if old.name != new.name)


def _are_same_declaration(old: _GoDeclaration, new: _GoDeclaration, renamed: _Renamed) -> bool:
    own = {(old.name, new.name), (old.owner, new.owner)}
    return _find_differing_local_names(old, new, renamed | own) is not None


def _find_differing_local_names(
    old: _GoDeclaration, new: _GoDeclaration, renamed: _Renamed
) -> dict[str, str] | None:
    """Return the local names that differ between two declarations, old name to new name.

    None if anything else differs, other than names in `renamed`.
    """
    if old.skeleton != new.skeleton:
        return None
    local_old, local_new = _list_local_names(old), _list_local_names(new)
    forward: dict[str, str] = {}
    backward: dict[str, str] = {}
    for old_word, new_word in zip(old.words, new.words, strict=True):
        if old_word.part is DeclarationPart.REST:
            continue
        pair = old_word.text, new_word.text
        if forward.setdefault(pair[0], pair[1]) != pair[1]:
            return None
        if backward.setdefault(pair[1], pair[0]) != pair[0] or old_word.part is not new_word.part:
            return None
        is_local = pair[0] in local_old and pair[1] in local_new
        if pair[0] != pair[1] and pair not in renamed and not is_local:
            return None
    return {
        left: right
        for left, right in forward.items()
        if left != right and (left, right) not in renamed
    }


def _list_local_names(one: _GoDeclaration) -> frozenset[str]:
    """Return the names that a function declares in its own scope; none for other declarations."""
    if one.kind != 'method':
        return frozenset()
    return list_bound_names(one.source)


def _find_local_renamings(
    old: _GoDeclaration, new: _GoDeclaration, renamed: _Renamed
) -> Iterator[Refactoring]:
    own = {(old.name, new.name), (old.owner, new.owner)}
    for left, right in (_find_differing_local_names(old, new, renamed | own) or {}).items():
        yield Refactoring(
            type='Rename Variable',
            description=f'Rename Variable {left} to {right} in {new.name}',
            left=(
                _make_location(old, 'VARIABLE_DECLARATION', left, 'original variable declaration'),
            ),
            right=(
                _make_location(new, 'VARIABLE_DECLARATION', right, 'renamed variable declaration'),
            ),
            pure=True,
        )


def _make_refactoring(old: _GoDeclaration, new: _GoDeclaration) -> Refactoring:
    kind = _KINDS[old.kind]
    is_renamed = old.name != new.name
    is_moved = (old.key[0], old.owner) != (new.key[0], new.owner)
    verb = 'Move And Rename' if is_renamed and is_moved else 'Move' if is_moved else 'Rename'
    type_ = f'{verb} {kind.word}'
    return Refactoring(
        type=type_,
        description=f'{type_} {_describe(old)} to {_describe(new)}',
        left=(_make_location(old, kind.element_type, _format_name(old), 'original declaration'),),
        right=(_make_location(new, kind.element_type, _format_name(new), 'new declaration'),),
        pure=True,
    )


def _format_name(one: _GoDeclaration) -> str:
    return f'{one.name}()' if one.kind == 'method' else one.name


def _describe(one: _GoDeclaration) -> str:
    owner = f'{one.owner}.' if one.owner else ''
    return f'{owner}{_format_name(one)} in {one.path}'


def _make_location(
    one: _GoDeclaration, element_type: str, element: str, role: str
) -> RefactoringLocation:
    first, last = one.lines
    return RefactoringLocation(
        file=one.path,
        start_line=first,
        end_line=last,
        element_type=element_type,
        element=element,
        role=role,
        start_column=1,
        end_column=1,
        source=one.source,
    )
