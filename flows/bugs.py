"""Keep records of pairs that ended in a bug of coevo.

The same build does not try them again.

    STORE/failures/OWNER+NAME/VERB+LANGUAGE+WALK/PAIR.KEY.json

A record exists while its pair is unmined. The rows and drops of the data do not mention it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import filters
import flows
import miners
from coevo.languages.table import get_engine_version
from coevo.model.containment import Bug
from coevo.model.records import Pair
from coevo.storage import bug_records, builds
from coevo.storage.place import StoragePlace, encode_folder_name
from coevo.storage.store import Partition
from flows.batches.failures import FOLDER


def identify_mining_build() -> str:
    """Return the version of coevo and a digest of the code that mines here."""
    return builds.identify_build(
        *(Path(package.__path__[0]) for package in (filters, flows, miners))
    )


class PairBugs:
    """The bugs of the pairs of one partition, for one kind of work on them."""

    def __init__(self, place: StoragePlace, partition: Partition, verb: str = 'mine') -> None:
        self._place, self._partition = place, partition
        around = encode_folder_name(f'{verb}/{partition.language}/{partition.walk}')
        self._folder = f'{FOLDER}/{encode_folder_name(partition.repo)}/{around}'
        self._known = bug_records.load_builds_by_record(place, self._folder)

    def find_bug_of_this_build(self, pair_id: str, key: str) -> str | None:
        """Return the address of the record of a bug that this build has met in a pair.

        None if there is none, or another build met it.
        """
        name = self._name_record(pair_id, key)
        return (
            self._place.describe(name) if self._known.get(name) == identify_mining_build() else None
        )

    def list_pairs_of_this_build(self, keys: Mapping[str, str]) -> frozenset[str]:
        """Return the ids of the pairs in which this build has met a bug.

        keys  the key of each pair's segment, by pair id
        """
        build = identify_mining_build()
        return frozenset(
            pair_id
            for pair_id, key in keys.items()
            if self._known.get(self._name_record(pair_id, key)) == build
        )

    def write_bug(self, pair: Pair, key: str, bug: Bug) -> str:
        """Write a record of a bug in a pair; return its address."""
        about = {
            'repo': pair.repo,
            'language': self._partition.language,
            'walk': str(pair.walk),
            'pair_id': pair.pair_id,
            'old_rev': pair.old.rev,
            'new_rev': pair.new.rev,
            'engine_version': str(get_engine_version(pair.language)),
        }
        name = self._name_record(pair.pair_id, key)
        self._known[name] = identify_mining_build()
        return bug_records.write_bug_record(self._place, name, bug, identify_mining_build(), about)

    def forget_bug(self, pair_id: str, key: str) -> None:
        """Remove the record of a bug in a pair, since the work on the pair has now succeeded.

        Do nothing if there is none.
        """
        name = self._name_record(pair_id, key)
        if self._known.pop(name, None) is not None:
            self._place.remove_files([name])

    def _name_record(self, pair_id: str, key: str) -> str:
        return f'{self._folder}/{pair_id}.{key}.json'
