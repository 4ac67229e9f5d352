"""A test that is mended after the code it tests: the window joins what two commits did."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.model.words import Label, Walk
from coevo.snapshots.verification import verify_snapshot
from filters import nearer, repair, repair_only
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.languages import toys
from tests.projects import Mined, write

pytestmark = pytest.mark.usefixtures('toy')


@pytest.fixture(scope='module')
def window(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('window')
    steps = [
        {
            **toys.BUILD,
            **toys.source('Till', 'price: 1'),
            **toys.tests('Till', 'sells: is Till.price 1'),
        },
        toys.source('Till', 'price: 2'),
        toys.tests('Till', 'sells: is Till.price 2'),
        toys.tests('Till', 'sells: is Till.price 2', 'again: call Till.price'),
    ]
    repository = write(folder / 'repository', steps)
    return toys.mined(repository, folder / 'store', walk=Walk.WINDOW)


@pytest.fixture(scope='module')
def broken(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    """The second state's tests do not compile."""
    folder = tmp_path_factory.mktemp('broken')
    steps = [
        {
            **toys.BUILD,
            **toys.source('Till', 'price: 1'),
            **toys.tests('Till', 'sells: is Till.price 1'),
        },
        toys.tests('Till', 'sells: call Till.price', 'again: call Till.nothing'),
        {
            **toys.source('Till', 'price: 2'),
            **toys.tests('Till', 'sells: is Till.price 2'),
        },
    ]
    repository = write(folder / 'repository', steps)
    return toys.mined(repository, folder / 'store', walk=Walk.WINDOW)


def hours(window: Mined) -> dict[str, tuple[int, int]]:
    """The steps of each pair's ends."""
    ends = {}
    for pair in window.pairs:
        assert pair.old_committer_date
        assert pair.new_committer_date
        ends[pair.pair_id] = pair.old_committer_date.hour, pair.new_committer_date.hour
    return ends


def test_a_change_split_over_two_commits_gives_an_update(window: Mined) -> None:
    ends = hours(window)
    assert sorted(ends.values()) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert {(row.test_method, str(row.label), ends[row.pair_id]) for row in window.methods} == {
        ('sells', Label.BROKEN_BY_CHANGE, (0, 1)),
        ('sells', Label.REPAIR, (1, 2)),
        ('sells', Label.UPDATE, (0, 2)),
        ('sells', Label.UPDATE, (0, 3)),
        ('again', Label.REDUNDANT, (0, 3)),
    }


def test_a_method_that_a_nearer_state_already_shows_is_dropped(window: Mined) -> None:
    ends = hours(window)
    found = [(ends[drop.pair_id or ''], drop.reason) for drop in window.drops]
    assert sorted(found) == [
        ((1, 2), repair.Reason.NO_PASSING_SIBLING),
        ((1, 3), nearer.Reason.NEARER_STATE),
        ((1, 3), nearer.Reason.NEARER_STATE),
        ((2, 3), repair_only.Reason.NO_SOURCE_CHANGE),
    ]


def test_a_snapshot_of_window_pairs_passes_verification(window: Mined, tmp_path: Path) -> None:
    snapshot = tmp_path / 'snapshot'
    publish_release(ReleaseOptions(store=window.store, snapshot=snapshot))
    assert list(verify_snapshot(snapshot)) == []


def test_a_state_that_does_not_compile_does_not_count_as_a_nearer_state(broken: Mined) -> None:
    """The farther pair was dropped for what a state shows that no build can even compile."""
    ends = hours(broken)
    found = [(ends[row.pair_id], row.label_by_module) for row in broken.methods]
    assert ((0, 2), Label.UPDATE) in found
    assert all(
        drop.reason != nearer.Reason.NEARER_STATE for drop in broken.drops if drop.stage == 'filter'
    )
