"""The refactorings of a pair as rows, and in one word."""

from __future__ import annotations

from collections.abc import Iterator

from coevo.languages.refactorings import Refactorings
from coevo.languages.refactorings import RefactoringStatus
from coevo.model.quality import RefactoringRow
from coevo.model.records import Pair


def summary(refactorings: Refactorings) -> str:
    """`found`, `not_offered`, or `unknown: ` and why."""
    if refactorings.status is RefactoringStatus.UNKNOWN:
        return f'{refactorings.status}: {refactorings.why}'
    return str(refactorings.status)


def refactoring_rows(pair: Pair, refactorings: Refactorings) -> Iterator[RefactoringRow]:
    """Each with the first of its places at both ends."""
    for number, one in enumerate(refactorings.found, start=1):
        left = one.left[0] if one.left else None
        right = one.right[0] if one.right else None
        yield RefactoringRow(
            repo=pair.repo,
            walk=pair.walk,
            pair_id=pair.pair_id,
            number=number,
            type=one.type,
            description=one.description,
            left_file=left.file if left else None,
            left_start=left.start_line if left else None,
            left_end=left.end_line if left else None,
            right_file=right.file if right else None,
            right_start=right.start_line if right else None,
            right_end=right.end_line if right else None,
        )
