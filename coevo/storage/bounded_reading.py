"""Read untrusted bytes within limits on size, time and expansion.

The sender of a file, an answer or an archive decides its length and speed. Every function here ends
at a limit that the caller sets, and all decoder errors become one exception.
`coevo.storage.bounded_http` sends web requests within the same limits.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import struct
import time
import tomllib
import weakref
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import IO, Any, Protocol

BLOCK = 1 << 16
"""Bytes per read."""

# A central directory takes about ten times its size in memory; 8 MiB describe about 100,000 files.
_MOST_AT_ONCE = 8 << 20

# Text and tables rarely compress to less than a hundredth. Small content may, since it does no
# harm.
_MOST_RATIO = 200
_SMALL = 16 << 20

_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED = 0x1
_NO_FILE = frozenset({errno.ENXIO, errno.ELOOP, errno.ENAMETOOLONG, errno.EISDIR, errno.ENODEV})
_DECODING = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    OverflowError,
    ValueError,
)


class UnreadableContent(ValueError):
    """Content that cannot be read; the message continues a sentence that begins with its name."""


class ContentTooLarge(UnreadableContent):
    """The content has more bytes than allowed."""


class ContentTooSlow(UnreadableContent):
    """The content did not arrive within the allowed seconds."""


class ReadableStream(Protocol):
    """A readable source of bytes: a file, a pipe or a server's answer."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; empty at the end."""


def read_stream(stream: ReadableStream, *, most: int, seconds: float | None = None) -> bytes:
    """Return all bytes of a stream.

    most     limit in bytes
    seconds  limit for all bytes together. It is checked after each read, so a single read must end
             by itself: give a socket a timeout.

    Raises: ContentTooLarge, ContentTooSlow.
    """
    return b''.join(read_blocks(stream, most=most, seconds=seconds))


def read_blocks(
    stream: ReadableStream, *, most: int, seconds: float | None = None
) -> Iterator[bytes]:
    """Yield the bytes of a stream in blocks; see `read_stream` for limits and errors."""
    end = None if seconds is None else time.monotonic() + seconds
    # `read` on a socket's file waits until a block is full; `read1` returns the available bytes.
    read = getattr(stream, 'read1', stream.read)
    count = 0
    while block := read(min(BLOCK, most - count + 1)):
        count += len(block)
        if count > most:
            raise ContentTooLarge(f'has more than {format_size(most)}')
        yield block
        if end is not None and time.monotonic() > end:
            raise ContentTooSlow(f'did not arrive within {seconds:.0f} seconds')


def read_exactly(stream: ReadableStream, size: int, *, seconds: float | None = None) -> bytes:
    """Return the next `size` bytes of a stream, and read no further.

    Raises: ContentTooSlow after `seconds` (see `read_stream`); UnreadableContent if the stream ends
    early.
    """
    content = read_stream(_StreamBeginning(stream, size), most=size, seconds=seconds)
    if len(content) != size:
        raise UnreadableContent(f'ends after {len(content)} of {size} bytes')
    return content


def open_file(path: Path) -> BufferedReader:
    """Open a regular file for reading. Anything else is refused, so that a pipe cannot block.

    Raises: FileNotFoundError, PermissionError; UnreadableContent for a pipe, folder, device, socket
    or circular link.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UnreadableContent('is no regular file')
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in _NO_FILE:
            raise UnreadableContent('is no regular file') from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # it was replaced since the first check
        os.close(descriptor)
        raise UnreadableContent('is no regular file')
    return os.fdopen(descriptor, 'rb')


def load_file(path: Path, *, most: int) -> bytes:
    """Return the bytes of a regular file; see `open_file` for errors.

    Raises: ContentTooLarge.
    """
    with open_file(path) as file:
        return read_stream(file, most=most)


@contextmanager
def open_zip(source: Path | IO[bytes]) -> Iterator[zipfile.ZipFile]:
    """Open a .zip whose list of files has a bounded length, and close it at the end of the block.

    Its members are read by `load_member` and `read_member_blocks`.

    Raises: FileNotFoundError, PermissionError; UnreadableContent if it is not a .zip or has a
    duplicate name; ContentTooLarge if it expands too much.
    """
    with open_file(source) if isinstance(source, Path) else source as file:
        yield _open_checked_zip(file)


def open_lasting_zip(source: Path) -> zipfile.ZipFile:
    """Open a .zip like `open_zip`; it stays open until nothing refers to it."""
    file = open_file(source)
    archive = _open_checked_zip(file)
    weakref.finalize(archive, file.close)
    return archive


def list_zip_names(source: Path) -> list[str]:
    """Return the names in a .zip, duplicates included, without reading its members.

    See `open_zip` for errors.
    """
    with open_file(source) as file:
        return _open_zip_directory(file).namelist()


def load_member(archive: zipfile.ZipFile, name: str, *, most: int) -> bytes:
    """Return the expanded bytes of a member.

    Raises: FileNotFoundError if there is no such member; ContentTooLarge if it exceeds `most` or
    expands suspiciously; UnreadableContent if it is encrypted, damaged, or packed by another method
    than deflate.
    """
    return b''.join(read_member_blocks(archive, name, most=most))


def read_member_blocks(archive: zipfile.ZipFile, name: str, *, most: int) -> Iterator[bytes]:
    """Yield the expanded bytes of a member in blocks; see `load_member` for errors."""
    info = archive.NameToInfo.get(name)
    if info is None:
        raise FileNotFoundError(name)
    _check_member(info, most)
    yield from _decode_member(archive, info, most)


def _open_checked_zip(file: IO[bytes]) -> zipfile.ZipFile:
    try:
        archive = _open_zip_directory(file)
        _check_archive(archive, file.seek(0, os.SEEK_END))
    except UnreadableContent:
        file.close()
        raise
    return archive


def _open_zip_directory(file: IO[bytes]) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(_ShortReadFile(file))
    except UnreadableContent:
        raise
    except _DECODING:
        raise UnreadableContent('is no .zip that can be read') from None


def _check_archive(archive: zipfile.ZipFile, size: int) -> None:
    """Check an archive of `size` bytes as a whole.

    Raises: UnreadableContent for a duplicate name, ContentTooLarge if its members together expand
    too much.
    """
    if len(archive.filelist) != len(archive.NameToInfo):
        raise UnreadableContent('has two files of one name')
    # Members may overlap in the file, so checking each one by itself is not enough.
    if sum(info.file_size for info in archive.filelist) > max(_SMALL, _MOST_RATIO * size):
        raise ContentTooLarge(f'expands to more than {_MOST_RATIO} times its size')


def _check_member(info: zipfile.ZipInfo, most: int) -> None:
    if info.flag_bits & _ENCRYPTED:
        raise UnreadableContent('is encrypted')
    if info.compress_type not in _METHODS:
        raise UnreadableContent(f'is packed by a method other than deflate ({info.compress_type})')
    if info.file_size > most:
        raise ContentTooLarge(f'has more than {format_size(most)}')
    if info.file_size > max(_SMALL, _MOST_RATIO * info.compress_size):
        raise ContentTooLarge(f'expands to more than {_MOST_RATIO} times its size')


def _decode_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> Iterator[bytes]:
    try:
        with archive.open(info) as member:
            count = 0
            for block in read_blocks(member, most=most):
                count += len(block)
                yield block
    except UnreadableContent:
        raise
    except _DECODING:
        raise UnreadableContent('is damaged') from None
    if count != info.file_size:
        raise UnreadableContent('is damaged')


class _StreamBeginning:
    """The first `size` bytes of a stream, as a stream."""

    def __init__(self, stream: ReadableStream, size: int) -> None:
        self._read = getattr(stream, 'read1', stream.read)
        self._left = size

    def read(self, size: int) -> bytes:
        """Return up to `size` of the remaining bytes; empty once the first bytes are used up."""
        block: bytes = self._read(min(size, self._left)) if self._left else b''
        self._left -= len(block)
        return block


class _ShortReadFile:
    """A file that limits a single read, since `zipfile` reads a whole central directory at once."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.seek, self.tell, self.close = file.seek, file.tell, file.close

    def seekable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes.

        Raises: ContentTooLarge if a single read would exceed the limit.
        """
        wanted = size if 0 <= size <= _MOST_AT_ONCE else _MOST_AT_ONCE + 1
        content = self._file.read(wanted)
        if len(content) > _MOST_AT_ONCE:
            raise ContentTooLarge('lists too many files')
        return content


def format_size(count: int) -> str:
    """Return a number of bytes in words, rounded down: `64 MiB`."""
    for shift, unit in ((30, 'GiB'), (20, 'MiB'), (10, 'KiB')):
        if count >= 1 << shift:
            return f'{count >> shift} {unit}'
    return f'{count} bytes'


# Parse untrusted JSON within a memory limit.
#
# A parsed text may take thirty times its size: `[],` has three bytes, but an empty list in a list
# takes 64. Therefore values are counted in the text before any object is made.

# A string, or a mark that an element follows. An unclosed string ends with the input. The
# quantifiers are possessive, so that time and memory grow linearly with the input.
_PART = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[,\[{]', re.DOTALL)


def parse_json(content: bytes, *, most_values: int) -> Any:
    """Return the value of a JSON text in UTF-8.

    most_values  limit for strings, lists, objects and further elements of both; each takes up to
                 250 bytes of memory besides its text

    Raises: UnreadableContent if the text is not JSON, is nested too deeply or has a number with too
    many digits; ContentTooLarge for too many values.
    """
    if next(islice(_PART.finditer(content), most_values, None), None) is not None:
        raise ContentTooLarge(f'has more than {most_values} values')
    try:
        return json.loads(content.decode())
    except (ValueError, RecursionError):
        raise UnreadableContent('is no JSON that can be read') from None


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises: ValueError if the text is not TOML, is nested too deeply or has a number with too many
    digits.
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError('it is nested too deeply') from None
