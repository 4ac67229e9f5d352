"""Snapshots whose bytes are not what they say: each ends in one sentence, soon, wherever it lies."""

from __future__ import annotations

import os
import shutil
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import coevo
from coevo.command.main import main
from coevo.model.errors import DamagedSnapshot
from coevo.snapshots import remote_files
from coevo.snapshots.catalogue import load_catalogue
from coevo.snapshots.verification import verify_snapshot
from tests import snapshots
from tests.coevo.snapshots.test_forms import edit
from tests.coevo.snapshots.test_verification import reseal
from tests.raw_server import Said, saying

MUCH = b' ' * (1 << 16)
LONG = b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n'
PART = b'HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-9/10\r\n'


@pytest.fixture(scope='module')
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return snapshots.make(tmp_path_factory.mktemp('made'), 1)


@pytest.fixture
def snapshot(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / 'snapshot'))


def said_by(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The status of a command, and all that it says, which is one line."""
    status = main(list(words))
    said = capsys.readouterr()
    lines = (said.out + said.err).splitlines()
    assert 'Traceback' not in said.err
    assert len(lines) <= 2, lines
    return status, ' '.join(lines)


SERVERS = {
    'a part without end': (Said(to_head=LONG % 10, first=PART + b'\r\n', forever=MUCH), 'other parts'),
    'a part in chunks without end': (
        Said(
            to_head=LONG % 10,
            first=PART + b'Transfer-Encoding: chunked\r\n\r\n',
            forever=b'10000\r\n' + MUCH + b'\r\n',
        ),
        'other parts',
    ),
    'a longer part than was asked for': (
        Said(to_head=LONG % 10, first=PART + b'Content-Length: 20\r\n\r\n' + b'x' * 20),
        'other parts',
    ),
    'a shorter part than was asked for': (
        Said(to_head=LONG % 10, first=PART + b'Content-Length: 5\r\n\r\n' + b'x' * 5),
        'other parts',
    ),
    'a part of no bytes': (Said(to_head=LONG % 10, first=PART + b'Content-Length: 0\r\n\r\n'), 'other parts'),
    'a part that breaks off': (
        Said(to_head=LONG % 10, first=PART + b'Content-Length: 10\r\n\r\nabc'),
        'breaks off after 3 of 10',
    ),
    'a part that drips': (
        Said(to_head=LONG % 100, first=PART + b'Content-Length: 100\r\n\r\n', drip=b'x'),
        'did not arrive within',
    ),
    'a header that drips': (Said(first=b'HTTP/1.1 200 OK\r\nX: ', drip=b'x'), 'did not arrive within'),
    'a packed bomb': (
        Said(
            to_head=LONG % 10,
            first=PART + b'Content-Encoding: gzip\r\nContent-Length: 10\r\n\r\n\x1f\x8b\x08' + b'\0' * 7,
        ),
        'is damaged',
    ),
    'a length of petabytes': (Said(first=LONG % (1 << 50)), 'more than 64 MiB'),
    'a length of thirty digits': (Said(first=LONG % 10**30), 'does not say how long'),
    'a negative length': (Said(first=b'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'), 'does not say how long'),
    'no length': (Said(first=b'HTTP/1.1 200 OK\r\n\r\n', forever=MUCH), 'does not say how long'),
    'a file of this machine': (
        Said(first=b'HTTP/1.1 302 No\r\nLocation: file:///etc/passwd\r\n\r\n'),
        'the server says 302',
    ),
}  # fmt: skip


@pytest.mark.parametrize('verb', ['query', 'verify', 'query --list'])
@pytest.mark.parametrize('name', SERVERS)
def test_every_hostile_server_response_ends_in_one_sentence(
    name: str, verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_files, '_PATIENCE', 1.0)
    said, words = SERVERS[name]
    with saying(said) as url:
        status, told = said_by((*verb.split(), url), capsys)
    assert status in (1, 2, 3)
    assert words.replace('64 MiB', '8 MiB' if verb == 'query --list' else '64 MiB') in told or (
        verb == 'query --list' and 'is damaged' in told
    )


def _packed(snapshot: Path, **more: str) -> Path:
    place = snapshot.with_name('packed.zip')
    with zipfile.ZipFile(place, 'w', zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(snapshot.rglob('*')):
            archive.write(file, file.relative_to(snapshot))
        for name, text in more.items():
            archive.writestr(name, text)
    return place


def _flagged(place: Path, central: int, local: int, value: bytes) -> None:
    """Set bytes behind the mark of every header."""
    raw = bytearray(place.read_bytes())
    for mark, offset in ((b'PK\x01\x02', central), (b'PK\x03\x04', local)):
        at = -1
        while (at := raw.find(mark, at + 1)) >= 0:
            raw[at + offset : at + offset + len(value)] = value
    place.write_bytes(raw)


def _bomb(snapshot: Path) -> Path:
    place = snapshot.with_name('packed.zip')
    with (
        zipfile.ZipFile(place, 'w', zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open('manifest.json', 'w') as file,
    ):
        for _ in range(64):
            file.write(b' ' * (1 << 20))
    return place


def _with(central: int, local: int, value: bytes) -> Callable[[Path], Path]:
    def make(snapshot: Path) -> Path:
        place = _packed(snapshot)
        _flagged(place, central, local, value)
        return place

    return make


def _pipe(snapshot: Path) -> Path:
    os.mkfifo(snapshot.with_name('packed.zip'))
    return snapshot.with_name('packed.zip')


def _linked(snapshot: Path) -> Path:
    snapshot.with_name('packed.zip').symlink_to('/dev/zero')
    return snapshot.with_name('packed.zip')


ARCHIVES: dict[str, tuple[Callable[[Path], Path], str]] = {
    'encrypted': (_with(8, 6, b'\x01'), 'is encrypted'),
    'packed by a method that is not known': (_with(10, 8, b'\x63\0'), 'other than deflate'),
    'of other sizes': (_with(24, 22, b'\x05\0\0\0'), 'is damaged'),
    'of other checksums': (_with(16, 14, b'\0\0\0\0'), 'is damaged'),
    'a bomb': (_bomb, 'more than 200 times'),
    'with a file twice': (
        lambda snapshot: _packed(snapshot, **{'manifest.json': '{}'}),
        'two files of one name',
    ),
    'a pipe': (_pipe, 'no regular file'),
    'a way to a device': (_linked, 'no regular file'),
    'a folder': (lambda snapshot: snapshot.rename(snapshot.with_suffix('.zip')), 'no regular file'),
}


@pytest.mark.filterwarnings('ignore:Duplicate name')
@pytest.mark.parametrize('verb', ['query', 'verify'])
@pytest.mark.parametrize('name', ARCHIVES)
def test_every_hostile_archive_ends_in_one_sentence(
    snapshot: Path, name: str, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make, words = ARCHIVES[name]
    status, told = said_by((verb, str(make(snapshot))), capsys)
    assert status in (1, 2)
    assert words in told


def _many(count: int) -> bytes:
    """A list of so many things, of which none follows."""
    digits = bytearray()
    while count > 127:
        digits.append(count & 127 | 128)
        count >>= 7
    return b'\x19\xfc' + bytes((*digits, count))


FOOTERS = {
    'columns without end': b'\x15\x02' + _many(2**31 - 1),
    'ten million columns': b'\x15\x02' + _many(10_000_000),
    'ten million row groups': b'\x15\x02\x19\x0c\x16\x02' + _many(10_000_000),
    'a name of two gigabytes': b'\x15\x02\x19\x1c\x48\xff\xff\xff\xff\x07',
    'structures in structures': b'\x15\x02' + b'\xac' * 1_000_000,
    'lists in lists': b'\xf9' + b'\x19' * 1_000_000,
    'nothing': b'',
}


@pytest.mark.parametrize('place', ['folder', 'zip'])
@pytest.mark.parametrize('name', FOOTERS)
def test_a_parquet_footer_that_needs_too_much_memory_is_damaged(
    snapshot: Path, name: str, place: str
) -> None:
    footer = FOOTERS[name]
    file = next((snapshot / 'data' / 'tasks').glob('*.parquet'))
    file.write_bytes(b'PAR1' + footer + struct.pack('<I', len(footer)) + b'PAR1')
    reseal(snapshot)
    opened = snapshot if place == 'folder' else _packed(snapshot)
    with pytest.raises(DamagedSnapshot, match='damaged footer'):
        coevo.open(opened)
    assert {(one.table, one.rule) for one in verify_snapshot(opened)} == {('tasks', 'unreadable')}


@pytest.mark.parametrize('length', [0, 0x7FFFFFFF, 0xFFFFFFF0])
def test_an_impossible_parquet_footer_length_is_damaged(snapshot: Path, length: int) -> None:
    file = next((snapshot / 'data' / 'tasks').glob('*.parquet'))
    file.write_bytes(file.read_bytes()[:-8] + struct.pack('<I', length) + b'PAR1')
    reseal(snapshot)
    with pytest.raises(DamagedSnapshot, match='footer'):
        coevo.open(snapshot)
    assert {(one.table, one.rule) for one in verify_snapshot(snapshot)} == {('tasks', 'unreadable')}


def test_a_manifest_that_promises_more_than_the_disk_holds_is_not_copied(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = snapshot / 'manifest.json'
    manifest.write_text(
        manifest.read_text().replace('"files": {', '"files": {"x": {"size": %d, "sha256": "%s"},')
        % (1 << 61, '0' * 64)
    )
    status, told = said_by(('verify', str(_packed(snapshot))), capsys)
    assert (status, 'has room for' in told) == (2, True)


def test_a_file_that_is_longer_than_its_manifest_says_is_not_copied(snapshot: Path) -> None:
    (snapshot / 'README.md').write_bytes(b' ' * (1 << 20))
    assert [(one.row, one.rule) for one in verify_snapshot(_packed(snapshot))] == [
        ('README.md', 'file_changed')
    ]


@pytest.mark.parametrize('name', ['manifest.json', 'catalogue.json'])
@pytest.mark.parametrize('kind', ['pipe', 'device', 'large', 'many'])
def test_an_oversized_or_special_manifest_or_catalogue_is_damaged(
    tmp_path: Path, name: str, kind: str
) -> None:
    file = tmp_path / name
    if kind == 'pipe':
        os.mkfifo(file)
    elif kind == 'device':
        file.symlink_to('/dev/zero')
    elif kind == 'large':
        with file.open('wb') as sparse:
            sparse.truncate(1 << 40)
    else:
        file.write_bytes(b'{"a":[' + b'[],' * (2 << 20) + b'0]}')
    with pytest.raises(DamagedSnapshot, match='damaged'):
        (coevo.open if name == 'manifest.json' else load_catalogue)(tmp_path)


ADDRESSES = {
    'https://example.org/a/b': True,
    'http://example.org/a/b.git': True,
    'git://example.org/a': True,
    'ssh://git@example.org:22/a/b': True,
    'git@example.org:a/b.git': True,
    'https://[::1]:8080/a': True,
    'javascript:alert(1)': False,
    'javascript://example.org/%0aalert(1)': False,
    'JavaScript:alert(1)': False,
    'data:text/html,x': False,
    'file:///etc/passwd': False,
    'ext::sh -c x': False,
    'ext::sh': False,
    'ftp://example.org/a': False,
    'https:example.org': False,
    'https://': False,
    'example.org/a': False,
    'a@javascript::x': False,
    'https://example.org/a b': False,
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize('address', ADDRESSES)
def test_a_repository_url_must_be_a_web_or_git_address(snapshot: Path, address: str) -> None:
    edit(snapshot, 'repositories', url=f"'{address}'")
    if ADDRESSES[address]:
        coevo.open(snapshot).close()
    else:
        with pytest.raises(DamagedSnapshot, match='a url of repositories'):
            coevo.open(snapshot)
