"""A release while another process mines into the store, and one that would not be good."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from coevo.model.errors import UnsoundSnapshot
from coevo.model.method_rows import MethodRow
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.place import Url
from coevo.storage.places import open_place
from coevo.storage.store import Store
from packagers.rows import Rows
from tests import segments, snapshots

RELEASES = 4


@contextmanager
def mining(store: Path) -> Iterator[None]:
    """Another process mines inside, from its first run on."""
    command = [sys.executable, '-m', 'tests.packagers.miner', str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as miner:
        assert miner.stdin is not None
        assert miner.stdout is not None
        try:
            assert miner.stdout.readline() == b'1\n'
            yield
            assert miner.poll() is None, 'it mined all the time'
        finally:
            miner.stdin.close()
            for _ in miner.stdout:
                pass
        assert miner.wait() == 0


@pytest.mark.slow
def test_snapshot_released_while_another_process_mines_passes_verification(tmp_path: Path) -> None:
    """What it mines while the store is read is in it or counted as unmined, run after run."""
    store = tmp_path / 'store'
    with mining(store):
        for number in range(RELEASES):
            target = tmp_path / f'snapshot-{number}'
            assert snapshots.write(Store(store), target).written
            assert verify_snapshot(target) == []


def test_pairs_mined_during_a_release_are_not_in_the_snapshot(tmp_path: Path) -> None:
    """The same, at each moment at which the store could be asked again."""
    store = Store(tmp_path / 'store')
    segments.fill(store, 1, 2)

    def mine(*numbers: int) -> None:
        segments.fill(Store(tmp_path / 'store'), *numbers)

    def date(rows: Rows) -> Sequence[MethodRow]:
        mine(1, 2, 3)
        return snapshots.date(rows)

    def families(repos: Sequence[str]) -> dict[str, str]:
        mine(1, 2, 3, 4)
        return snapshots.families(repos)

    report = snapshots.write(store, tmp_path / 'snapshot', date=date, families=families)
    assert (report.rows['pairs'], report.unmined) == (2, ())
    assert verify_snapshot(tmp_path / 'snapshot') == []


def wrong(rows: Rows) -> Sequence[MethodRow]:
    """Dates later than the commits that made public what they are of."""
    return [
        dataclasses.replace(row, contamination_date=segments.day(99))
        for row in snapshots.date(rows)
    ]


def test_snapshot_that_fails_verification_is_not_left_in_a_folder(tmp_path: Path) -> None:
    store = Store(tmp_path / 'store')
    segments.fill(store, 1, 2)
    with pytest.raises(UnsoundSnapshot, match='date_after_commit'):
        snapshots.write(store, tmp_path / 'snapshot', date=wrong)
    assert [path.name for path in tmp_path.iterdir()] == ['store']


def test_snapshot_that_fails_verification_is_not_left_in_a_bucket(
    tmp_path: Path, bucket: Url
) -> None:
    store = Store(tmp_path / 'store')
    segments.fill(store, 1, 2)
    with pytest.raises(UnsoundSnapshot, match='date_after_commit'):
        snapshots.write(store, Url(f'{bucket}/2024-01'), date=wrong)
    assert not open_place(bucket).list_top_names()
