"""What a place promises, and what it says where it cannot keep it."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.errors import Fatal
from coevo.model.errors import Transient
from coevo.storage.place import Place
from coevo.storage.place import Url
from coevo.storage.place import root_of
from coevo.storage.places import place_of
from coevo.storage.store import Store
from tests import buckets
from tests.segments import PARTITION
from tests.segments import segment
from tests.segments import walk


@pytest.fixture(params=['folder', 'bucket'])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    there = tmp_path / 'store'
    return place_of(there if request.param == 'folder' else request.getfixturevalue('bucket'))


def test_an_exchange_needs_what_was_read(place: Place) -> None:
    first = place.exchange('a/b', b'1', None)
    assert first is not None
    assert place.exchange('a/b', b'2', None) is None
    second = place.exchange('a/b', b'22', first)
    assert second is not None
    assert place.exchange('a/b', b'3', first) is None
    found = place.read('a/b')
    assert found is not None
    assert (found.data, found.version) == (b'22', second)
    place.remove(['a/b', 'a/c'])
    assert place.read('a/b') is None
    assert place.exchange('a/b', b'3', second) is None


def test_of_writers_at_once_each_sees_what_the_others_wrote(place: Place) -> None:
    """Six threads add four words each to a list: nothing may be lost."""
    place.write('words', b'')

    def add(word: str) -> None:
        done = None
        while done is None:
            found = place.read('words')
            assert found is not None
            done = place.exchange('words', found.data + f'{word} '.encode(), found.version)

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
def test_names_come_back_as_they_were(place: Place, name: str) -> None:
    place.write(name, b'x')
    place.write('ab/other', b'y')
    assert [entry.name for entry in place.entries('a')] == [name]
    assert place.tops() == {'a', 'ab'}


def test_a_miner_that_lost_its_lease_writes_neither_walk_nor_merged_file(bucket: Url) -> None:
    store = Store(bucket)
    lock = f'partitions/{PARTITION.path.as_posix()}/lock'

    def names() -> set[str]:
        found = store.place.entries(lock.rpartition('/')[0])
        return {entry.name.rpartition('/')[2] for entry in found}

    with store.lock(PARTITION):
        store.write(PARTITION, segment(1))
        before = names()
        store.place.write(lock, b'{"owner":"other","seconds":60,"token":"x"}')
        with pytest.raises(Transient, match='no longer held'):
            store.write_walk(PARTITION, walk(1))
        with pytest.raises(Transient, match='no longer held'):
            store.compact(PARTITION)
    assert names() == before
    assert Store(bucket).keys(PARTITION) == {'engine-1'}


@pytest.mark.parametrize(
    'text', ['s3://', 's3://bucket//x', 'gs://bucket', 's3://key:secret@bucket/x', 's3://b/x?y=1']
)
def test_a_url_is_one_of_s3_and_holds_no_keys(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['release', '--store', text, '--snapshot', 'x']) == 2
    said = capsys.readouterr().err
    assert 's3://BUCKET/PREFIX' in said
    assert 'secret' not in said


def test_a_path_is_a_path() -> None:
    assert root_of('some/store') == Path('some/store')
    assert root_of('s3://bucket/a/') == 's3://bucket/a'


def test_without_keys_one_sentence_says_so(
    bucket: Url, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv('AWS_ACCESS_KEY_ID')
    assert main(['release', '--store', bucket, '--snapshot', 'x']) == 2
    said = capsys.readouterr().err
    assert 'set AWS_ACCESS_KEY_ID' in said
    assert said.count('\n') == 1
    assert buckets.KEYS['AWS_SECRET_ACCESS_KEY'] not in said


def test_without_a_bucket_one_sentence_says_so(
    bucket: Url, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['release', '--store', 's3://nobody-made-it/x', '--snapshot', 'x']) == 2
    said = capsys.readouterr().err
    assert 'there is no such bucket' in said
    assert said.count('\n') == 1


def test_trouble_of_the_network_is_worth_another_try(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with buckets.serving() as endpoint:
        buckets.connect(endpoint, monkeypatch)
        store = Store(buckets.new_bucket())
        store.write(PARTITION, segment(1))
    with pytest.raises(Transient, match='cannot be reached'):
        store.keys(PARTITION)
    assert main(['release', '--store', str(store.root), '--snapshot', 'x']) == 3
    said = capsys.readouterr().err
    assert 'run the same command again' in said
    assert buckets.KEYS['AWS_SECRET_ACCESS_KEY'] not in said


def test_without_the_client_a_folder_will_do() -> None:
    script = (
        'import sys; sys.modules["obstore.store"] = None; sys.modules["obstore"] = None\n'
        'from pathlib import Path; from coevo.storage.store import Store; Store(Path("nowhere"))\n'
        'from coevo.model.errors import Fatal; from coevo.storage.place import root_of; from coevo.storage.places import place_of\n'
        'try: place_of(root_of("s3://bucket/x"))\n'
        'except Fatal as error: print(error)\n'
    )
    command = [sys.executable, '-c', script]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 'needs the package obstore' in said.stdout, said.stderr


def test_a_refusal_is_no_trouble_of_the_network() -> None:
    from coevo.storage.objects import _trouble

    refused = 'Error performing GET http://h/b in 1ms - Server returned non-2xx status code: {}: x'
    assert isinstance(_trouble(Url('s3://b'), refused.format('400 Bad Request')), Fatal)
    assert isinstance(_trouble(Url('s3://b'), refused.format('429 Slow Down')), Transient)
    assert isinstance(_trouble(Url('s3://b'), refused.format('503 Slow Down')), Transient)
