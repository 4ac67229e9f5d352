"""The bases on which segments were mined, one file each.

STORE/bases/BASIS.json

A file is written once and never changed.
"""

from __future__ import annotations

from dataclasses import dataclass

from coevo.storage.documents import encode_line, load_record
from coevo.storage.place import StoragePlace

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
