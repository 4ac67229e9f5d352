"""The refactorings of a pair as rows, and in one word."""

from __future__ import annotations

from collections.abc import Iterator

from coevo.languages.refactorings import Refactorings, RefactoringStatus
from coevo.model.quality import RefactoringRow
from coevo.model.records import Pair


def summarise_refactorings(refactorings: Refactorings) -> str:
    """`found`, `not_offered`, or `unknown: ` and why."""
    if refactorings.status is RefactoringStatus.UNKNOWN:
        return f'{refactorings.status}: {refactorings.why}'
    return str(refactorings.status)


def build_refactoring_rows(pair: Pair, refactorings: Refactorings) -> Iterator[RefactoringRow]:
    """Each with the first of its places at both ends."""
    for number, refactoring in enumerate(refactorings.refactorings, start=1):
        left = refactoring.left[0] if refactoring.left else None
        right = refactoring.right[0] if refactoring.right else None
        yield RefactoringRow(
            repo=pair.repo,
            walk=pair.walk,
            pair_id=pair.pair_id,
            number=number,
            type=refactoring.type,
            description=refactoring.description,
            left_file=left.file if left else None,
            left_start=left.start_line if left else None,
            left_end=left.end_line if left else None,
            right_file=right.file if right else None,
            right_start=right.start_line if right else None,
            right_end=right.end_line if right else None,
        )
