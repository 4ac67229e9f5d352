"""A cache of test runs, keyed by content: the same tests on the same code in the same environment.

An entry holds the runs of one batch: both shared passes and the processes of single methods. It is
stored only if the runs of each method agree, none hit a limit and no override was used. An entry
replaces exactly these runs, so results with and without the cache are the same.
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
    """A run of a method; `place` is the index of the method in the batch."""

    place: int
    order: RunOrder
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class _CacheEntry:
    runs: tuple[_CachedRun, ...]


Known = Mapping[tuple[str, RunOrder], Verdict]
"""Verdicts by method id and run order."""


class Cache:
    """A folder of entries, with about 150 bytes for each run.

    Without a folder nothing is found and nothing is stored.
    """

    def __init__(self, folder: Path | None) -> None:
        self.entries = FileCache(folder)

    def load_verdicts(self, key: str, batch: Sequence[str]) -> Known:
        """Return the verdicts that were stored for a batch of method ids, by id and order.

        Empty if there is no entry.
        """
        data = self.entries.read(key)
        if data is None:
            return {}
        runs = codec.decode_record(_CacheEntry, data).runs
        return {(batch[run.place], run.order): run.verdict for run in runs}

    def store_batch_if_cacheable(
        self, key: str, batch: Sequence[str], runs: Mapping[str, Sequence[MethodRun]]
    ) -> None:
        """Store the runs of a batch, unless those of a method disagree or hit a limit."""
        if not all(_can_be_cached(runs[method_id]) for method_id in batch):
            return
        cached_runs = (
            _CachedRun(place=position, order=run.order, verdict=run.verdict)
            for position, method_id in enumerate(batch)
            for run in runs[method_id]
        )
        self.entries.write_entry(key, codec.encode_record(_CacheEntry(runs=tuple(cached_runs))))


def compute_batch_key(content: str, methods: Iterable[TestMethod], *surroundings: str) -> str:
    """Return the key of a batch of methods, in its order.

    content       the digest of the compiled cell
    surroundings  further texts that the key depends on, such as the engine's version
    """
    digest = hashlib.sha256()
    for part in (*surroundings, content, *(repr(method) for method in methods)):
        digest.update(part.encode(errors='surrogateescape') + b'\0')
    return digest.hexdigest()


def _can_be_cached(runs: Sequence[MethodRun]) -> bool:
    """Return whether the runs of a method may be stored.

    There must be one run in each shared order and at most one alone; all must agree, and none may
    have hit a limit.
    """
    orders = Counter(run.order for run in runs)
    return (
        all(orders[order] == 1 for order in _SHARED)
        and orders[RunOrder.ALONE] <= 1
        and len({run.agreement_key for run in runs}) == 1
        and not any(run.verdict.outcome in _LIMITED for run in runs)
    )
