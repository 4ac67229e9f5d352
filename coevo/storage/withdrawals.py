"""What was taken back by a person, as a store keeps it: releases leave it out from then on.

    STORE/withdrawals/NUMBER.json

NUMBER counts from 1. A file is written whole, once; who was mistaken removes it by hand.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import count

from coevo.storage.documents import decode_record, encode_line
from coevo.storage.place import StoragePlace

FOLDER = 'withdrawals'


class WithdrawnKind(StrEnum):
    """What an id is the id of."""

    REPOSITORY = 'repository'
    PAIR = 'pair'
    TASK = 'task'


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """One repository, pair or task; `number` is set when it is kept."""

    kind: WithdrawnKind
    id: str
    reason: str
    number: int = 0


def add_withdrawal(place: StoragePlace, withdrawal: Withdrawal) -> Withdrawal:
    """Add a withdrawal; the same under its number. What is withdrawn already keeps its reason."""
    for known in list_withdrawals(place):
        if (known.kind, known.id) == (withdrawal.kind, withdrawal.id):
            return known
    for number in count(1):
        numbered = dataclasses.replace(withdrawal, number=number)
        name = f'{FOLDER}/{number}.json'
        if place.read(name) is None and place.write_if_unchanged(name, encode_line(numbered), None):
            return numbered
    raise AssertionError('numbers do not end')


def list_withdrawals(place: StoragePlace) -> tuple[Withdrawal, ...]:
    """All that were kept, in the order of their numbers; Fatal if one is damaged."""
    return tuple(sorted(_load_withdrawals(place), key=lambda one: one.number))


def _load_withdrawals(place: StoragePlace) -> Iterator[Withdrawal]:
    names = [entry.name for entry in place.list_files(FOLDER)]
    for name, file in zip(names, place.load_files(names), strict=True):
        if file is not None:
            yield decode_record(Withdrawal, place, name, file, 'remove it and withdraw again')
