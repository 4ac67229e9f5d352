"""Records stored as files: one line of JSON or a Parquet table; records of bugs, and the bases on
which segments were mined.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.display.terminal import redact
from coevo.model import codec, schema
from coevo.model.errors import Bug, Fatal
from coevo.storage.place import StoragePlace, StoredFile


def encode_line(record: object) -> bytes:
    """Return a record as the bytes of a file: one line of JSON."""
    return codec.encode_record(record) + b'\n'


def load_record(
    record: type[codec.Record], place: StoragePlace, name: str, remedy: str
) -> codec.Record | None:
    """Return the record in a file written with `encode_line`; None if there is no file.

    Raises: Fatal, with the remedy, if the file is damaged.
    """
    file = place.read(name)
    return None if file is None else decode_record(record, place, name, file, remedy)


def decode_record(
    record: type[codec.Record], place: StoragePlace, name: str, found: StoredFile, remedy: str
) -> codec.Record:
    """Return the record in a file that was read already.

    Raises: Fatal, with the remedy, if the file is damaged.
    """
    try:
        return codec.decode_record(record, found.data)
    except (ValueError, TypeError, KeyError) as error:
        raise Fatal(f'{place.describe(name)} is damaged: {remedy}') from error


def encode_parquet(record: type, rows: Sequence[Any]) -> bytes:
    """Return records of one type as a Parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(schema.build_table(record, rows), sink, compression='zstd')
    return bytes(sink.getvalue())


# The bases on which segments were mined, one file each.
#
# STORE/bases/BASIS.json
#
# A file is written once and never changed.

FOLDER = 'bases'


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentBasis:
    """The code, thresholds and tools behind a segment; segments of the same basis are comparable.

    basis_id          hash of code, thresholds and tools
    code              digest of the code that decides rows
    parts             name and digest of each of its modules and files
    thresholds        fingerprint of the profile after options were applied
    named_thresholds  fingerprint of the profile of that name; None if the name is unknown
    tools             each as `name version`
    """

    basis_id: str
    language: str
    code: str
    parts: tuple[tuple[str, str], ...]
    profile: str
    thresholds: str
    named_thresholds: str | None
    tools: tuple[str, ...]


def add_basis(place: StoragePlace, basis: SegmentBasis) -> None:
    """Write a basis, unless it is stored already."""
    name = f'{FOLDER}/{basis.basis_id}.json'
    if place.read(name) is None:
        place.write_if_unchanged(name, encode_line(basis), None)


def load_basis(place: StoragePlace, basis_id: str) -> SegmentBasis | None:
    """Return a basis; None if the store does not have it.

    Raises: Fatal if its file is damaged.
    """
    return load_record(SegmentBasis, place, f'{FOLDER}/{basis_id}.json', 'remove it and mine again')


# Bug records: a JSON file with traceback for each bug that ended a pair, a task or an attempt.
#
# Developers read them. They also tell which build of coevo met the bug, so that another build tries
# again.


def write_and_locate_bug_record(
    place: StoragePlace, name: str, bug: Bug, build: str, about: Mapping[str, str]
) -> str:
    """Write a bug record under a name, with secrets removed, and return its location for the user.

    about  what was being processed, as plain words by kind
    """
    record = {
        **about,
        'sentence': redact(bug.sentence),
        'traceback': redact(bug.traceback),
        'build': build,
        'at': datetime.now(tz=UTC).isoformat(timespec='seconds'),
    }
    place.write_file(name, json.dumps(record, indent=2).encode() + b'\n')
    return place.describe(name)


def load_builds_by_record(place: StoragePlace, folder: str) -> dict[str, str]:
    """Return the build in each readable bug record of a folder, by the record's file name.

    Records that are malformed are left out.
    """
    builds_by_name = {}
    for entry in place.list_files(folder):
        record = place.read(entry.name)
        try:
            builds_by_name[entry.name] = str(json.loads(record.data)['build']) if record else ''
        except (ValueError, KeyError, TypeError):
            continue
    return builds_by_name


# The identity of this build of coevo: another build tries again what this one could not do.

_HERE = Path(__file__).parents[1]
_MADE = '__pycache__'


@cache
def identify_build(*beside: Path) -> str:
    """Return the version, and a digest of the code of this package and of the folders `beside`."""
    digest = hashlib.sha256()
    for folder in (_HERE, *beside):
        for path in sorted(folder.rglob('*')):
            if path.is_file() and _MADE not in path.parts:
                name = path.relative_to(folder.parent).as_posix()
                digest.update(f'{name}\0{path.stat().st_size}\0'.encode())
                digest.update(path.read_bytes())
    return f'{_find_version()}+{digest.hexdigest()[:12]}'


def _find_version() -> str:
    try:
        return metadata.version('coevo')
    except metadata.PackageNotFoundError:
        return 'uninstalled'
