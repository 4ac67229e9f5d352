"""The record of a walk: its result for every commit that it ever visited."""

from __future__ import annotations

import dataclasses
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from coevo.model.families import Family
from coevo.model.reasons import Reason
from coevo.model.records import Drop
from coevo.model.repository_rows import RepositoryRow

# Reasons that reflect incomplete knowledge: a shorter walk gives the first at its end, a walk over
# a damaged or partial clone gives the others. They do not replace an earlier result.
_KNOWS_LESS = (Reason.OLDEST_STATE, Reason.UNREADABLE_COMMIT, Reason.OBJECT_MISSING)

# The pairs that end at a commit, or the reason why there are none.
_Verdict = tuple[str, ...] | Drop


class BudgetOutcome(StrEnum):
    """The decision whether a walk goes further back, which follows from the tasks that it gave."""

    DEEPER = 'deeper'
    WAITS = 'waits'  # it gave no task for its CPU seconds
    DEAR = 'dear'  # its tasks cost too much
    END = 'end'  # there is nothing older, or the limit is reached


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkBudget:
    """The last decision on how far back a repository is mined, with what it rests on.

    rule         the rule in words
    commits      the newest commits that were asked for
    tasks        tasks of their pairs, before duplicates
    cpu_seconds  CPU seconds of labelling their pairs, as segments record them
    """

    rule: str
    commits: int
    tasks: int
    cpu_seconds: float
    outcome: BudgetOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkRecord:
    """A partition's repository, and for each visited commit its pairs or why it has none.

    pairs     (new revision, pair_id); only the walk `window` has several for one revision
    drops     one for each visited commit without a pair, with the reason
    keys      (pair_id, key of its current segment); for a pair without an entry, any segment is
              current
    bases     (pair_id, id of the basis from which the key was computed); see `coevo.storage.documents`
    again     (pair_id, number of times that it was requested again), for such pairs only
    pushed    time of the last push to the source, as its host reported before the fetch; None if
              unknown
    families  families that ever requested the test files of the walk `single_revision`, in their
              order
    reached   time up to which a walk saw all commits: when the remote was fetched, or the time
              stated for a copy
    budget    the last decision on the depth of a walk that follows its tasks; None if none does
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
    budget: WalkBudget | None = None


def merge_walks(old: WalkRecord, new: WalkRecord) -> WalkRecord:
    """Return a record with the commits of both.

    For a common commit the new result wins, unless it knows less.
    """
    verdicts = _collect_verdicts(old)
    for rev, verdict in _collect_verdicts(new).items():
        if not _must_keep_old_verdict(verdicts.get(rev), verdict):
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
        budget=new.budget or old.budget,
    )


def select_commits(record: WalkRecord, revs: AbstractSet[str]) -> WalkRecord:
    """Return the part of a record about some of its commits."""
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
    """Return the record sorted, with the counts in its repository row computed anew."""
    arranged = _build_sorted_record(
        record.repository, _collect_verdicts(record), dict(record.keys), dict(record.bases)
    )
    return dataclasses.replace(
        arranged,
        reached=record.reached,
        again=tuple(sorted(record.again)),
        pushed=record.pushed,
        families=record.families,
        budget=record.budget,
    )


def _collect_verdicts(record: WalkRecord) -> dict[str, _Verdict]:
    pairs: dict[str, _Verdict] = {}
    for rev, pair_id in record.pairs:
        known = pairs.get(rev, ())
        assert isinstance(known, tuple), 'drops come later'
        pairs[rev] = (*known, pair_id)
    return pairs | {drop.key: drop for drop in record.drops}


def _must_keep_old_verdict(old: _Verdict | None, new: _Verdict) -> bool:
    """Return whether the old result for a commit must be kept because the new one knows less."""
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
