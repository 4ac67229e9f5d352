"""What a pair's row says of refactorings that nobody looks for."""

from __future__ import annotations

from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.refactorings import NoRefactoringFinder
from coevo.languages.refactorings import Refactorings
from coevo.languages.refactorings import RefactoringStatus
from coevo.languages.refactorings import RefactoringsUnknown
from flows.study.refactoring import summary
from tests import repos


def test_what_is_not_offered_is_neither_found_nor_unknown(tmp_path: Path) -> None:
    folder = repos.init(tmp_path / 'r')
    rev = repos.commit(folder, 'one', {'till_test.toy': 'sells: pass'})
    answer = NoRefactoringFinder().find(Repository(folder / '.git'), rev, rev)
    crashed = Refactorings(status=RefactoringStatus.UNKNOWN, why=RefactoringsUnknown.CRASHED)
    told = [summary(one) for one in (answer, Refactorings(status=RefactoringStatus.FOUND), crashed)]
    assert told == ['not_offered', 'found', 'unknown: crashed']
