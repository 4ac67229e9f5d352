"""What came of the test files of a revision, kept while others are still to be looked at.

A revision takes as long as a hundred pairs; who stops it and begins again goes on with the next file.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass

from coevo.engine.results import Cost
from coevo.engine.results import Step
from coevo.model import codec
from coevo.model.reasons import Reason
from coevo.model.records import short_hash
from coevo.model.standing_rows import StandingRow
from coevo.storage.entries import Entries
from flows.standing.found import Found


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeptRow:
    row: StandingRow
    reason: Reason | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spent:
    step: Step
    cpu_seconds: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    rows: tuple[_KeptRow, ...]
    spent: tuple[_Spent, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """key  of all that rows depend on but their file, as that of the segment is"""

    entries: Entries
    key: str

    def rows(self, part: str, cost: Cost, make: Callable[[], Iterable[Found]]) -> tuple[Found, ...]:
        """Those of a part of the revision, with what they cost: known, or made and kept now."""
        key = short_hash(self.key, part)
        known = self.entries.read(key)
        if known is not None:
            return _taken_up(codec.decode(_Kept, known), cost)
        before = dict(cost.cpu_seconds), dict(cost.counts)
        made = tuple(make())
        kept = _Kept(rows=tuple(map(_kept, made)), spent=tuple(_more(cost, *before)))
        self.entries.write(key, codec.encode(kept))
        return made


def _more(
    cost: Cost, cpu_seconds: Mapping[Step, float], counts: Mapping[Step, int]
) -> Iterator[_Spent]:
    """What was spent since."""
    for step, count in cost.counts.items():
        if count > counts.get(step, 0):
            yield _Spent(
                step=step,
                cpu_seconds=cost.cpu_seconds[step] - cpu_seconds.get(step, 0.0),
                count=count - counts.get(step, 0),
            )


def _kept(found: Found) -> _KeptRow:
    if isinstance(found, StandingRow):
        return _KeptRow(row=found, reason=None, detail='')
    row, reason, detail = found
    return _KeptRow(row=row, reason=reason, detail=detail)


def _taken_up(known: _Kept, cost: Cost) -> tuple[Found, ...]:
    for one in known.spent:
        cost.add(one.step, one.cpu_seconds, one.count)
    return tuple(
        one.row if one.reason is None else (one.row, one.reason, one.detail) for one in known.rows
    )
