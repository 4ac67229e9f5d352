"""Withdrawals: rows that a maintainer took back. All later releases leave them out.

STORE/withdrawals/NUMBER.json

NUMBER counts from 1. A file is written once, atomically. To revoke a withdrawal, remove its file by
hand.
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
    """The kind of thing that an id names."""

    REPOSITORY = 'repository'
    PAIR = 'pair'
    TASK = 'task'


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """The withdrawal of one repository, pair or task; `number` is set by `add_or_find_withdrawal`."""

    kind: WithdrawnKind
    id: str
    reason: str
    number: int = 0


def add_or_find_withdrawal(place: StoragePlace, withdrawal: Withdrawal) -> Withdrawal:
    """Write a withdrawal and return it with its number.

    If the id is withdrawn already, return the existing withdrawal.
    """
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
    """Return all withdrawals in the order of their numbers.

    Raises: Fatal if one is damaged.
    """
    return tuple(sorted(_load_withdrawals(place), key=lambda one: one.number))


def _load_withdrawals(place: StoragePlace) -> Iterator[Withdrawal]:
    names = [entry.name for entry in place.list_files(FOLDER)]
    for name, file in zip(names, place.load_files(names), strict=True):
        if file is not None:
            yield decode_record(Withdrawal, place, name, file, 'remove it and withdraw again')
