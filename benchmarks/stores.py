"""Segments of several stores: of a pair that more than one has, the first one's word counts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from coevo.model.segment import Segment
from coevo.model.words import Walk
from coevo.storage.store import Store


def segments(
    stores: Sequence[Store], walks: Collection[Walk], repo: str | None = None
) -> Iterator[Segment]:
    """Of one repository, or of all."""
    known: set[tuple[str, Walk]] = set()
    for store in stores:
        for partition in store.list_partitions():
            if partition.walk in walks and repo in (None, partition.repo):
                for segment in store.load_segments(partition):
                    pair = segment.pair.pair_id, segment.pair.walk
                    if pair not in known:
                        known.add(pair)
                        yield segment
