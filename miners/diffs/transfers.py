"""Code that went from one method to another: extracted into a new one, or inlined from an old one.

That the library's PurityChecker calls it pure is not enough: version 3.0.10 says so where `add(b)`
became `add(b + 1)` on the way, or was left out. So the method must also be the same at both ends,
word by word but for listed names, once the other one is put in place of its calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from coevo.languages.refactorings import Refactoring, RefactoringLocation
from miners.diffs.declarations import Declaration
from miners.diffs.inlining import Call, inline_calls
from miners.diffs.renaming import are_equal_after_renaming, collect_names

_EXTRACTIONS = ('Extract Method', 'Extract And Move Method')
_INLININGS = ('Inline Method', 'Move And Inline Method')
_HOSTS = ('source method declaration', 'target method declaration')


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """A method that code left or entered, at both ends, and the other method.

    extracted  whether the other one is new and took the code; else it is old and gave it
    calls      what calls the other method, at the end where that stands
    pure       what the PurityChecker says
    """

    extracted: bool
    old: RefactoringLocation
    new: RefactoringLocation
    other: RefactoringLocation
    calls: tuple[RefactoringLocation, ...]
    pure: bool | None


def list_transfers(found: Sequence[Refactoring]) -> Iterator[Transfer]:
    """Those that refactorings list."""
    for refactoring in found:
        extracted = refactoring.type in _EXTRACTIONS
        if not extracted and refactoring.type not in _INLININGS:
            continue
        kind = 'extracted' if extracted else 'inlined'
        there = refactoring.right if extracted else refactoring.left
        old, new = (_filter_by_role(end, *_HOSTS) for end in (refactoring.left, refactoring.right))
        other = _filter_by_role(there, f'{kind} method declaration')
        if old and new and other:
            yield Transfer(
                extracted=extracted,
                old=old[0],
                new=new[0],
                other=other[0],
                calls=_filter_by_role(there, f'{kind} method invocation'),
                pure=refactoring.pure,
            )


def _filter_by_role(
    side: Sequence[RefactoringLocation], *roles: str
) -> tuple[RefactoringLocation, ...]:
    return tuple(location for location in side if location.role.startswith(roles))


def is_same_after_undoing(transfers: Sequence[Transfer], found: Sequence[Refactoring]) -> bool:
    """Whether a method is the same at both ends with the other methods in place of their calls.

    All transfers are of one method.
    """
    if any(each.pure is False for each in transfers):
        return False
    old, new = transfers[0].old, transfers[0].new
    before = inline_calls(old, _list_calls(each for each in transfers if not each.extracted))
    after = inline_calls(new, _list_calls(each for each in transfers if each.extracted))
    if before is None or after is None:
        return False
    others = [make_declaration(each.other) for each in transfers]
    known = collect_names(found, [make_declaration(old), *others], [make_declaration(new), *others])
    return are_equal_after_renaming(before, after, known)


def _list_calls(transfers: Iterable[Transfer]) -> list[Call]:
    return [(call, each.other) for each in transfers for call in each.calls]


def make_declaration(location: RefactoringLocation) -> Declaration:
    """A location that is a declaration, as one."""
    return Declaration(
        file=location.file,
        start_line=location.start_line,
        end_line=location.end_line,
        source=location.source,
    )
