"""What is measured of the functions that a pair changes, and of the history of their files."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from pydriller.metrics.process.contributors_count import ContributorsCount

from coevo.git.repository import Repository
from coevo.model.records import Pair
from coevo.model.words import Walk
from miners.diffs.change_metrics import (
    LONGEST,
    FileHistory,
    FunctionMeasures,
    compute_file_history,
    measure_functions,
)
from miners.diffs.changes import diff_pair
from tests.repos import commit, git, init, write, write_object

JAVA = """\
package shop;

class Till {
    int rest;

    // what is due
    int due(int price, int paid) {
        if (paid > price && price > %d) {
            return 0;
        }

        return price - paid;
    }

    int stays() { return 1; }
}
"""
JAVA_TEST = """\
package shop;

class TillTest {
    @org.junit.Test
    public void owes() { org.junit.Assert.assertEquals(1, new Till().due(%d, 1)); }
}
"""
PYTHON = """\
def due(price, paid, *, tax=0):
    def added():
        return price if tax else 0

    return price - paid + %d
"""
PYTHON_TEST = """\
from till import due


def test_owes():
    assert due(2, 1) == %d
"""

DATES = ('2024-01-01T00:00:00Z', '2024-01-02T00:00:00Z', '2024-01-03T12:00:00Z')
FILES = {
    'java': ('src/main/java/shop/Till.java', JAVA, 'src/test/java/shop/TillTest.java', JAVA_TEST),
    'python': ('till.py', PYTHON, 'tests/test_till.py', PYTHON_TEST),
}


def history(folder: Path, language: str) -> tuple[Repository, Pair]:
    """Three commits of two people, a day apart; the pair is the last two of them."""
    path, source, test_path, test = FILES[language]
    build = {'pom.xml': '<project/>', 'pyproject.toml': '[project]\nname = "till"\n'}
    init(folder)
    commit(folder, 'one', {**build, path: source % 1, test_path: test % 1}, date=DATES[0])
    write(folder / path, source % 2)
    other = {'GIT_AUTHOR_EMAIL': 'Other@example.org', 'GIT_COMMITTER_DATE': DATES[1]}
    git(folder, 'commit', '-q', '-a', '-m', 'two', environment=other)
    commit(folder, 'three', {path: source % 3, test_path: test % 3}, date=DATES[2])
    repository = Repository(folder / '.git')
    new = repository.get_commit(repository.resolve('HEAD'))
    old = repository.get_commit(new.parents[0])
    pair = Pair(
        repo='a/b', language=language, walk=Walk.PARENTS, old=old, new=new, old_is_ancestor=True
    )
    return repository, pair


@pytest.mark.parametrize(
    ('language', 'measures'),
    [
        ('java', FunctionMeasures(functions=1, lines=6, complexity=3, parameters=2)),
        ('python', FunctionMeasures(functions=2, lines=5, complexity=2, parameters=3)),
    ],
)
def test_functions_that_a_pair_changes_are_measured(
    tmp_path: Path, language: str, measures: FunctionMeasures
) -> None:
    repository, pair = history(tmp_path, language)
    assert measure_functions(repository, diff_pair(repository, pair)) == measures


def test_a_file_that_is_too_long_is_not_measured(tmp_path: Path) -> None:
    repository, pair = history(tmp_path, 'java')
    path, source, *_ = FILES['java']
    commit(tmp_path, 'four', {path: source % 4 + '\n' * LONGEST}, date='2024-01-05T00:00:00Z')
    new = repository.get_commit(repository.resolve('HEAD'))
    longer = Pair(
        repo='a/b', language='java', walk=Walk.PARENTS, old=pair.new, new=new, old_is_ancestor=True
    )
    change = diff_pair(repository, longer)
    assert change.sources
    assert measure_functions(repository, change) is None


def test_file_history_counts_earlier_commits_contributors_and_age(tmp_path: Path) -> None:
    repository, pair = history(tmp_path, 'python')
    found = compute_file_history(repository, pair.old, ['till.py'])
    assert found == FileHistory(commits=2, contributors=2, age_days=1.0)
    assert compute_file_history(repository, pair.old, ['till.py', 'none.py']) == found
    assert compute_file_history(repository, pair.old, ['none.py']) is None
    assert compute_file_history(repository, pair.old, [':(glob)**']) is None  # no pattern of Git's
    assert compute_file_history(repository, pair.old, []) is None
    # The same as PyDriller's, on a repository to which it may write.
    root = git(tmp_path, 'rev-list', '--max-parents=0', 'HEAD').strip()
    told = ContributorsCount(str(tmp_path), from_commit=root, to_commit=pair.old.rev).count()
    assert told['till.py'] == found.contributors


def test_commit_with_a_damaged_date_is_ignored_in_the_age_of_a_file(tmp_path: Path) -> None:
    repository, pair = history(tmp_path, 'python')
    header = git(tmp_path, 'cat-file', 'commit', pair.old.rev)
    (line,) = (line for line in header.splitlines() if line.startswith('committer '))
    undated = header.replace(line, line.partition('>')[0] + '>')
    oid = write_object(tmp_path, 'commit', undated.encode())
    tip = dataclasses.replace(pair.old, rev=oid)
    found = compute_file_history(repository, tip, ['till.py'])
    assert found == FileHistory(commits=2, contributors=2, age_days=1.0)
