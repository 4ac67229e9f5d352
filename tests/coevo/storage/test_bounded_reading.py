"""Files and archives of strangers: what is no file is not opened, what is too large ends early."""

from __future__ import annotations

import io
import os
import socket
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from coevo.storage.bounded_reading import (
    ContentTooLarge,
    ContentTooSlow,
    UnreadableContent,
    list_zip_names,
    load_file,
    load_member,
    open_zip,
    read_exactly,
    read_stream,
)

MIB = 1 << 20


def test_a_stream_is_read_up_to_its_bound() -> None:
    assert read_stream(io.BytesIO(b'x' * 10), most=10) == b'x' * 10
    with pytest.raises(ContentTooLarge, match='more than 9 bytes'):
        read_stream(io.BytesIO(b'x' * 10), most=9)


def test_a_slow_stream_ends_at_its_time_limit() -> None:
    class Endless(io.RawIOBase):
        def read(self, size: int = -1, /) -> bytes:
            return b'x'

    with pytest.raises(ContentTooSlow, match='within 0 seconds'):
        read_stream(Endless(), most=1 << 40, seconds=0.05)


def test_no_byte_after_the_requested_bytes_is_read() -> None:
    stream = io.BytesIO(b'abcdef')
    assert (read_exactly(stream, 4), stream.read()) == (b'abcd', b'ef')
    with pytest.raises(UnreadableContent, match='ends after 0 of 4'):
        read_exactly(stream, 4)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


NO_FILES: dict[str, Callable[[Path], object]] = {
    'a pipe': os.mkfifo,
    'a folder': Path.mkdir,
    'a socket': _socket,
    'a way to a device': lambda path: path.symlink_to('/dev/zero'),
    'a circle of links': lambda path: path.symlink_to(path.name),
    'a way to a pipe': lambda path: (
        os.mkfifo(path.with_name('other')),
        path.symlink_to('other'),
    ),
}


@pytest.mark.parametrize('name', NO_FILES)
def test_a_path_that_is_no_regular_file_is_refused_without_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    NO_FILES[name](Path('x.zip'))
    with pytest.raises(UnreadableContent, match='no regular file'):
        load_file(Path('x.zip'), most=MIB)
    with pytest.raises(UnreadableContent, match='no regular file'), open_zip(Path('x.zip')):
        pass


def test_a_file_with_a_reported_size_of_zero_is_bounded() -> None:
    with pytest.raises(ContentTooLarge):
        load_file(Path('/proc/kallsyms'), most=100)


def _zip(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytearray:
    content = io.BytesIO()
    with zipfile.ZipFile(content, 'w', method) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return bytearray(content.getvalue())


def _changed(offsets: dict[bytes, int], value: bytes) -> bytearray:
    """An archive of one file whose headers hold another value at an offset behind their mark."""
    raw = _zip({'a': b'some text, some text'})
    for mark, offset in offsets.items():
        at = raw.index(mark) + offset
        raw[at : at + len(value)] = value
    return raw


LOCAL, CENTRAL, END = b'PK\x03\x04', b'PK\x01\x02', b'PK\x05\x06'


def _damaged() -> bytearray:
    raw = _zip({'a': b'some text, some text'})
    raw[31:40] = b'\xff' * 9
    return raw


def _overlapping() -> bytearray:
    """A hundred names of the same bytes, each of which by itself may be read."""
    raw = _zip({'a': b' ' * (15 * MIB)})
    start, end = raw.index(CENTRAL), raw.index(END)
    entry = raw[start:end]
    names = b''.join(
        entry[:46].replace(entry[28:30], struct.pack('<H', 3), 1)[:28]
        + struct.pack('<H', 3)
        + entry[30:46]
        + b'%03d' % number
        for number in range(100)
    )
    tail = bytearray(raw[end:])
    tail[8:20] = struct.pack('<HHLL', 100, 100, len(names), start)
    return raw[:start] + names + tail


ARCHIVES: dict[str, tuple[Callable[[], bytearray], str]] = {
    'an encrypted one': (lambda: _changed({LOCAL: 6, CENTRAL: 8}, b'\x01'), 'is encrypted'),
    'an unknown method': (lambda: _changed({LOCAL: 8, CENTRAL: 10}, b'\x63'), 'other than deflate'),
    'bzip2, whose blocks expand at once': (
        lambda: _zip({'a': b'x'}, zipfile.ZIP_BZIP2),
        'other than deflate',
    ),
    'LZMA': (lambda: _zip({'a': b'x'}, zipfile.ZIP_LZMA), 'other than deflate'),
    'bytes that are damaged': (_damaged, 'is damaged'),
    'another checksum': (lambda: _changed({LOCAL: 14, CENTRAL: 16}, b'\0\0\0\0'), 'is damaged'),
    'more bytes than said': (lambda: _changed({CENTRAL: 24}, b'\x05'), 'is damaged'),
    'fewer bytes than said': (lambda: _changed({CENTRAL: 24}, b'\x50'), 'is damaged'),
    'a name in one place alone': (lambda: _changed({LOCAL: 30}, b'b'), 'is damaged'),
    'a place outside': (lambda: _changed({CENTRAL: 42}, b'\xff\xff\xff\x7f'), 'is damaged'),
    'a later version': (lambda: _changed({CENTRAL: 6}, b'\xff'), 'no .zip that can be read'),
    'a name that is no UTF-8': (
        lambda: _changed({CENTRAL: 9, LOCAL: 7}, b'\x08').replace(b'a', b'\xff'),
        'no .zip that can be read',
    ),
    'a bomb': (lambda: _zip({'a': b' ' * (64 * MIB)}), 'more than 200 times'),
    'names of the same bytes': (_overlapping, 'more than 200 times'),
    'a name twice': (lambda: _zip({'a': b'1', 'b': b'2'}).replace(b'b', b'a'), 'two files of one'),
    'a list of names without end': (
        lambda: _zip({f'{number:0>900}': b'' for number in range(9000)}),
        'too many files',
    ),
    'a comment alone': (lambda: bytearray(END + b'\0' * 18), 'no file'),
    'nothing': (bytearray, 'no .zip that can be read'),
}


@pytest.mark.parametrize('name', ARCHIVES)
def test_every_faulty_archive_raises_an_error_that_names_the_fault(name: str) -> None:
    made, words = ARCHIVES[name]
    try:
        with open_zip(io.BytesIO(made())) as archive:
            load_member(archive, 'a', most=16 * MIB)
    except FileNotFoundError:
        said = 'no file'
    except UnreadableContent as error:
        said = str(error)
    assert words in said


def test_an_archive_member_is_read_up_to_its_bound() -> None:
    with open_zip(io.BytesIO(_zip({'a': b'x' * 1000}))) as archive:
        assert load_member(archive, 'a', most=1000) == b'x' * 1000
        with pytest.raises(ContentTooLarge, match='more than 999 bytes'):
            load_member(archive, 'a', most=999)


def test_an_archive_appended_to_a_program_is_read() -> None:
    with open_zip(io.BytesIO(b'#!/bin/sh\n' * 1000 + _zip({'a': b'x'}))) as archive:
        assert load_member(archive, 'a', most=1) == b'x'


def test_archive_names_are_listed_whatever_their_content(tmp_path: Path) -> None:
    place = tmp_path / 'x.jar'
    place.write_bytes(_zip({'a': b'1', 'b': b' ' * (64 * MIB)}).replace(b'b', b'a'))
    assert list_zip_names(place) == ['a', 'a']
