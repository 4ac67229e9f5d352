"""Executions by content: what the same tests gave on the same code, in the same surroundings.

An entry holds both shared passes of one batch and the processes of methods alone. It is kept only
if each method's runs agree, under no override and within all limits; it stands for those runs and
for no others, so that nothing comes out differently where it is used.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.engine.results import MethodRun, RunOrder
from coevo.languages.verdicts import Verdict
from coevo.model import codec
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.storage.entries import FileCache

_SHARED = (RunOrder.GIVEN, RunOrder.REVERSED)
_LIMITED = (Outcome.TIMEOUT, Outcome.INFRA)


@dataclass(frozen=True, slots=True, kw_only=True)
class _CachedRun:
    """A run of the method at a place in the batch."""

    place: int
    order: RunOrder
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class _CacheEntry:
    runs: tuple[_CachedRun, ...]


Known = Mapping[tuple[str, RunOrder], Verdict]


class Cache:
    """A folder of entries, of about 150 bytes for each run; without a folder it knows nothing."""

    def __init__(self, folder: Path | None) -> None:
        self.entries = FileCache(folder)

    def recall(self, key: str, batch: Sequence[str]) -> Known:
        """The verdicts that are known of a batch of method ids, by id and order."""
        data = self.entries.read(key)
        if data is None:
            return {}
        runs = codec.decode_record(_CacheEntry, data).runs
        return {(batch[run.place], run.order): run.verdict for run in runs}

    def store_batch(
        self, key: str, batch: Sequence[str], runs: Mapping[str, Sequence[MethodRun]]
    ) -> None:
        """Remember a batch if its runs may be used again."""
        if not all(_can_be_cached(runs[method_id]) for method_id in batch):
            return
        cached_runs = (
            _CachedRun(place=position, order=run.order, verdict=run.verdict)
            for position, method_id in enumerate(batch)
            for run in runs[method_id]
        )
        self.entries.write_entry(key, codec.encode_record(_CacheEntry(runs=tuple(cached_runs))))


def compute_batch_key(content: str, methods: Iterable[TestMethod], *surroundings: str) -> str:
    """The key of a batch, in its order, on a cell with that content."""
    digest = hashlib.sha256()
    for part in (*surroundings, content, *(repr(method) for method in methods)):
        digest.update(part.encode(errors='surrogateescape') + b'\0')
    return digest.hexdigest()


def _can_be_cached(runs: Sequence[MethodRun]) -> bool:
    """One run for each order at most, both shared passes among them, and all agree."""
    orders = Counter(run.order for run in runs)
    return (
        all(orders[order] == 1 for order in _SHARED)
        and orders[RunOrder.ALONE] <= 1
        and len({run.agreement for run in runs}) == 1
        and not any(run.verdict.outcome in _LIMITED for run in runs)
    )
