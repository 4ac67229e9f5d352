"""Find the cohort of a month: what its release waits for.

Its members are the repositories that the crawls kept at the month's end and that are eligible today
(`flows.eligibility`): valid, not withdrawn, not gone. A member is missing while the store does not
know all of its commits until the month's end, or has pairs of these that are not mined. A pair that
ended in a bug of this build of coevo is not waited for; the release names it as unmined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import filters
import flows
import miners
from coevo.languages.table import get_engine_version
from coevo.model.errors import Bug
from coevo.model.records import Pair
from coevo.snapshots.cutoffs import compute_first_clean_moment
from coevo.storage import documents
from coevo.storage.months import LeftRepository, MissingReason, MissingRepository, MonthCohort
from coevo.storage.place import Root, StoragePlace, encode_folder_name
from coevo.storage.store import Partition, Store
from coevo.storage.walks import WalkRecord
from flows.batches.batch import FOLDER
from flows.crawling.crawls import load_latest_stamps, load_rows_by_repo_and_profile, load_stamps_at
from flows.eligibility import Eligibility, Obstacle, load_eligibility
from miners.discovery.candidates import CandidateReason

# Keep records of pairs that ended in a bug of coevo.
#
# The same build does not try them again.
#
#     STORE/failures/OWNER+NAME/VERB+LANGUAGE+WALK/PAIR.KEY.json
#
# A record exists while its pair is unmined. The rows and drops of the data do not mention it.


def identify_mining_build() -> str:
    """Return the version of coevo and a digest of the code that mines here."""
    return documents.identify_build(
        *(Path(package.__path__[0]) for package in (filters, flows, miners))
    )


class PairBugs:
    """The bugs of the pairs of one partition, for one kind of work on them."""

    def __init__(self, place: StoragePlace, partition: Partition, verb: str = 'mine') -> None:
        self._place, self._partition = place, partition
        around = encode_folder_name(f'{verb}/{partition.language}/{partition.walk}')
        self._folder = f'{FOLDER}/{encode_folder_name(partition.repo)}/{around}'
        self._known = documents.load_builds_by_record(place, self._folder)

    def find_bug_address_of_this_build(self, pair_id: str, key: str) -> str | None:
        """Return the address of the record of a bug that this build has met in a pair.

        None if there is none, or another build met it.
        """
        name = self._name_record(pair_id, key)
        return (
            self._place.describe(name) if self._known.get(name) == identify_mining_build() else None
        )

    def list_bug_pairs_of_this_build(self, keys_by_pair_id: Mapping[str, str]) -> frozenset[str]:
        """Return the ids of the pairs in which this build has met a bug.

        keys  the key of each pair's segment, by pair id
        """
        build = identify_mining_build()
        return frozenset(
            pair_id
            for pair_id, key in keys_by_pair_id.items()
            if self._known.get(self._name_record(pair_id, key)) == build
        )

    def write_bug_and_get_address(self, pair: Pair, key: str, bug: Bug) -> str:
        """Write a record of a bug in a pair; return its address."""
        about = {
            'repo': pair.repo,
            'language': self._partition.language,
            'walk': str(pair.walk),
            'pair_id': pair.pair_id,
            'old_rev': pair.old.rev,
            'new_rev': pair.new.rev,
            'engine_version': str(get_engine_version(pair.language)),
        }
        name = self._name_record(pair.pair_id, key)
        self._known[name] = identify_mining_build()
        return documents.write_and_locate_bug_record(
            self._place, name, bug, identify_mining_build(), about
        )

    def forget_bug(self, pair_id: str, key: str) -> None:
        """Remove the record of a bug in a pair, since the work on the pair has now succeeded.

        Do nothing if there is none.
        """
        name = self._name_record(pair_id, key)
        if self._known.pop(name, None) is not None:
            self._place.remove_files([name])

    def _name_record(self, pair_id: str, key: str) -> str:
        return f'{self._folder}/{pair_id}.{key}.json'


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
        _explain_missing_repository(store, repo, partitions[repo], last, find_date, stated)
        for repo in members
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
    rows = load_rows_by_repo_and_profile(store, load_stamps_at(store, moment))
    return [
        repo
        for repo, by_profile in rows.items()
        if any(row.kept or row.reason is CandidateReason.UNKNOWN for row in by_profile.values())
    ]


def _is_member(known: Eligibility) -> bool:
    """Return whether a repository is waited for: GitHub's silence does not take it out."""
    is_valid = known.validation is not None and known.validation.valid
    return is_valid and known.obstacle in (None, Obstacle.UNANSWERED)


def _explain_missing_repository(
    store: Store,
    repo: str,
    partitions: Sequence[Partition],
    last: datetime,
    find_date: FindCommitDate,
    stated: datetime | None,
) -> MissingRepository | None:
    """Return the reason why a repository is missing in a month; None if all of it is there.

    Walks that are not continued do not count as long as another one reaches the month's end.
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
        _count_unmined_pairs_until(store, partition, walk, last, find_date)
        for partition, walk in walks.items()
        if (end := ends[partition]) is not None and end >= last
    )
    if waiting:
        return MissingRepository(repo=repo, reason=MissingReason.PAIRS_UNMINED, detail=str(waiting))
    return None


def _count_unmined_pairs_until(
    store: Store, partition: Partition, walk: WalkRecord, last: datetime, find_date: FindCommitDate
) -> int:
    """Return the number of unmined pairs until a moment, without those that this build cannot mine."""
    unmined = set(store.load_mined_partition(partition, walk).unmined)
    if not unmined:
        return 0
    unmined -= PairBugs(store.storage, partition).list_bug_pairs_of_this_build(dict(walk.keys))
    dates = {
        pair_id: find_date(partition.repo, rev) for rev, pair_id in walk.pairs if pair_id in unmined
    }
    return sum(date is None or date <= last for date in dates.values())
