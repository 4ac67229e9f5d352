"""The pairs of a partition that ended in a bug of ours: kept apart, and held back from the same build.

    STORE/failures/OWNER+NAME/VERB+LANGUAGE+WALK/PAIR.KEY.json

A record is there while its pair is unmined. No row and no drop of the data knows of it.
"""

from __future__ import annotations

from pathlib import Path

import filters
import flows
import miners
from coevo.languages.table import engine_version
from coevo.model.containment import Bug
from coevo.model.records import Pair
from coevo.storage import bug_records
from coevo.storage import builds
from coevo.storage.place import Place
from coevo.storage.place import folder_name
from coevo.storage.store import Partition
from flows.batches.failures import FOLDER


def build() -> str:
    """The build that mines here."""
    return builds.build(*(Path(one.__path__[0]) for one in (filters, flows, miners)))


class PairBugs:
    """Of one partition of a store, at one thing that is done with its pairs."""

    def __init__(self, place: Place, partition: Partition, verb: str = 'mine') -> None:
        self._place, self._partition = place, partition
        around = folder_name(f'{verb}/{partition.language}/{partition.walk}')
        self._folder = f'{FOLDER}/{folder_name(partition.repo)}/{around}'
        self._known = bug_records.builds(place, self._folder)

    def of_this_build(self, pair: Pair, key: str) -> str | None:
        """Where the record lies of a bug that this build has met in a pair; None if there is none."""
        name = self._name(pair, key)
        return self._place.shown(name) if self._known.get(name) == build() else None

    def keep(self, pair: Pair, key: str, bug: Bug) -> str:
        """Write down what a pair met, and say where that is."""
        about = {
            'repo': pair.repo,
            'language': self._partition.language,
            'walk': str(pair.walk),
            'pair_id': pair.pair_id,
            'old_rev': pair.old.rev,
            'new_rev': pair.new.rev,
            'engine_version': str(engine_version(pair.language)),
        }
        name = self._name(pair, key)
        self._known[name] = build()
        return bug_records.keep(self._place, name, bug, build(), about)

    def forget(self, pair: Pair, key: str) -> None:
        """The pair is mined."""
        name = self._name(pair, key)
        if self._known.pop(name, None) is not None:
            self._place.remove([name])

    def _name(self, pair: Pair, key: str) -> str:
        return f'{self._folder}/{pair.pair_id}.{key}.json'
