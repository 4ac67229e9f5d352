"""Tests of one version of a file put into another version: the start state the other way round.

With them comes what they need and that version lacks; what only their former selves use goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from coevo.languages.golang.surgery.pieces import GoOutline
from coevo.languages.golang.surgery.pieces import GoPiece
from coevo.languages.golang.surgery.pieces import outline
from coevo.languages.golang.surgery.start_state import GoCutPlan
from coevo.languages.golang.surgery.start_state import check
from coevo.languages.surgery import Graft
from coevo.languages.surgery import Original
from coevo.languages.surgery import StartTarget
from coevo.model.records import TestMethod


def transplant(
    old: bytes,
    new: bytes,
    grafts: Sequence[Graft],
    *,
    used_elsewhere: AbstractSet[str] = frozenset(),
) -> bytes:
    """The old file with tests of the new one; StartStateInvalid where that makes no file.

    used_elsewhere  names by which other files may use what the old file declares
    """
    file = outline(old)
    targets: dict[GoPiece, StartTarget] = {}
    inserted = []
    for graft in grafts:
        original = Original(method=graft.new, source=new)
        place = graft.old or _alike(file, graft.new)
        if place is None:
            inserted.append(original)
        else:
            targets[file.find(place, 'old')] = StartTarget(method=place, original=original)
    made = GoCutPlan(file, targets, used_elsewhere, inserted).carry_out()
    check(file, made, [Original(method=graft.new, source=new) for graft in grafts])
    return made


def _alike(file: GoOutline, method: TestMethod) -> TestMethod | None:
    """A function of the same name that was no test, or was not seen to be one."""
    named = any(
        piece.kind == 'func' and piece.names == (method.test_method,) for piece in file.pieces
    )
    return method if named else None
