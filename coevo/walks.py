"""What a walk said of every commit that it ever visited."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from coevo.reasons import Reason
from coevo.records import Drop
from coevo.records import RepositoryRow

# A walk that goes less far back says this of the commit where it ends: it knows less, not better.
_END_OF_WALK = Reason.OLDEST_STATE


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkRecord:
    """A partition's repository, and of each visited commit its pair or the reason why it has none.

    pairs  (new revision, pair_id)
    keys   (pair_id, key of the segment that holds it now); where a pair has none, any will do
    """

    repository: RepositoryRow
    pairs: tuple[tuple[str, str], ...] = ()
    drops: tuple[Drop, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()


def merge(old: WalkRecord, new: WalkRecord) -> WalkRecord:
    """All commits of both: where both know one, what the new record says of it."""
    verdicts = _verdicts(old)
    for rev, verdict in _verdicts(new).items():
        ends = isinstance(verdict, Drop) and verdict.reason == _END_OF_WALK
        if rev not in verdicts or not ends:
            verdicts[rev] = verdict
    cutoffs = (old.repository.cutoff, new.repository.cutoff)
    reached = None if None in cutoffs else max(filter(None, cutoffs))
    repository = dataclasses.replace(new.repository, cutoff=reached)
    return _arrange(repository, verdicts, {**dict(old.keys), **dict(new.keys)})


def arrange(record: WalkRecord) -> WalkRecord:
    """The record sorted, its repository row counting what it holds."""
    return _arrange(record.repository, _verdicts(record), dict(record.keys))


def _verdicts(record: WalkRecord) -> dict[str, str | Drop]:
    return {**dict(record.pairs), **{drop.key: drop for drop in record.drops}}


def _arrange(
    repository: RepositoryRow, verdicts: dict[str, str | Drop], keys: dict[str, str]
) -> WalkRecord:
    ordered = sorted(verdicts.items())
    pairs = tuple((rev, found) for rev, found in ordered if isinstance(found, str))
    ids = {pair_id for _, pair_id in pairs}
    return WalkRecord(
        repository=dataclasses.replace(
            repository, commits_visited=len(verdicts), commits_kept=len(pairs)
        ),
        pairs=pairs,
        drops=tuple(found for _, found in ordered if isinstance(found, Drop)),
        keys=tuple(sorted((pair_id, key) for pair_id, key in keys.items() if pair_id in ids)),
    )
