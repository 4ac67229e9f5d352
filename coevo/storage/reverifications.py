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
from coevo.storage.documents import decoded
from coevo.storage.documents import line
from coevo.storage.place import Place
from coevo.storage.store import Partition

FOLDER = 'reverifications'


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAgain:
    """One label. `lost` says what was otherwise than when it was mined; None if nothing was.

    runs  of its deciding cells, in fresh processes; `repeat` counts them from 0 in each cell
    """

    method_id: str
    lost: str | None
    runs: tuple[CellRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reverified:
    """Labels of the segment `key`, run again by an engine on a runtime in the segment's sandbox."""

    pair_id: str
    key: str
    number: int = 0  # set when it is kept
    engine_version: int
    runtime: str
    sandbox: str
    methods: tuple[RunAgain, ...]


def keep(place: Place, partition: Partition, found: Reverified) -> Reverified:
    """Add a record; the same under its number, which nobody else can have taken."""
    folder = _folder(partition)
    for number in count(1):
        numbered = dataclasses.replace(found, number=number)
        name = f'{folder}/{found.pair_id}.{found.key}.{number}.json'
        if place.read(name) is None and place.exchange(name, line(numbered), None):
            return numbered
    raise AssertionError('numbers do not end')


def records(place: Place, partition: Partition) -> Iterator[Reverified]:
    """All that were kept, by pair, key and number; Fatal if one is damaged."""
    names = [entry.name for entry in place.entries(_folder(partition))]
    contents = zip(names, place.read_all(names), strict=True)
    found = (
        decoded(Reverified, place, name, file, 'remove it and reverify again')
        for name, file in contents
        if file is not None
    )
    yield from sorted(found, key=lambda record: (record.pair_id, record.key, record.number))


def _folder(partition: Partition) -> str:
    return f'{FOLDER}/{partition.path.as_posix()}'
