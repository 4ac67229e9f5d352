from __future__ import annotations

import dataclasses
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from coevo.model import codec
from coevo.model.errors import Fatal
from coevo.model.words import Stage, Walk
from coevo.storage import leases
from coevo.storage.place import Root
from coevo.storage.store import Partition, Store
from tests import segments
from tests.segments import PARTITION, REPO, pair_id, rev, segment

FOLDER = f'partitions/{PARTITION.path}'


@pytest.fixture(params=['folder', 'bucket'])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Root:
    found: Root = tmp_path / 'store'
    return found if request.param == 'folder' else request.getfixturevalue('bucket')


@pytest.fixture
def store(root: Root) -> Store:
    return Store(root)


@pytest.fixture
def local(tmp_path: Path) -> Store:
    return Store(tmp_path / 'store')


def names(store: Store) -> list[str]:
    return [entry.name for entry in store.storage.list_files(FOLDER)]


def loose(store: Store) -> list[str]:
    return [name for name in names(store) if name.endswith('.segment')]


def content(store: Store, name: str) -> bytes:
    found = store.storage.read(name)
    assert found is not None
    return found.data


def test_segment_is_read_back_as_it_was_written(store: Store) -> None:
    store.write_segment_unless_intact(PARTITION, segment(1))
    assert store.list_keys(PARTITION) == {'engine-1'}
    assert store.has_segment(PARTITION, 'engine-1')
    assert store.read(PARTITION, 'engine-1') == segment(1)
    with pytest.raises(KeyError):
        store.read(PARTITION, 'engine-2')


def test_segments_are_loaded_sorted_by_pair_whatever_the_mining_order(store: Store) -> None:
    for number in (3, 1, 2):
        store.write_segment_unless_intact(PARTITION, segment(number, key=f'k{number}'))
    found = [item.pair.pair_id for item in store.load_current_segments(PARTITION)]
    assert found == sorted(pair_id(number) for number in (1, 2, 3))


def test_a_segment_is_never_overwritten(store: Store) -> None:
    store.write_segment_unless_intact(PARTITION, segment(1, cpu_seconds=1))
    store.write_segment_unless_intact(PARTITION, segment(1, cpu_seconds=2))
    assert store.read(PARTITION, 'engine-1') == segment(1, cpu_seconds=1)


def test_compacting_changes_nothing_but_the_number_of_files(store: Store) -> None:
    for number in (1, 2):
        store.write_segment_unless_intact(PARTITION, segment(number, key=f'k{number}'))
    before = tuple(store.load_current_segments(PARTITION))
    store.compact_segments(PARTITION)
    assert loose(store) == []
    assert tuple(store.load_current_segments(PARTITION)) == before
    store.write_segment_unless_intact(PARTITION, segment(3, key='k3'))
    store.compact_segments(PARTITION)
    assert store.list_keys(PARTITION) == {'k1', 'k2', 'k3'}


def test_compacted_bytes_do_not_depend_on_the_writing_order(root: Root, tmp_path: Path) -> None:
    written = []
    for place, order in ((root, (1, 2)), (tmp_path / 'b', (2, 1))):
        store = Store(place)
        for number in order:
            store.write_segment_unless_intact(PARTITION, segment(number, key=f'k{number}'))
        store.compact_segments(PARTITION)
        written.append(content(store, f'{FOLDER}/segments.coevo'))
    assert written[0] == written[1]


def test_kill_between_merging_and_removing_segments_is_harmless(store: Store) -> None:
    store.write_segment_unless_intact(PARTITION, segment(1))
    (name,) = loose(store)
    data = content(store, name)
    store.compact_segments(PARTITION)
    store.storage.write_file(name, data)
    assert list(store.load_current_segments(PARTITION)) == [segment(1)]
    store.compact_segments(PARTITION)
    assert loose(store) == []
    assert store.list_keys(PARTITION) == {'engine-1'}


def test_unfinished_segment_of_a_killed_miner_is_ignored_and_removed(local: Store) -> None:
    store = local
    store.write_segment_unless_intact(PARTITION, segment(1))
    path = Path(store.storage.describe(loose(store)[0]))
    unfinished = path.with_name(f'{path.name}.new-1')
    unfinished.write_bytes(path.read_bytes()[:99])
    assert store.list_keys(PARTITION) == {'engine-1'}
    store.compact_segments(PARTITION)
    assert not unfinished.exists()
    assert store.warnings == []


def test_killed_miner_loses_only_the_pair_in_progress(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        'import sys; from tests import segments as s; from coevo.storage import leases; from coevo.storage.place import parse_root\n'
        'leases.SECONDS = 4.0\n'
        'store = s.Store(parse_root(sys.argv[1]))\n'
        'with store.lock_partition(s.PARTITION):\n'
        '  for n in range(1, 10_000):\n'
        '    store.write_segment_unless_intact(s.PARTITION, s.segment(n, key=f"k{n}")); print(n, flush=True)\n'
    )
    command = [sys.executable, '-c', script, str(store.root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as miner:
        assert miner.stdout is not None
        for line in miner.stdout:
            if int(line) == 5:
                miner.send_signal(signal.SIGKILL)
                break
    with store.lock_partition(PARTITION):
        assert store.list_keys(PARTITION) >= {f'k{n}' for n in range(1, 6)}
        for item in store.load_current_segments(PARTITION):
            assert item == segment(int(item.key[1:]), key=item.key)
    assert store.warnings == []


@pytest.mark.parametrize(('kept', 'added'), [(-5, b''), (-9, b'x' * 9), (90, b''), (0, b'')])
def test_damaged_segment_counts_as_missing_and_is_warned_about(
    store: Store, kept: int, added: bytes
) -> None:
    store.write_segment_unless_intact(PARTITION, segment(1, key='k1'))
    store.write_segment_unless_intact(PARTITION, segment(2, key='k2'))
    name = next(name for name in loose(store) if '.k1.' in name)
    store.storage.write_file(name, content(store, name)[:kept] + added)
    assert store.list_keys(PARTITION) == {'k2'}
    (warning,) = store.warnings
    assert store.storage.describe(name) in warning
    with store.lock_partition(PARTITION):
        assert store.list_keys(PARTITION) == {'k2'}
        assert f'{name}.corrupt' in names(store)
        store.write_segment_unless_intact(PARTITION, segment(1, key='k1'))
    assert store.list_keys(PARTITION) == {'k1', 'k2'}


def test_damage_in_the_merged_file_loses_one_pair_only(store: Store) -> None:
    for number in range(1, 5):
        store.write_segment_unless_intact(PARTITION, segment(number, key=f'k{number}'))
    store.compact_segments(PARTITION)
    name = f'{FOLDER}/segments.coevo'
    store.storage.write_file(name, content(store, name)[:-1])
    with store.lock_partition(PARTITION):
        left = store.list_keys(PARTITION)
        assert len(left) == 3
        (lost,) = {'k1', 'k2', 'k3', 'k4'} - left
        assert lost in store.warnings[0]
        store.write_segment_unless_intact(PARTITION, segment(int(lost[1]), key=lost))
        store.compact_segments(PARTITION)
    assert len(tuple(store.load_current_segments(PARTITION))) == 4


def test_walk_decides_which_of_several_segments_of_a_pair_counts(store: Store) -> None:
    """Another profile or engine gives another key: a pair must not be released twice."""
    for key in ('engine-1', 'engine-2'):
        store.write_segment_unless_intact(PARTITION, segment(1, key=key))
        keys = ((pair_id(1), key),)
        store.merge_walk_into_stored(PARTITION, dataclasses.replace(segments.walk(1), keys=keys))
        assert [item.key for item in store.load_current_segments(PARTITION)] == [key]
    assert store.list_keys(PARTITION) == {'engine-1', 'engine-2'}


def test_last_mined_segment_of_a_pair_counts(store: Store) -> None:
    """A verdict of an engine that was corrected since must not be released in place of the new."""
    for key in ('b', 'a', 'c'):
        store.merge_walk_into_stored(PARTITION, segments.walk(1))
        store.write_segment_unless_intact(PARTITION, segment(1, key=key))
        store.compact_segments(PARTITION)
        assert [item.key for item in store.load_current_segments(PARTITION)] == [key]
    assert store.list_keys(PARTITION) == {'a', 'b', 'c'}


def test_segment_left_by_a_killed_run_does_not_override_the_walk(store: Store) -> None:
    store.write_segment_unless_intact(PARTITION, segment(1, key='wanted'))
    store.write_segment_unless_intact(PARTITION, segment(1, key='left'))
    keys = ((pair_id(1), 'wanted'),)
    store.merge_walk_into_stored(PARTITION, dataclasses.replace(segments.walk(1), keys=keys))
    store.compact_segments(PARTITION)
    assert [item.key for item in store.load_current_segments(PARTITION)] == ['wanted']


def test_moved_head_removes_nothing_from_the_stored_walk(store: Store) -> None:
    store.merge_walk_into_stored(PARTITION, segments.walk(2, 3, dropped=(1,)))
    store.merge_walk_into_stored(PARTITION, segments.walk(4, dropped=(5,)))
    found = store.load_walk(PARTITION)
    assert dict(found.pairs) == {rev(n): pair_id(n) for n in (2, 3, 4)}
    assert {drop.key for drop in found.drops} == {rev(1), rev(5)}
    assert (found.repository.commits_visited, found.repository.commits_kept) == (5, 3)


def test_newest_walk_decides_whether_a_commit_is_kept_or_dropped(store: Store) -> None:
    store.merge_walk_into_stored(PARTITION, segments.walk(1, dropped=(2,)))
    store.merge_walk_into_stored(PARTITION, segments.walk(2, dropped=(1,)))
    found = store.load_walk(PARTITION)
    assert found.pairs == ((rev(2), pair_id(2)),)
    assert [drop.key for drop in found.drops] == [rev(1)]


def test_shorter_walk_does_not_remove_the_pair_at_its_end(store: Store) -> None:
    """Under `states` the oldest commit of a walk has nothing to be compared with."""
    store.merge_walk_into_stored(PARTITION, segments.walk(1, 2))
    oldest = segments.drop(1, Stage.WALK, rev(1), 'oldest_state')
    store.merge_walk_into_stored(
        PARTITION, dataclasses.replace(segments.walk(2, dropped=()), drops=(oldest,))
    )
    assert dict(store.load_walk(PARTITION).pairs) == {rev(n): pair_id(n) for n in (1, 2)}


def test_stored_walk_does_not_depend_on_the_order_of_its_commits(
    root: Root, tmp_path: Path
) -> None:
    written = []
    for place, order in ((root, (1, 2, 3)), (tmp_path / 'b', (3, 1, 2))):
        store = Store(place)
        store.merge_walk_into_stored(PARTITION, segments.walk(*order))
        written.append(content(store, f'{FOLDER}/walk.coevo'))
    assert written[0] == written[1]


def test_unmined_pairs_of_the_walk_are_listed(store: Store) -> None:
    store.merge_walk_into_stored(PARTITION, segments.walk(1, 2))
    store.write_segment_unless_intact(PARTITION, segment(1))
    assert store.list_unmined_pairs(PARTITION) == (pair_id(2),)


def test_partitions_are_listed_by_their_names(store: Store) -> None:
    names = ('a/b', 'local/with + and %', 'a/b.c')
    wanted = [
        Partition(repo=repo, language='java', walk=walk)
        for repo in names
        for walk in (Walk.PARENTS, Walk.FIRST_PARENT)
    ]
    for partition in wanted:
        store.merge_walk_into_stored(partition, segments.walk(1))
    assert store.list_partitions() == tuple(sorted(wanted))


def test_partition_is_locked_for_one_miner_at_a_time(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, 'SECONDS', 8.0)
    other = dataclasses.replace(PARTITION, walk=Walk.STATES)
    with store.lock_partition(PARTITION):
        again = Store(store.root).lock_partition(PARTITION)
        with pytest.raises(Fatal, match='by another process'), again:
            pass
        with Store(store.root).lock_partition(other):
            pass
    with store.lock_partition(PARTITION):
        pass


def test_reading_does_not_create_a_store(store: Store) -> None:
    assert store.list_partitions() == ()
    assert store.list_keys(PARTITION) == frozenset()
    with pytest.raises(Fatal, match=f'no record of {REPO}'):
        store.load_walk(PARTITION)
    assert not store.storage.list_top_names()


def test_folder_with_foreign_files_is_refused_as_a_store(tmp_path: Path) -> None:
    (tmp_path / 'photo.png').touch()
    with pytest.raises(Fatal, match='no store of coevo'):
        Store(tmp_path)
    with pytest.raises(Fatal, match='not a folder'):
        Store(tmp_path / 'photo.png')


def test_a_folder_with_clones_may_become_a_store(tmp_path: Path) -> None:
    (tmp_path / 'clones').mkdir()
    Store(tmp_path).write_segment_unless_intact(PARTITION, segment(1))
    assert Store(tmp_path).list_keys(PARTITION) == {'engine-1'}


def test_store_of_another_version_is_refused(store: Store) -> None:
    store.write_segment_unless_intact(PARTITION, segment(1))
    store.storage.write_file('store.json', b'{"coevo-store": 3}')
    with pytest.raises(Fatal, match='update coevo'):
        Store(store.root)
    store.storage.write_file('store.json', b'{"coevo-store": 1}')
    with pytest.raises(Fatal, match=r'store version 1.*: mine into a new --store'):
        Store(store.root)
    store.storage.write_file('store.json', b'[]')
    with pytest.raises(Fatal, match='not the stamp'):
        Store(store.root)


def test_listing_keys_decodes_no_record(local: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second `coevo mine` must end at once; reading keys is a part of it."""
    for number in range(300):
        local.write_segment_unless_intact(PARTITION, segment(number, key=f'k{number}'))
    local.compact_segments(PARTITION)
    decoded: list[object] = []
    monkeypatch.setattr(codec, 'decode_record', lambda *of: decoded.append(of))
    assert len(local.list_keys(PARTITION)) == 300
    assert decoded == []
    assert len(names(local)) == 1


@pytest.mark.parametrize(
    'stamp', ['{"coevo-store": 1e999}', '[' * 100_000, '[]', '{"coevo-store": {}}']
)
def test_invalid_store_stamp_is_refused(tmp_path: Path, stamp: str) -> None:
    (tmp_path / 'store.json').write_text(stamp)
    with pytest.raises(Fatal, match='is not the stamp of a store'):
        Store(tmp_path)


def test_folder_that_is_no_partition_is_reported(tmp_path: Path) -> None:
    segments.fill(Store(tmp_path), 1)
    other = tmp_path / 'partitions' / 'a' / 'java' / 'sideways' / 'walk.coevo'
    other.parent.mkdir(parents=True)
    other.write_bytes(b'')
    with pytest.raises(Fatal, match='is no partition'):
        Store(tmp_path).list_partitions()


def fill(store: Store, *numbers: int) -> None:
    """A walk with so many pairs, and what a miner writes of it at its end."""
    for number in numbers:
        store.write_segment_unless_intact(PARTITION, segment(number, key=f'key-{number}'))
    keys = tuple((pair_id(number), f'key-{number}') for number in numbers)
    walk = dataclasses.replace(segments.walk(*numbers), keys=keys)
    store.merge_walk_into_stored(PARTITION, walk)
    store.compact_segments(PARTITION)
    store.record_state(PARTITION)


def test_state_of_a_walk_is_read_without_its_segments(store: Store) -> None:
    fill(store, 1, 2)
    (state,) = store.load_states().values()
    assert dataclasses.replace(state, sizes=()) == store.compute_state(PARTITION)
    assert state.is_complete
    assert [name for name, _ in state.sizes] == ['segments.coevo', 'walk.coevo']


def test_state_is_void_once_a_file_of_its_partition_changes(store: Store) -> None:
    fill(store, 1)
    merged = content(store, f'{FOLDER}/segments.coevo')
    store.write_segment_unless_intact(PARTITION, segment(2, key='key-2'))
    assert store.load_states() == {}
    store.compact_segments(PARTITION)
    assert store.load_states() == {}
    store.record_state(PARTITION)
    assert PARTITION in store.load_states()
    store.storage.write_file(f'{FOLDER}/segments.coevo', merged)
    assert store.load_states() == {}
    store.storage.remove_files([f'{FOLDER}/segments.coevo'])
    assert store.load_states() == {}
    assert not store.compute_state(PARTITION).is_complete


def test_damaged_state_is_ignored(store: Store) -> None:
    fill(store, 1)
    for data in (b'', b'{', b'[]', b'{"engine_version": 1}'):
        store.storage.write_file(f'{FOLDER}/state.json', data)
        assert store.load_states() == {}


def test_state_says_that_pairs_are_missing(store: Store) -> None:
    fill(store, 1, 2)
    walk = store.load_walk(PARTITION)
    more = dataclasses.replace(walk, pairs=(*walk.pairs, (rev(3), pair_id(3))))
    store.merge_walk_into_stored(PARTITION, more)
    store.record_state(PARTITION)
    (state,) = store.load_states().values()
    assert not state.is_complete


def test_later_time_is_recorded_without_reading_the_segments(store: Store) -> None:
    fill(store, 1)
    (before,) = store.load_states().values()
    reached = segments.day(30)
    with store.lock_partition(PARTITION):
        store.advance_reached(PARTITION, reached)
    assert store.load_walk(PARTITION).reached == reached
    (state,) = store.load_states().values()
    assert dataclasses.replace(state, reached=before.reached, sizes=before.sizes) == before
    assert state.reached == reached


def test_later_time_does_not_make_a_void_state_valid(store: Store) -> None:
    fill(store, 1)
    store.storage.remove_files([f'{FOLDER}/segments.coevo'])
    with store.lock_partition(PARTITION):
        store.advance_reached(PARTITION, segments.day(30))
    (state,) = store.load_states().values()
    assert not state.is_complete
