"""Which labels are run again: a random sample of all that stand, those with a track first."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coevo.model.words import Walk
from coevo.snapshots import snapshot
from coevo.storage import reverifications
from coevo.storage.store import Partition, Store

_PREFERENCE = tuple(Walk)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnLabel:
    """A labelled method, in the walk that is preferred of those in which it has one."""

    partition: Partition
    pair_id: str
    method_id: str
    tracked: bool


def draw_labels(
    store: Store, released: Path | str | None, seed: int, repository: str | None = None
) -> tuple[DrawnLabel, ...]:
    """All labels of a store that were not refuted, in the order of the sample.

    The order depends on the seed and on the ids of methods alone.

    released    a snapshot: only what stands in it
    repository  only what is of that one
    """

    def rank_label(label: DrawnLabel) -> tuple[bool, str]:
        rank = hashlib.sha256(f'{seed}\0{label.method_id}'.encode()).hexdigest()
        return not label.tracked, rank

    return tuple(sorted(_list_population(store, released, repository), key=rank_label))


def _list_population(
    store: Store, released: Path | str | None, repository: str | None
) -> Iterator[DrawnLabel]:
    """One for each method id, whatever the number of walks that meet it."""
    selected = None if released is None else _load_released_methods(released)
    there = (
        store.list_partitions()
        if repository is None
        else store.list_repository_partitions(repository)
    )
    partitions = sorted(there, key=lambda one: _PREFERENCE.index(one.walk))
    known = {id_ for partition in partitions for id_ in _list_refuted_methods(store, partition)}
    for partition in partitions:
        for segment in store.load_segments(partition):
            for row in segment.methods:
                if row.method_id not in known and (selected is None or row.method_id in selected):
                    known.add(row.method_id)
                    yield DrawnLabel(
                        partition=partition,
                        pair_id=row.pair_id,
                        method_id=row.method_id,
                        tracked=row.track is not None,
                    )


def _list_refuted_methods(store: Store, partition: Partition) -> Iterator[str]:
    for record in reverifications.load_reverifications(store.storage, partition):
        yield from (method.method_id for method in record.methods if method.lost is not None)


def _load_released_methods(path: Path | str) -> frozenset[str]:
    with snapshot.translate_read_errors((path,)):
        connection = snapshot.open_snapshots(path)
        rows = connection.execute('SELECT DISTINCT method_id FROM methods').fetchall()
    return frozenset(id_ for (id_,) in rows)
