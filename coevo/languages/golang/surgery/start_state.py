"""Which pieces of a Go file go with tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from coevo.languages.core.cut_plans import CutPlan, CuttingRules
from coevo.languages.core.old_files import OldContent
from coevo.languages.core.start_files import StartFileMaker, TestRules
from coevo.languages.declarations import Member
from coevo.languages.golang.reading.tests import is_fixture
from coevo.languages.golang.surgery.cuts import remove_pieces
from coevo.languages.golang.surgery.import_repair import repair_imports
from coevo.languages.golang.surgery.old_pieces import BRINGING
from coevo.languages.golang.surgery.old_places import add_piece
from coevo.languages.golang.surgery.pieces import GoOutline, GoPiece
from coevo.languages.text_edits import TextEdits

GoCutPlan = CutPlan[GoOutline, GoPiece]


def _may_go(plan: GoCutPlan, piece: GoPiece) -> bool:
    if piece.stays or piece.kind == 'method' or not piece.names:
        return False
    return plan.used_elsewhere.isdisjoint(piece.names)


def _list_followers(file: GoOutline, owned: AbstractSet[GoPiece]) -> Iterator[GoPiece]:
    """Variables without a name that name what goes."""
    removed_names = {name for piece in owned for name in piece.names}
    for piece in file.pieces:
        if not piece.names and not removed_names.isdisjoint(piece.uses):
            yield piece


def _remove_pieces(
    edits: TextEdits,
    plan: GoCutPlan,
    gone: Sequence[GoPiece],
    brought: OldContent[GoOutline, GoPiece],
) -> None:
    remove_pieces(edits, plan.file, gone)


def _must_stay_out(member: Member) -> bool:
    return '$' in member.owner or member.name == '_' or is_fixture(member)


def _list_duplicates(file: GoOutline) -> set[str]:
    counts = Counter(name for piece in file.pieces for name in piece.names if name != 'init')
    return {name for name, count in counts.items() if count > 1}


MAKER: StartFileMaker[GoOutline, GoPiece] = StartFileMaker(
    tests=TestRules(
        stays_out=_must_stay_out,
        list_duplicates=_list_duplicates,
        describe_duplicate=lambda name: f'the package would declare {name} twice',
        tolerates_inserted=True,
    ),
    cutting=CuttingRules(
        may_go=_may_go,
        list_followers=_list_followers,
        remove=_remove_pieces,
        add=add_piece,
        finish=repair_imports,
        is_by_name=True,
    ),
    bringing=BRINGING,
)
