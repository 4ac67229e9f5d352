from __future__ import annotations

import io
import json
import struct
from pathlib import Path

import pytest

from coevo.languages.java.tools.wire import WireError, encode_strings, receive_response

LIMIT = 10_000


def text(value: str) -> bytes:
    return struct.pack('>i', len(value.encode())) + value.encode()


def response(*files: tuple[str, bytes], value: object = None, end: bytes = b'\0') -> io.BytesIO:
    frames = [b'\1' + text(path) + struct.pack('>q', len(data)) + data for path, data in files]
    return io.BytesIO(struct.pack('>i', 1) + text(json.dumps(value)) + b''.join(frames) + end)


def test_request_is_encoded_as_a_count_and_strings() -> None:
    assert encode_strings(['ab', 'é']) == b'\0\0\0\2' + b'\0\0\0\2ab' + b'\0\0\0\2\xc3\xa9'


def test_received_files_are_written_below_the_folder(tmp_path: Path) -> None:
    value, files = receive_response(
        response(('a/b/c', b'one'), ('a/d', b''), value={'x': [1]}), tmp_path, limit=LIMIT
    )
    assert value == {'x': [1]}
    assert files == ('a/b/c', 'a/d')
    assert (tmp_path / 'a/b/c').read_bytes() == b'one'
    assert (tmp_path / 'a/d').read_bytes() == b''


@pytest.mark.parametrize(
    'path', ['/etc/x', '../x', 'a/../x', 'a//b', './a', '', 'a/', 'a\0b', 'a\\b', '..']
)
def test_unclean_paths_of_received_files_are_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(WireError):
        receive_response(response((path, b'x')), tmp_path, limit=LIMIT)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize('paths', [('a', 'a'), ('a', 'a/b'), ('a/b', 'a')])
def test_received_file_is_never_written_twice(paths: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(WireError):
        receive_response(response((paths[0], b'x'), (paths[1], b'y')), tmp_path, limit=LIMIT)


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    folder, outside = tmp_path / 'in', tmp_path / 'out'
    folder.mkdir()
    outside.mkdir()
    (folder / 'link').symlink_to(outside)
    (folder / 'file').symlink_to(outside / 'new')
    for path in ('link/x', 'file'):
        with pytest.raises(WireError):
            receive_response(response((path, b'x')), folder, limit=LIMIT)
    assert list(outside.iterdir()) == []


def test_response_larger_than_the_limit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WireError, match='more bytes'):
        receive_response(response(('a', b'x' * LIMIT)), tmp_path / 'none', limit=LIMIT)
    many = [(f'f{number}', b'') for number in range(LIMIT // 512 + 1)]
    with pytest.raises(WireError, match='more bytes'):
        receive_response(response(*many), tmp_path, limit=LIMIT)
    huge = io.BytesIO(struct.pack('>ii', 1, 2**31 - 1))
    with pytest.raises(WireError, match='more bytes'):
        receive_response(huge, tmp_path, limit=LIMIT)


@pytest.mark.parametrize('size', [0, 3, 8, 20, 40])
def test_truncated_response_raises_an_error(size: int, tmp_path: Path) -> None:
    whole = response(('a', b'x' * 100)).getvalue()
    with pytest.raises(WireError, match='ended'):
        receive_response(io.BytesIO(whole[:size]), tmp_path, limit=LIMIT)


@pytest.mark.parametrize(
    'data',
    [
        struct.pack('>i', 2),
        struct.pack('>i', 1) + struct.pack('>i', -1),
        struct.pack('>i', 1) + text('{'),
        struct.pack('>i', 1) + text('[' * 5000),
        struct.pack('>i', 1) + struct.pack('>i', 1) + b'\xff',
        struct.pack('>i', 1) + text('1') + b'\7',
        struct.pack('>i', 1) + text('1') + b'\1' + text('a') + struct.pack('>q', -1),
    ],
)
def test_malformed_frame_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(WireError):
        receive_response(io.BytesIO(data), tmp_path, limit=LIMIT)
