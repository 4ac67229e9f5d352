"""The framing between coevo and its JVM programs, with a reader that trusts none of the input.

A request is an int32 count followed by that many strings. A string is an int32 length and UTF-8
bytes. A response is one JSON string in the same framing, then file frames (byte 1, path, int64
length, bytes) and an end byte 0. All integers are big-endian.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from coevo.model.errors import Transient
from coevo.storage.beneath import UnsafePath, find_path_fault, join_beneath

_BLOCK = 1 << 16
_FILE_COST = 512  # added to the size of each file, so that empty files use up the limit too


class WireError(Transient):
    """The other side ended early, violated the framing, or sent more than the limit."""


def encode_strings(strings: Sequence[str]) -> bytes:
    """Encode a request, ready to be written."""
    parts = [struct.pack('>i', len(strings))]
    for text in strings:
        data = text.encode('utf-8', errors='surrogateescape')
        parts += (struct.pack('>i', len(data)), data)
    return b''.join(parts)


def send_request(stream: IO[bytes], strings: Sequence[str]) -> None:
    """Write a request and flush it."""
    stream.write(encode_strings(strings))
    stream.flush()


@dataclass(slots=True)
class _ByteBudget:
    """The number of bytes that may still arrive."""

    left: int

    def spend(self, size: int) -> None:
        """Subtract a size; raises WireError if it is negative or exceeds what is left."""
        if size < 0:
            raise WireError(f'the JVM announced {size} bytes')
        self.left -= size
        if self.left < 0:
            raise WireError('the JVM sent more bytes than it may')


def receive_response(
    stream: IO[bytes], folder: Path, *, limit: int
) -> tuple[object, tuple[str, ...]]:
    """Read one response; write its files below `folder`; return its JSON and the files' paths.

    limit   bytes of JSON and files together; each file counts 512 bytes extra
    folder  exists and is used by coevo alone; no file in it is replaced and no link is followed

    Raises: WireError for a malformed response or one above the limit.
    """
    budget = _ByteBudget(limit)
    if _receive_integer(stream) != 1:
        raise WireError('the JVM sent no response')
    value = _parse_json(_receive_string(stream, budget))
    seen: dict[str, None] = {}
    while (kind := _receive_exactly(stream, 1)) == b'\1':
        path = _check_path(_receive_string(stream, budget), seen)
        _receive_file(stream, folder, path, budget)
        seen[path] = None
    if kind != b'\0':
        raise WireError(f'the JVM sent a frame of unknown kind {kind!r}')
    return value, tuple(seen)


def _parse_json(text: str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f'the JVM sent bad JSON: {error}') from error
    return value


def _receive_exactly(stream: IO[bytes], size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = stream.read(min(_BLOCK, size - len(data)))
        if not part:
            raise WireError('the JVM ended in the middle of a response')
        data += part
    return bytes(data)


def _receive_integer(stream: IO[bytes]) -> int:
    return int.from_bytes(_receive_exactly(stream, 4), 'big', signed=True)


def _receive_string(stream: IO[bytes], budget: _ByteBudget) -> str:
    size = _receive_integer(stream)
    budget.spend(size)
    try:
        return _receive_exactly(stream, size).decode()
    except UnicodeDecodeError as error:
        raise WireError('the JVM sent text that is not UTF-8') from error


def _check_path(path: str, seen: dict[str, None]) -> str:
    parts = path.split('/')
    if (
        find_path_fault(path) is not None
        or '\\' in path
        or any(part in ('', '.') for part in parts)
    ):
        raise WireError(f'the JVM sent the path {path!r}')
    if path in seen:
        raise WireError(f'the JVM sent {path!r} twice')
    return path


def _receive_file(stream: IO[bytes], folder: Path, path: str, budget: _ByteBudget) -> None:
    size = int.from_bytes(_receive_exactly(stream, 8), 'big', signed=True)
    budget.spend(size)
    budget.spend(_FILE_COST)
    try:
        with join_beneath(folder, path).open_new_file() as file:
            while size:
                size -= file.write(_receive_exactly(stream, min(_BLOCK, size)))
    except (FileExistsError, UnsafePath) as error:
        raise WireError(f'the JVM sent {path!r}, which is there already') from error
