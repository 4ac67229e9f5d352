"""Code that went from one method to another: extracted into a new one, or inlined from an old one.

That the library's PurityChecker calls it pure is not enough: version 3.0.10 says so where `add(b)`
became `add(b + 1)` on the way, or was left out. So the other method, put in place of its call, must
also be the code as it stands at the other end, word by word, but for listed names.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass

from miners.cutting import at
from miners.cutting import call_places
from miners.cutting import code_places
from miners.cutting import without
from miners.declarations import Declaration
from miners.inlining import Inlined
from miners.inlining import inlined
from miners.refactorings import Location
from miners.refactorings import Refactoring
from miners.renaming import Names
from miners.renaming import equal_after_renaming
from miners.renaming import names

_EXTRACTIONS = ('Extract Method', 'Extract And Move Method')
_INLININGS = ('Inline Method', 'Move And Inline Method')
_HOSTS = ('source method declaration', 'target method declaration')


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """A method that code left or entered, at both ends, and the other method.

    extracted  whether the other one is new and took the code; else it is old and gave it
    code       the code in `old` if it was extracted, else in `new`
    calls      what calls the other method, at the other end
    pure       what the PurityChecker says
    """

    extracted: bool
    old: Location
    new: Location
    other: Location
    code: tuple[Location, ...]
    calls: tuple[Location, ...]
    pure: bool | None


def transfers_of(found: Sequence[Refactoring]) -> Iterator[Transfer]:
    """Those that refactorings list."""
    for one in found:
        extracted = one.type in _EXTRACTIONS
        if not extracted and one.type not in _INLININGS:
            continue
        kind = 'extracted' if extracted else 'inlined'
        here, there = (one.left, one.right) if extracted else (one.right, one.left)
        old, new = (_in_role(end, *_HOSTS) for end in (one.left, one.right))
        other = _in_role(there, f'{kind} method declaration')
        if old and new and other:
            yield Transfer(
                extracted=extracted,
                old=old[0],
                new=new[0],
                other=other[0],
                code=_in_role(here, f'{kind} code'),
                calls=_in_role(there, f'{kind} method invocation'),
                pure=one.pure,
            )


def _in_role(side: Sequence[Location], *roles: str) -> tuple[Location, ...]:
    return tuple(one for one in side if one.role.startswith(roles))


def is_same_code(transfer: Transfer, found: Sequence[Refactoring]) -> bool:
    """Whether the other method is nothing but the code, called with what the code used."""
    host, body = _host(transfer), _body(transfer)
    if transfer.pure is False or body is None:
        return False
    code = at(host, code_places(host, transfer.code, value_only=body.is_value))
    if transfer.extracted:
        known = names(found, declaration_of(host), declaration_of(transfer.other))
        return equal_after_renaming(code, body.words, known)
    known = names(found, declaration_of(transfer.other), declaration_of(host))
    return equal_after_renaming(body.words, code, known)


def equal_but_for(transfers: Sequence[Transfer], known: Names) -> bool:
    """Whether a method is the same but for the code that left or entered it by all of them."""
    gone: dict[bool, set[int]] = {True: set(), False: set()}  # at old, at new
    for each in transfers:
        body = _body(each)
        assert body is not None, 'only what is the same code is asked for'
        gone[each.extracted].update(code_places(_host(each), each.code, value_only=body.is_value))
        gone[not each.extracted].update(
            call_places(_caller(each), each.calls[0], value_only=body.is_value)
        )
    before, after = without(transfers[0].old, gone[True]), without(transfers[0].new, gone[False])
    return equal_after_renaming(before, after, known)


def _host(transfer: Transfer) -> Location:
    return transfer.old if transfer.extracted else transfer.new


def _caller(transfer: Transfer) -> Location:
    return transfer.new if transfer.extracted else transfer.old


def _body(transfer: Transfer) -> Inlined | None:
    """What stands for the call; None if there is no single call."""
    if len(transfer.calls) != 1:
        return None
    caller = _caller(transfer)
    call = at(caller, call_places(caller, transfer.calls[0], value_only=True))
    return inlined(transfer.other.source, call)


def declaration_of(location: Location) -> Declaration:
    """A location that is a declaration, as one."""
    return Declaration(
        file=location.file,
        start_line=location.start_line,
        end_line=location.end_line,
        source=location.source,
    )
