"""Find the cohort of a month: what its release waits for.

Its members are the repositories that the crawls kept at the month's end and that are eligible today
(`flows.eligibility`): valid, not withdrawn, not gone. A member is missing while the store does not
know all of its commits until the month's end, or has pairs of these that are not mined. A pair that
ended in a bug of this build of coevo is not waited for; the release names it as unmined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from coevo.snapshots.cutoffs import compute_first_clean_moment
from coevo.storage.cohorts import LeftRepository, MissingReason, MissingRepository, MonthCohort
from coevo.storage.place import Root
from coevo.storage.store import Partition, Store
from coevo.storage.walks import WalkRecord
from flows.bugs import PairBugs
from flows.crawling.crawls import (
    load_latest_stamps,
    load_rows_by_profile,
    load_stamps_at,
)
from flows.eligibility import Eligibility, Obstacle, load_eligibility
from miners.discovery.candidates import CandidateReason

# Returns the committer date of a repository's commit; None if it cannot be read.
FindCommitDate = Callable[[str, str], datetime | None]


def find_cohort(
    store: Store, month: str, find_date: FindCommitDate, stated: datetime | None = None
) -> MonthCohort | None:
    """Return the cohort of a month and what is missing of it; None if the store has no crawl.

    find_date  is only asked about commits of pairs that are not mined
    stated     until when copies have all commits whose walks do not say it
    """
    if not load_latest_stamps(store.root):
        return None
    last = compute_first_clean_moment(month) - timedelta(microseconds=1)
    partitions = store.group_partitions()
    known = load_eligibility(store.root)
    seen = [known[repo] for repo in _list_candidates_at(store.root, last) if repo in known]
    members = tuple(each.repo for each in seen if _is_member(each))
    missing = (
        _find_missing(store, repo, partitions[repo], last, find_date, stated) for repo in members
    )
    return MonthCohort(
        month=month,
        members=members,
        missing=tuple(each for each in missing if each is not None),
        left=tuple(
            LeftRepository(repo=each.repo, reason=str(each.obstacle))
            for each in seen
            if partitions[each.repo] and not _is_member(each)
        ),
        unvalidated=sum(each.obstacle is Obstacle.NOT_VALIDATED for each in seen),
    )


def _list_candidates_at(store: Root, moment: datetime) -> list[str]:
    """Return the repositories that the crawls of a moment keep, or could not ask about, sorted."""
    rows = load_rows_by_profile(store, load_stamps_at(store, moment))
    return [
        repo
        for repo, by_profile in rows.items()
        if any(row.kept or row.reason is CandidateReason.UNKNOWN for row in by_profile.values())
    ]


def _is_member(known: Eligibility) -> bool:
    """Return whether a repository is waited for: GitHub's silence does not take it out."""
    is_valid = known.validation is not None and known.validation.valid
    return is_valid and known.obstacle in (None, Obstacle.UNANSWERED)


def _find_missing(
    store: Store,
    repo: str,
    partitions: Sequence[Partition],
    last: datetime,
    find_date: FindCommitDate,
    stated: datetime | None,
) -> MissingRepository | None:
    """Return the reason why a repository is missing in a month; None if all of it is there.

    Walks that nobody continues count for nothing as long as another one reaches the month's end.
    """
    if not partitions:
        return MissingRepository(repo=repo, reason=MissingReason.NOT_MINED)
    walks = {partition: store.load_walk(partition) for partition in partitions}
    ends = {partition: walk.reached or stated for partition, walk in walks.items()}
    reached = max(filter(None, ends.values()), default=None)
    if reached is None or reached < last:
        day = f'{reached:%Y-%m-%d}' if reached else 'an unknown day'
        return MissingRepository(repo=repo, reason=MissingReason.NOT_REACHED, detail=day)
    waiting = sum(
        _count_waiting_pairs(store, partition, walk, last, find_date)
        for partition, walk in walks.items()
        if (end := ends[partition]) is not None and end >= last
    )
    if waiting:
        return MissingRepository(repo=repo, reason=MissingReason.PAIRS_UNMINED, detail=str(waiting))
    return None


def _count_waiting_pairs(
    store: Store, partition: Partition, walk: WalkRecord, last: datetime, find_date: FindCommitDate
) -> int:
    """Return the number of unmined pairs until a moment, without those that this build cannot mine."""
    unmined = set(store.load_mined(partition, walk).unmined)
    if not unmined:
        return 0
    unmined -= PairBugs(store.storage, partition).list_pairs_of_this_build(dict(walk.keys))
    dates = {
        pair_id: find_date(partition.repo, rev) for rev, pair_id in walk.pairs if pair_id in unmined
    }
    return sum(date is None or date <= last for date in dates.values())
