"""Branches that only interleave: the walk over states pairs them, and everything says so."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import coevo
from coevo.evaluation.assignments import Assignment, load_assignments
from coevo.model.words import Walk
from coevo.snapshots.identification import IdentificationStudy, create_identification_tables
from coevo.snapshots.query import SnapshotQuery, run_query
from coevo.snapshots.snapshot import attach_snapshots
from coevo.snapshots.verification import verify_snapshot
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.languages import toys
from tests.repos import commit, init

pytestmark = pytest.mark.usefixtures('toy')

BASE = {**toys.BUILD, **toys.source('Till', 'last: 1')}
LEFT = {**toys.source('Bell', 'ring: ring'), **toys.tests('Bell', 'rings: is Bell.ring ring')}
RIGHT = {
    **toys.source('Horn', 'blasts: 5'),
    **toys.tests('Horn', 'blows: call Horn.blasts then is Horn.blasts 5'),
}


def hour(number: int) -> str:
    return f'2024-01-01T{number:02}:00:00Z'


@pytest.fixture(scope='module')
def snapshot(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two branches from one commit, an hour apart, merged: the walk goes base, left, right, merge."""
    folder = tmp_path_factory.mktemp('interleaved')
    repo = init(folder / 'repository')
    base = commit(repo, 'base', BASE, date=hour(1))
    left = commit(repo, 'left', LEFT, date=hour(2), parents=[base])
    right = commit(repo, 'right', RIGHT, date=hour(3), parents=[base])
    commit(repo, 'merge', {**LEFT, **RIGHT}, date=hour(4), parents=[left, right])
    found = toys.mined(repo, folder / 'store', walk=Walk.STATES)
    assert [pair.old_is_ancestor for pair in found.pairs].count(False) == 1
    publish_release(ReleaseOptions(store=folder / 'store', snapshot=folder / 'snapshot'))
    return folder / 'snapshot'


def names(found: tuple[Assignment, ...]) -> list[str]:
    return sorted(name for one in found for name in one.task.test_methods)


def test_a_snapshot_with_interleaved_pairs_passes_verification(snapshot: Path) -> None:
    assert verify_snapshot(snapshot) == []


def test_rows_of_interleaved_pairs_say_that_old_is_no_ancestor_of_new(snapshot: Path) -> None:
    """The test of the left branch seems to go with its code, and to come again with the merge."""
    rows = (
        coevo.open(snapshot)
        .execute('SELECT test_method, label, old_is_ancestor FROM methods ORDER BY ALL')
        .fetchall()
    )
    assert Counter(rows) == {
        ('blows', 'generation', False): 1,
        ('rings', 'generation', True): 2,
        ('rings', 'obsolete', False): 1,
    }


def test_tasks_of_interleaved_pairs_are_loaded_only_on_request(snapshot: Path) -> None:
    every = load_assignments(snapshot, interleaved=True)
    assert names(every) == ['BellTest#rings', 'HornTest#blows']
    assert names(load_assignments(snapshot)) == ['BellTest#rings']
    (blows,) = (one for one in every if one.task.test_methods == ('HornTest#blows',))
    assert blows.task.old_is_ancestor is False
    assert names(load_assignments(snapshot, {blows.task_id})) == ['HornTest#blows']


def test_the_query_summary_leaves_interleaved_pairs_out_and_says_so(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_query((snapshot,), SnapshotQuery(format='csv'))
    printed = capsys.readouterr()
    assert [line.split(',')[:4] for line in printed.out.splitlines()[1:]] == [
        ['states', 'generation', 'generation', '2']
    ]
    assert 'left out of the summary: 2 methods whose old revision is no ancestor' in printed.err
    run_query((snapshot,), SnapshotQuery(sql='SELECT count(*) FROM methods', format='csv'))
    printed = capsys.readouterr()
    assert (printed.out.split(), printed.err) == (['count_star()', '4'], '')


def test_identification_leaves_interleaved_pairs_out_with_a_reason_of_their_own(
    snapshot: Path,
) -> None:
    connection = create_identification_tables(
        attach_snapshots((snapshot,)), IdentificationStudy(walk=Walk.STATES)
    )
    sql = 'SELECT test_method, left_out FROM identification ORDER BY ALL'
    assert connection.execute(sql).fetchall() == [
        ('blows', 'old_is_no_ancestor'),
        ('rings', 'duplicate'),
        ('rings', 'generation'),
        ('rings', 'old_is_no_ancestor'),
    ]
