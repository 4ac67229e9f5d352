"""Tests of one version of a file put into another version: the start state the other way round.

With them comes what they need and that version lacks; what only their former selves use goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from coevo.languages.golang.surgery.pieces import GoOutline, GoPiece, make_outline
from coevo.languages.golang.surgery.start_state import GoCutPlan, check_start_file
from coevo.languages.surgery import Graft, OriginalTest, StartTarget
from coevo.model.records import TestMethod


def transplant_tests(
    old: bytes,
    new: bytes,
    grafts: Sequence[Graft],
    *,
    used_elsewhere: AbstractSet[str] = frozenset(),
) -> bytes:
    """The old file with tests of the new one; StartStateInvalid where that makes no file.

    used_elsewhere  names by which other files may use what the old file declares
    """
    file = make_outline(old)
    targets: dict[GoPiece, StartTarget] = {}
    inserted = []
    for graft in grafts:
        original = OriginalTest(method=graft.new, source=new)
        replaced = graft.old or _find_function_alike(file, graft.new)
        if replaced is None:
            inserted.append(original)
        else:
            targets[file.find_piece(replaced, 'old')] = StartTarget(
                method=replaced, original=original
            )
    text = GoCutPlan(file, targets, used_elsewhere, inserted).carry_out()
    check_start_file(file, text, [OriginalTest(method=graft.new, source=new) for graft in grafts])
    return text


def _find_function_alike(file: GoOutline, method: TestMethod) -> TestMethod | None:
    """A function of the same name that was no test, or was not seen to be one."""
    named = any(
        piece.kind == 'func' and piece.names == (method.test_method,) for piece in file.pieces
    )
    return method if named else None
