"""What a commit does to tests and source, as the labelled methods of a pair are asked about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.java.reading.trees import open_tree
from coevo.languages.java.refactorings.miner import RefactoringMiner
from coevo.languages.reading import Side
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Walk
from miners.diffs.only_refactored import (
    is_source_only_refactored,
    is_test_only_refactored as only_refactored,
)
from miners.diffs.sources import SourceChange, find_source_changes
from tests import repos

pytestmark = pytest.mark.jvm

MAIN, TEST = 'src/main/java/p/Basket.java', 'src/test/java/p/BasketTest.java'
SOURCE = """package p;

@Fragile(1)
public class Basket {
    private final int least = 3;

    enum Size {
        SMALL, LARGE
    }

    int price(int pieces) {
        return Math.max(pieces, least) * 2;
    }

    boolean isFree(int pieces) {
        return price(pieces) == 0;
    }
}
"""
TESTS = """package p;

class BasketTest {
    @Test
    void prices() {
        assertEquals(6, new Basket().price(1));
        assertFalse(new Basket().isFree(1));
    }
}
"""


@pytest.fixture(scope='module')
def miner() -> Iterator[RefactoringMiner]:
    with RefactoringMiner() as opened:
        yield opened


def asked(
    folder: Path, miner: RefactoringMiner, *edits: tuple[str, str]
) -> tuple[bool | None, bool | None, tuple[SourceChange, ...]]:
    """Whether the test and the source are only refactored, and what changes in the source."""
    repo = repos.init(folder / 'repository')
    files = {MAIN: SOURCE, TEST: TESTS, 'pom.xml': '<project/>'}
    old = repos.commit(repo, 'old', files)
    edited = dict(files)
    for before, after in edits:
        edited = {k: v.replace(before, after) for k, v in edited.items()}
    new = repos.commit(repo, 'new', edited)
    repository = Repository(repo / '.git')
    ends = repository.get_commit(old), repository.get_commit(new)
    pair = Pair(
        repo='local/r',
        language='java',
        walk=Walk.PARENTS,
        old=ends[0],
        new=ends[1],
        old_is_ancestor=True,
    )
    trees = open_tree(repository, old), open_tree(repository, new)
    changes = find_source_changes(*trees, *(side.list_paths(Side.SOURCE) for side in trees))
    test = TestMethod(
        module='.', test_file=TEST, test_class='p.BasketTest', test_method='prices', parameters=()
    )
    refactorings = miner.find(repository, old, new)
    return (
        only_refactored(repository, pair, refactorings, (test, test)),
        is_source_only_refactored(repository, pair, refactorings, changes),
        changes,
    )


def test_rename_in_source_and_test_is_only_refactored(
    tmp_path: Path, miner: RefactoringMiner
) -> None:
    test, source, changes = asked(tmp_path, miner, ('price(', 'cost('))
    assert (test, source) == (True, True)
    assert len(changes) == 3  # one that is removed, one that is inserted, their caller


def test_changed_constant_beside_a_rename_is_not_only_refactored(
    tmp_path: Path, miner: RefactoringMiner
) -> None:
    test, source, _ = asked(tmp_path, miner, ('price(', 'cost('), ('least = 3', 'least = 4'))
    assert (test, source) == (True, False)


def test_changed_expectation_beside_a_rename_is_not_only_refactored(
    tmp_path: Path, miner: RefactoringMiner
) -> None:
    test, source, _ = asked(
        tmp_path, miner, ('price(', 'cost('), ('assertEquals(6', 'assertEquals(8')
    )
    assert (test, source) == (False, True)


@pytest.mark.parametrize(
    'edit', [('SMALL, LARGE', 'SMALL, LARGE, HUGE'), ('@Fragile(1)', '@Fragile(2)')]
)
def test_change_outside_of_members_is_not_only_refactored(
    tmp_path: Path, miner: RefactoringMiner, edit: tuple[str, str]
) -> None:
    _, source, changes = asked(tmp_path, miner, edit)
    assert source is False
    assert [change.member for change in changes] == [None]


def test_renamed_field_is_only_refactored(tmp_path: Path, miner: RefactoringMiner) -> None:
    _, source, changes = asked(tmp_path, miner, ('least', 'lowest'))
    assert source is True
    assert len(changes) == 2


def test_renamed_nested_type_is_only_refactored_as_a_whole(
    tmp_path: Path, miner: RefactoringMiner
) -> None:
    _, source, changes = asked(tmp_path, miner, ('enum Size', 'enum Extent'))
    assert source is True
    assert len(changes) == 2
