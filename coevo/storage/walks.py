"""What a walk said of every commit that it ever visited."""

from __future__ import annotations

import dataclasses
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime

from coevo.model.drops import Drop
from coevo.model.families import Family
from coevo.model.reasons import Reason
from coevo.model.repository_rows import RepositoryRow

# A walk that goes less far back says the one of the commit where it ends, a walk over a damaged
# clone the other: they know less, not better.
_KNOWS_LESS = (Reason.OLDEST_STATE, Reason.UNREADABLE_COMMIT, Reason.OBJECT_MISSING)

# The pairs that end at a commit, or why there are none.
_Verdict = tuple[str, ...] | Drop


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkRecord:
    """A partition's repository, and of each visited commit its pairs or the reason why it has none.

    pairs    (new revision, pair_id); more than one to a revision under the walk `window` alone
    keys     (pair_id, key of the segment that holds it now); where a pair has none, any will do
    bases    (pair_id, id of the basis that the key was computed from); see `coevo.storage.bases`
    again    (pair_id, how often it was asked for once more), of pairs for which that was done
    pushed   when the source was last pushed to, as its host had said before it was asked; None for unknown
    families  that ever asked for the test files of the walk `single_revision`, in their order
    reached  until when a walk saw all commits: when the remote was asked, or what was said of a copy
    """

    repository: RepositoryRow
    pairs: tuple[tuple[str, str], ...] = ()
    drops: tuple[Drop, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()
    bases: tuple[tuple[str, str], ...] = ()
    again: tuple[tuple[str, int], ...] = ()
    reached: datetime | None = None
    pushed: datetime | None = None
    families: tuple[Family, ...] = ()


def merge_walks(old: WalkRecord, new: WalkRecord) -> WalkRecord:
    """All commits of both: where both know one, what the new record says of it."""
    verdicts = _collect_verdicts(old)
    for rev, verdict in _collect_verdicts(new).items():
        if not _did_know_more(verdicts.get(rev), verdict):
            verdicts[rev] = verdict
    cutoffs = (old.repository.cutoff, new.repository.cutoff)
    reached = None if None in cutoffs else max(filter(None, cutoffs))
    repository = dataclasses.replace(new.repository, cutoff=reached)
    merged = _build_sorted_record(
        repository,
        verdicts,
        {**dict(old.keys), **dict(new.keys)},
        {**dict(old.bases), **dict(new.bases)},
    )
    ends = filter(None, (old.reached, new.reached))
    again = dict(old.again)
    for pair_id, number in new.again:
        again[pair_id] = max(number, again.get(pair_id, 0))
    return dataclasses.replace(
        merged,
        reached=max(ends, default=None),
        again=tuple(sorted(again.items())),
        pushed=new.pushed,
        families=tuple(family for family in Family if family in {*old.families, *new.families}),
    )


def select_commits(record: WalkRecord, revs: AbstractSet[str]) -> WalkRecord:
    """What a record says of some of its commits."""
    some = {rev: verdict for rev, verdict in _collect_verdicts(record).items() if rev in revs}
    selected = _build_sorted_record(record.repository, some, dict(record.keys), dict(record.bases))
    return dataclasses.replace(
        selected,
        reached=record.reached,
        again=record.again,
        pushed=record.pushed,
        families=record.families,
    )


def sort_walk(record: WalkRecord) -> WalkRecord:
    """The record sorted, its repository row counting what it holds."""
    arranged = _build_sorted_record(
        record.repository, _collect_verdicts(record), dict(record.keys), dict(record.bases)
    )
    return dataclasses.replace(
        arranged,
        reached=record.reached,
        again=tuple(sorted(record.again)),
        pushed=record.pushed,
        families=record.families,
    )


def _collect_verdicts(record: WalkRecord) -> dict[str, _Verdict]:
    pairs: dict[str, _Verdict] = {}
    for rev, pair_id in record.pairs:
        known = pairs.get(rev, ())
        assert isinstance(known, tuple), 'drops come later'
        pairs[rev] = (*known, pair_id)
    return pairs | {drop.key: drop for drop in record.drops}


def _did_know_more(old: _Verdict | None, new: _Verdict) -> bool:
    """Whether a record that is to be replaced saw more of a commit than the new one."""
    if old is None:
        return False
    if isinstance(new, Drop):
        return new.reason in _KNOWS_LESS
    return isinstance(old, tuple) and set(new) < set(old)


def _build_sorted_record(
    repository: RepositoryRow,
    verdicts: dict[str, _Verdict],
    keys: dict[str, str],
    bases: dict[str, str],
) -> WalkRecord:
    ordered = sorted(verdicts.items())
    pairs = tuple((rev, id_) for rev, ids in ordered if isinstance(ids, tuple) for id_ in ids)
    ids = {pair_id for _, pair_id in pairs}
    return WalkRecord(
        repository=dataclasses.replace(
            repository,
            commits_visited=len(verdicts),
            commits_kept=len(dict(pairs)),
            pairs_found=len(pairs),
        ),
        pairs=pairs,
        drops=tuple(drop for _, drop in ordered if isinstance(drop, Drop)),
        keys=tuple(sorted((pair_id, key) for pair_id, key in keys.items() if pair_id in ids)),
        bases=tuple(sorted((pair_id, basis) for pair_id, basis in bases.items() if pair_id in ids)),
    )
