"""What a pair's row says of refactorings that nobody looks for."""

from __future__ import annotations

from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.refactorings import (
    NoRefactoringFinder,
    Refactorings,
    RefactoringStatus,
    RefactoringsUnknown,
)
from flows.study.track_checks import format_refactoring_status
from tests import repos


def test_missing_refactoring_support_is_reported_as_not_offered(tmp_path: Path) -> None:
    folder = repos.init(tmp_path / 'r')
    rev = repos.commit(folder, 'one', {'till_test.toy': 'sells: pass'})
    answer = NoRefactoringFinder().find(Repository(folder / '.git'), rev, rev)
    crashed = Refactorings(status=RefactoringStatus.UNKNOWN, why=RefactoringsUnknown.CRASHED)
    told = [
        format_refactoring_status(one)
        for one in (answer, Refactorings(status=RefactoringStatus.FOUND), crashed)
    ]
    assert told == ['not_offered', 'found', 'unknown: crashed']
