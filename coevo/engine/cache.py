"""Executions by content: what the same tests gave on the same code, in the same surroundings.

An entry holds both shared passes of one batch and the processes of methods alone. It is kept only
if each method's runs agree, under no override and within all limits; it stands for those runs and
for no others, so that nothing comes out differently where it is used.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.engine.results import Order
from coevo.engine.results import Run
from coevo.languages.verdicts import Verdict
from coevo.model import codec
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.storage.entries import Entries

_SHARED = (Order.GIVEN, Order.REVERSED)
_LIMITED = (Outcome.TIMEOUT, Outcome.INFRA)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A run of the method at a place in the batch."""

    place: int
    order: Order
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    runs: tuple[_Kept, ...]


Known = Mapping[tuple[str, Order], Verdict]


class Cache:
    """A folder of entries, of about 150 bytes for each run; without a folder it knows nothing."""

    def __init__(self, folder: Path | None) -> None:
        self.entries = Entries(folder)

    def recall(self, key: str, batch: Sequence[str]) -> Known:
        """The verdicts that are known of a batch of method ids, by id and order."""
        data = self.entries.read(key)
        if data is None:
            return {}
        runs = codec.decode(_Entry, data).runs
        return {(batch[kept.place], kept.order): kept.verdict for kept in runs}

    def keep(self, key: str, batch: Sequence[str], runs: Mapping[str, Sequence[Run]]) -> None:
        """Remember a batch if its runs may be used again."""
        if not all(_is_sound(runs[method_id]) for method_id in batch):
            return
        kept = (
            _Kept(place=place, order=run.order, verdict=run.verdict)
            for place, method_id in enumerate(batch)
            for run in runs[method_id]
        )
        self.entries.write(key, codec.encode(_Entry(runs=tuple(kept))))


def batch_key(content: str, methods: Iterable[TestMethod], *surroundings: str) -> str:
    """The key of a batch, in its order, on a cell with that content."""
    digest = hashlib.sha256()
    for part in (*surroundings, content, *(repr(method) for method in methods)):
        digest.update(part.encode(errors='surrogateescape') + b'\0')
    return digest.hexdigest()


def _is_sound(runs: Sequence[Run]) -> bool:
    """One run for each order at most, both shared passes among them, and all agree."""
    orders = Counter(run.order for run in runs)
    return (
        all(orders[order] == 1 for order in _SHARED)
        and orders[Order.ALONE] <= 1
        and len({run.agreement for run in runs}) == 1
        and not any(run.verdict.outcome in _LIMITED for run in runs)
    )
