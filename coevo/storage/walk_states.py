"""The state of each walk in a file of its own, so that whole stores are surveyed without segments.

    STORE/partitions/OWNER+NAME/LANGUAGE/WALK/state.json

A miner writes it when it ends. It counts only while the files that it sums up are as they were: the
listing of the store has their sizes, and none was written later. Whatever else happens to them, such
as a copy of the store, makes it void, and the files themselves are read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from coevo.model import codec
from coevo.storage.place import PlaceEntry, StoragePlace

STATE = 'state.json'

# Files that are asked for together.
_AT_ONCE = 500

_Key = TypeVar('_Key')


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkState:
    """The facts that decide whether a walk has work to do.

    engine_version  the code that mined it last
    is_complete     whether every pair of the walk has its current segment
    sizes           (name, bytes) of the files that it sums up, sorted; empty if it is not stored
    reached, pushed  as in WalkRecord
    """

    engine_version: str
    profile: str
    is_complete: bool
    reached: datetime | None
    pushed: datetime | None
    sizes: tuple[tuple[str, int], ...] = ()


def list_sizes(
    entries: Iterable[PlaceEntry], summed_up: Sequence[str]
) -> tuple[tuple[str, int], ...]:
    """Return the names and sizes of those files of a folder that a state sums up, sorted."""
    named = ((entry.name.rpartition('/')[2], entry.size) for entry in entries)
    return tuple(sorted((name, size) for name, size in named if name.endswith(tuple(summed_up))))


def load_valid_states(
    place: StoragePlace,
    folders: Mapping[str, _Key],
    entries: Iterable[PlaceEntry],
    summed_up: Sequence[str],
) -> dict[_Key, WalkState]:
    """Return the states of the partitions of a store that are as their files were.

    folders    the partition of each folder
    entries    all files of these folders, as the place lists them
    summed_up  how the names of the files end that a state sums up
    """
    by_folder: dict[str, list[PlaceEntry]] = defaultdict(list)
    for entry in entries:
        by_folder[entry.name.rpartition('/')[0]].append(entry)
    names = [
        f'{folder}/{STATE}'
        for folder in sorted(folders)
        if _is_newer_than_others(by_folder[folder], summed_up)
    ]
    states: dict[_Key, WalkState] = {}
    for name, state in _load_states(place, names):
        folder = name.rpartition('/')[0]
        if state.sizes == list_sizes(by_folder[folder], summed_up):
            states[folders[folder]] = state
    return states


def _is_newer_than_others(entries: Sequence[PlaceEntry], summed_up: Sequence[str]) -> bool:
    written = [entry.modified for entry in entries if entry.name.endswith(f'/{STATE}')]
    others = [entry.modified for entry in entries if entry.name.endswith(tuple(summed_up))]
    return bool(written) and written[0] >= max(others, default=0)


def _load_states(place: StoragePlace, names: Sequence[str]) -> Iterator[tuple[str, WalkState]]:
    for start in range(0, len(names), _AT_ONCE):
        chunk = names[start : start + _AT_ONCE]
        for name, file in zip(chunk, place.load_files(chunk), strict=True):
            if file is None:
                continue
            try:
                yield name, codec.decode_record(WalkState, file.data)
            except (TypeError, ValueError):
                continue  # of another version, or damaged: the files themselves are read
