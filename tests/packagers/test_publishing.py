"""A release into an object store: whole or not at all, and never over another one."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from coevo.model.errors import Fatal, Transient
from coevo.snapshots.snapshot import open_snapshots
from coevo.storage import leases
from coevo.storage.objects import BucketPlace
from coevo.storage.place import Root, StoragePlace, Url
from coevo.storage.places import open_place
from coevo.storage.store import Store
from packagers import publishing
from packagers.release import ReleaseReport
from tests import segments, snapshots


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / 'store')
    segments.fill(made, 1, 2)
    return made


@pytest.fixture
def target(bucket: Url) -> Url:
    return Url(f'{bucket}/2024-01')


def content(place: StoragePlace) -> dict[str, bytes]:
    names = [entry.name for entry in place.list_files('')]
    found = zip(names, place.load_files(names), strict=True)
    return {name: one.data for name, one in found if one is not None}


def files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob('*') if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.slow
def test_snapshot_in_a_bucket_has_the_bytes_of_one_in_a_folder(
    store: Store, target: Url, tmp_path: Path
) -> None:
    assert snapshots.write(store, target).written
    snapshots.write(store, tmp_path / 'folder')
    assert content(open_place(target)) == files(tmp_path / 'folder')
    sql = 'SELECT count(*) FROM methods'
    assert open_snapshots(target).execute(sql).fetchone() == (
        open_snapshots(tmp_path / 'folder').execute(sql).fetchone()
    )


@pytest.mark.slow
def test_repeated_release_writes_nothing_and_another_snapshot_is_refused(
    store: Store, target: Url
) -> None:
    snapshots.write(store, target)
    before = content(open_place(target))
    again = snapshots.write(store, target)
    assert not again.written
    assert 'already there' in again.sentence
    segments.fill(store, 3)
    with pytest.raises(Fatal, match=f'{target} holds another snapshot'):
        snapshots.write(store, target)
    assert content(open_place(target)) == before


@pytest.mark.slow
def test_bucket_folder_that_is_no_snapshot_is_left_alone(store: Store, target: Url) -> None:
    open_place(target).write_file('photo.png', b'')
    with pytest.raises(Fatal, match='is no snapshot'):
        snapshots.write(store, target)
    open_place(target).remove_files(['photo.png'])
    open_place(target).write_file('data/photo.png', b'')
    with pytest.raises(Fatal, match='is no snapshot'):
        snapshots.write(store, target)
    assert set(content(open_place(target))) <= {'data/photo.png', 'release.lock'}


class Killed(BaseException):
    """No handler of ours heeds it."""


class Dying(BucketPlace):
    """The real place, of a process that dies after so many files, its lease with it."""

    def __init__(self, url: Url, after: int) -> None:
        super().__init__(url)
        self.after = after

    def write_if_unchanged(self, name: str, data: bytes, version: str | None) -> str | None:
        self.after -= not name.startswith('release.lock')
        if self.after < 0:
            main = threading.current_thread() is threading.main_thread()
            raise Killed if main else Transient('its threads are dead, too')
        return super().write_if_unchanged(name, data, version)


@pytest.mark.slow
@pytest.mark.parametrize(
    'after', [5, *(pytest.param(after, marks=pytest.mark.slow) for after in (0, 14))]
)
def test_killed_release_leaves_nothing_that_readers_take_for_a_snapshot(
    store: Store, target: Url, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """The next writer, of other bytes, takes over when the lease is over."""
    monkeypatch.setattr(leases, 'SECONDS', 4.0)
    with monkeypatch.context() as patch:
        patch.setattr(publishing, 'open_place', lambda root: Dying(root, after))
        with pytest.raises(Killed):
            snapshots.write(store, target)
    assert 'manifest.json' not in content(open_place(target))
    segments.fill(store, 3)
    assert snapshots.write(store, target).written
    assert open_snapshots(target).execute('SELECT count(*) FROM pairs').fetchone() == (3,)


@pytest.mark.slow
def test_one_of_two_concurrent_releases_wins_and_the_other_reports_it(
    store: Store, target: Url, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, 'SECONDS', 8.0)
    other = Store(tmp_path / 'other')
    segments.fill(other, 1, 2, 3)
    found: list[ReleaseReport | Fatal] = []

    def run(one: Store) -> None:
        try:
            found.append(snapshots.write(one, target))
        except Fatal as error:
            found.append(error)

    threads = [threading.Thread(target=run, args=(one,)) for one in (store, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = (one for one in found if isinstance(one, ReleaseReport))
    (loser,) = (one for one in found if isinstance(one, Fatal))
    assert winner.written
    assert 'another' in str(loser)
    assert not [name for name in content(open_place(target)) if 'lock' in name]
    count = open_snapshots(target).execute('SELECT count(*) FROM pairs').fetchone()
    assert count == (winner.rows['pairs'],)


@pytest.mark.slow
def test_previous_snapshot_may_be_in_a_bucket(store: Store, target: Url, tmp_path: Path) -> None:
    snapshots.write(store, target, month='2024-01')
    other = Store(tmp_path / 'other')
    segments.fill(other, 1)
    report = snapshots.write(other, tmp_path / 'next', month='2024-02', previous=target)
    assert report.withdrawn > 0
    assert report.new == 0


@pytest.mark.slow
@pytest.mark.parametrize('kind', ['folder', 'bucket'])
def test_complete_snapshots_of_a_folder_or_bucket_are_listed_by_name(
    store: Store, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    place: Root = tmp_path if kind == 'folder' else request.getfixturevalue('bucket')
    assert publishing.list_snapshots(publishing.locate_snapshot(place, 'nothing')) == ()
    for name in ('2024-02', '2024-01'):
        snapshots.write(store, publishing.locate_snapshot(place, name))
    open_place(publishing.locate_snapshot(place, 'unfinished')).write_file('README.md', b'')
    open_place(place).write_file('photo.png', b'')
    assert publishing.list_snapshots(place) == ('2024-01', '2024-02')
