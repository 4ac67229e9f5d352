"""Labels whose deciding cells were run again later, as a store keeps them.

    STORE/reverifications/OWNER+NAME/LANGUAGE/WALK/PAIR.KEY.NUMBER.json

One file for a pair each time that some of its labels were run again; NUMBER counts from 1. A file
is written whole, once, and never changed: releases take all of them.
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
    """One label. `lost` says what was otherwise than when it was mined; None if nothing was.

    runs  of its deciding cells, in fresh processes; `repeat` counts them from 0 in each cell
    """

    method_id: str
    lost: str | None
    runs: tuple[CellRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReverificationRecord:
    """Labels of the segment `key`, run again by an engine on a runtime in the segment's sandbox."""

    pair_id: str
    key: str
    number: int = 0  # set when it is kept
    engine_version: str
    runtime: str
    sandbox: str
    methods: tuple[ReverifiedLabel, ...]


def add_reverification(
    place: StoragePlace, partition: Partition, found: ReverificationRecord
) -> ReverificationRecord:
    """Add a record; the same under its number, which nobody else can have taken."""
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
    """All that were kept, by pair, key and number; Fatal if one is damaged."""
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
