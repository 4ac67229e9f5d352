"""A file of named, compressed, checksummed pieces.

Damage is detected and limited to the damaged piece.

Layout: one line (magic, SHA-256 and length of the index), the index as JSON, then the pieces as
zstd.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

MAGIC = 'coevo-archive-1'
_LEVEL = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivePiece:
    """A compressed piece; `size` is its uncompressed length in bytes."""

    size: int
    compressed: bytes

    def unpack(self) -> bytes:
        """Return the uncompressed bytes."""
        content: bytes = pa.decompress(
            self.compressed, decompressed_size=self.size, codec='zstd', asbytes=True
        )
        return content


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """The intact pieces of a file, and the names of the damaged ones."""

    pieces: Mapping[str, ArchivePiece]
    damaged: tuple[str, ...]


class DamagedArchive(Exception):
    """The index of the file is damaged, so nothing in the file can be trusted."""


def pack_piece(data: bytes) -> ArchivePiece:
    """Return data as a compressed piece."""
    codec = pa.Codec('zstd', compression_level=_LEVEL)
    return ArchivePiece(size=len(data), compressed=codec.compress(data, asbytes=True))


def encode_archive(pieces: Mapping[str, ArchivePiece]) -> bytes:
    """Return the bytes of a file with these pieces; equal pieces give equal bytes."""
    ordered = sorted(pieces.items())
    index = json.dumps(
        [
            [name, piece.size, len(piece.compressed), _compute_checksum(piece.compressed)]
            for name, piece in ordered
        ]
    ).encode()
    head = f'{MAGIC} {_compute_checksum(index)} {len(index)}\n'.encode()
    return b''.join((head, index, *(piece.compressed for _, piece in ordered)))


def decode_archive(data: bytes) -> Archive:
    """Return the pieces of a file.

    Raises: DamagedArchive if its index is damaged.
    """
    start = data.find(b'\n') + 1
    match data[:start].decode('ascii', 'replace').split():
        case [magic, checksum, length] if magic == MAGIC and length.isdecimal():
            end = start + int(length)
        case _:
            raise DamagedArchive('it does not begin as an archive')
    if _compute_checksum(data[start:end]) != checksum:
        raise DamagedArchive('its index')
    return _cut_pieces(json.loads(data[start:end]), data, end)


def _cut_pieces(index: list[tuple[str, int, int, str]], data: bytes, offset: int) -> Archive:
    pieces, damaged = {}, []
    for name, size, length, checksum in index:
        compressed = data[offset : offset + length]
        offset += length
        if _compute_checksum(compressed) == checksum:
            pieces[name] = ArchivePiece(size=size, compressed=compressed)
        else:
            damaged.append(name)
    return Archive(pieces=pieces, damaged=tuple(damaged))


def _compute_checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
