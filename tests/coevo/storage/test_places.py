"""What a place promises, and what it says where it cannot keep it."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.errors import Fatal, Transient
from coevo.storage.place import StoragePlace, Url, parse_root
from coevo.storage.places import open_place
from coevo.storage.store import Store
from tests import buckets
from tests.segments import PARTITION, segment, walk


@pytest.fixture(params=['folder', 'bucket'])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> StoragePlace:
    there = tmp_path / 'store'
    return open_place(there if request.param == 'folder' else request.getfixturevalue('bucket'))


def test_conditional_write_needs_the_version_that_was_read(place: StoragePlace) -> None:
    first = place.write_if_unchanged('a/b', b'1', None)
    assert first is not None
    assert place.write_if_unchanged('a/b', b'2', None) is None
    second = place.write_if_unchanged('a/b', b'22', first)
    assert second is not None
    assert place.write_if_unchanged('a/b', b'3', first) is None
    found = place.read('a/b')
    assert found is not None
    assert (found.data, found.version) == (b'22', second)
    place.remove_files(['a/b', 'a/c'])
    assert place.read('a/b') is None
    assert place.write_if_unchanged('a/b', b'3', second) is None


def test_concurrent_conditional_writers_lose_no_update(place: StoragePlace) -> None:
    """Six threads add four words each to a list: nothing may be lost."""
    place.write_file('words', b'')

    def add(word: str) -> None:
        done = None
        while done is None:
            found = place.read('words')
            assert found is not None
            done = place.write_if_unchanged(
                'words', found.data + f'{word} '.encode(), found.version
            )

    def run(thread: int) -> None:
        for number in range(4):
            add(f'{thread}-{number}')

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = place.read('words')
    assert found is not None
    assert sorted(found.data.decode().split()) == [f'{a}-{b}' for a in range(6) for b in range(4)]


@pytest.mark.parametrize('name', ['a/b', 'a/with + and %20 é', 'a/..b'])
def test_file_names_are_listed_exactly_as_written(place: StoragePlace, name: str) -> None:
    place.write_file(name, b'x')
    place.write_file('ab/other', b'y')
    assert [entry.name for entry in place.list_files('a')] == [name]
    assert place.list_top_names() == {'a', 'ab'}


def test_miner_without_its_lease_writes_neither_walk_nor_merged_file(bucket: Url) -> None:
    store = Store(bucket)
    lock = f'partitions/{PARTITION.path.as_posix()}/lock'

    def names() -> set[str]:
        found = store.storage.list_files(lock.rpartition('/')[0])
        return {entry.name.rpartition('/')[2] for entry in found}

    with store.lock_partition(PARTITION):
        store.write_segment_unless_intact(PARTITION, segment(1))
        before = names()
        store.storage.write_file(lock, b'{"owner":"other","seconds":60,"token":"x"}')
        with pytest.raises(Transient, match='no longer held'):
            store.merge_walk_into_stored(PARTITION, walk(1))
        with pytest.raises(Transient, match='no longer held'):
            store.compact_segments(PARTITION)
    assert names() == before
    assert Store(bucket).list_keys(PARTITION) == {'engine-1'}


@pytest.mark.parametrize(
    'text', ['s3://', 's3://bucket//x', 'gs://bucket', 's3://key:secret@bucket/x', 's3://b/x?y=1']
)
def test_store_url_must_be_a_plain_s3_url_without_keys(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['release', '--store', text, '--snapshot', 'x']) == 2
    said = capsys.readouterr().err
    assert 's3://BUCKET/PREFIX' in said
    assert 'secret' not in said


def test_store_root_is_parsed_as_a_path_or_an_s3_url() -> None:
    assert parse_root('some/store') == Path('some/store')
    assert parse_root('s3://bucket/a/') == 's3://bucket/a'


def test_missing_bucket_keys_are_reported_in_one_sentence(
    bucket: Url, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv('AWS_ACCESS_KEY_ID')
    assert main(['release', '--store', bucket, '--snapshot', 'x']) == 2
    said = capsys.readouterr().err
    assert 'set AWS_ACCESS_KEY_ID' in said
    assert said.count('\n') == 1
    assert buckets.KEYS['AWS_SECRET_ACCESS_KEY'] not in said


def test_missing_bucket_is_reported_in_one_sentence(
    bucket: Url, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['release', '--store', 's3://nobody-made-it/x', '--snapshot', 'x']) == 2
    said = capsys.readouterr().err
    assert 'there is no such bucket' in said
    assert said.count('\n') == 1


def test_unreachable_bucket_is_transient_and_suggests_a_retry(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with buckets.serving() as endpoint:
        buckets.connect(endpoint, monkeypatch)
        store = Store(buckets.new_bucket())
        store.write_segment_unless_intact(PARTITION, segment(1))
    with pytest.raises(Transient, match='cannot be reached'):
        store.list_keys(PARTITION)
    assert main(['release', '--store', str(store.root), '--snapshot', 'x']) == 3
    said = capsys.readouterr().err
    assert 'run the same command again' in said
    assert buckets.KEYS['AWS_SECRET_ACCESS_KEY'] not in said


def test_folder_store_works_without_the_bucket_client() -> None:
    script = (
        'import sys; sys.modules["obstore.store"] = None; sys.modules["obstore"] = None\n'
        'from pathlib import Path; from coevo.storage.store import Store; Store(Path("nowhere"))\n'
        'from coevo.model.errors import Fatal; from coevo.storage.place import parse_root; from coevo.storage.places import open_place\n'
        'try: open_place(parse_root("s3://bucket/x"))\n'
        'except Fatal as error: print(error)\n'
    )
    command = [sys.executable, '-c', script]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 'needs the package obstore' in said.stdout, said.stderr


def test_refused_request_is_fatal_and_slow_down_is_transient() -> None:
    from coevo.storage.objects import _make_error

    refused = 'Error performing GET http://h/b in 1ms - Server returned non-2xx status code: {}: x'
    assert isinstance(_make_error(Url('s3://b'), refused.format('400 Bad Request')), Fatal)
    assert isinstance(_make_error(Url('s3://b'), refused.format('429 Slow Down')), Transient)
    assert isinstance(_make_error(Url('s3://b'), refused.format('503 Slow Down')), Transient)
