"""Keep the results of a revision's test files while other files are still to be studied.

A revision takes as long as a hundred pairs, so an interrupted run continues with the next file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from coevo.engine.results import Cost, Step
from coevo.model import codec
from coevo.model.reasons import Reason
from coevo.model.records import compute_short_hash
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.storage.entries import FileCache
from flows.single_revision.found import Found


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredRow:
    row: SingleRevisionRow
    reason: Reason | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredCost:
    step: Step
    cpu_seconds: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredPart:
    rows: tuple[_StoredRow, ...]
    spent: tuple[_StoredCost, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCache:
    """The kept rows of one segment, part by part.

    key  covers everything on which rows depend except their file, as the key of the segment does
    """

    entries: FileCache
    key: str

    def load_or_make_rows(
        self, part: str, cost: Cost, make: Callable[[], Iterable[Found]]
    ) -> tuple[Found, ...]:
        """Return the rows of a part of the revision from the cache; else make them and store them.

        The cost of making them is stored, too, and added to `cost` when stored rows are used.
        """
        key = compute_short_hash(self.key, part)
        known = self.entries.read(key)
        if known is not None:
            return _unpack_rows(codec.decode_record(_StoredPart, known), cost)
        before = dict(cost.cpu_seconds), dict(cost.counts)
        new_rows = tuple(make())
        stored_part = _StoredPart(
            rows=tuple(map(_pack_row, new_rows)), spent=tuple(_list_new_costs(cost, *before))
        )
        self.entries.write_entry(key, codec.encode_record(stored_part))
        return new_rows


def _list_new_costs(
    cost: Cost, cpu_seconds: Mapping[Step, float], counts: Mapping[Step, int]
) -> Iterator[_StoredCost]:
    """Yield the costs since an earlier state."""
    for step, count in cost.counts.items():
        if count > counts.get(step, 0):
            yield _StoredCost(
                step=step,
                cpu_seconds=cost.cpu_seconds[step] - cpu_seconds.get(step, 0.0),
                count=count - counts.get(step, 0),
            )


def _pack_row(found: Found) -> _StoredRow:
    if isinstance(found, SingleRevisionRow):
        return _StoredRow(row=found, reason=None, detail='')
    row, reason, detail = found
    return _StoredRow(row=row, reason=reason, detail=detail)


def _unpack_rows(known: _StoredPart, cost: Cost) -> tuple[Found, ...]:
    for stored_cost in known.spent:
        cost.add(stored_cost.step, stored_cost.cpu_seconds, stored_cost.count)
    return tuple(
        stored_row.row
        if stored_row.reason is None
        else (stored_row.row, stored_row.reason, stored_row.detail)
        for stored_row in known.rows
    )
