"""Reverifications: labels whose deciding cells were run again later.

STORE/reverifications/OWNER+NAME/LANGUAGE/WALK/PAIR.KEY.NUMBER.json

Each reverification of some labels of a pair makes one file; NUMBER counts from 1. A file is written
once, atomically, and never changed. Releases use all of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from coevo.model.pair_rows import CellRow
from coevo.storage.documents import decode_record, encode_line
from coevo.storage.place import StoragePlace
from coevo.storage.store import Partition

FOLDER = 'reverifications'


@dataclass(frozen=True, slots=True, kw_only=True)
class ReverifiedLabel:
    """The reverification of one label.

    lost  how the result differs from the mined one; None if it does not
    runs  runs of its deciding cells in fresh processes; `repeat` counts them from 0 in each cell
    """

    method_id: str
    lost: str | None
    runs: tuple[CellRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReverificationRecord:
    """Labels of the segment `key`, run again by one engine version, on one runtime and sandbox.

    seed  the seed that drew them; None for records of an earlier coevo, which did not keep it
    """

    pair_id: str
    key: str
    number: int = 0  # set by `add_reverification`
    engine_version: str
    runtime: str
    sandbox: str
    methods: tuple[ReverifiedLabel, ...]
    seed: int | None = None


def add_reverification(
    place: StoragePlace, partition: Partition, found: ReverificationRecord
) -> ReverificationRecord:
    """Write a record under the next free number, and return it with that number."""
    folder = _name_partition_folder(partition)
    for number in count(1):
        numbered = dataclasses.replace(found, number=number)
        name = f'{folder}/{found.pair_id}.{found.key}.{number}.json'
        if place.read(name) is None and place.write_if_unchanged(name, encode_line(numbered), None):
            return numbered
    raise AssertionError('numbers do not end')


def load_reverifications(
    place: StoragePlace, partition: Partition
) -> Iterator[ReverificationRecord]:
    """Yield all records of a partition by pair, key and number.

    Raises: Fatal if one is damaged.
    """
    names = [entry.name for entry in place.list_files(_name_partition_folder(partition))]
    contents = zip(names, place.load_files(names), strict=True)
    reverifications = (
        decode_record(ReverificationRecord, place, name, file, 'remove it and reverify again')
        for name, file in contents
        if file is not None
    )
    yield from sorted(
        reverifications, key=lambda record: (record.pair_id, record.key, record.number)
    )


def _name_partition_folder(partition: Partition) -> str:
    return f'{FOLDER}/{partition.path.as_posix()}'
