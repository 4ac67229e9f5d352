"""Select what belongs to one month of a store.

These are commits up to its end by committer date, as walks saw them.

The first release of a month fixes its content (`coevo.storage.months`). What is mined later comes
with the next month, even if it was committed before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from coevo.model.errors import Fatal
from coevo.snapshots.cutoffs import compute_first_clean_moment
from coevo.snapshots.forms import is_month
from coevo.storage import measures
from coevo.storage.dates import RowDates
from coevo.storage.measures import MeasuresName
from coevo.storage.months import MonthCohort, MonthPart, MonthRecord
from coevo.storage.packed_segments import MinedPartition
from coevo.storage.reverifications import ReverificationRecord
from coevo.storage.store import Partition, Store
from coevo.storage.walks import WalkRecord, select_commits
from coevo.storage.withdrawals import Withdrawal


@dataclass(frozen=True, slots=True, kw_only=True)
class CloneFacts:
    """Facts about commits from the clones, and about copies from the user.

    committed  the committer date of a repository's commit; None if it cannot be read
    stated     until when copies have all commits; None means until their newest commit
    """

    committed: Callable[[str, str], datetime | None]
    licence: Callable[[str, str], str | None]
    stated: datetime | None = None


class MonthCut:
    """One month of a store, selected partition by partition.

    If the month was released before, `fixed` decides what belongs to it.

    cohort  the repositories that it has to hold; None if that is unknown
    """

    def __init__(
        self,
        month: str,
        known: CloneFacts,
        fixed: MonthRecord | None = None,
        cohort: MonthCohort | None = None,
    ) -> None:
        self.month = month
        self.last = compute_first_clean_moment(month) - timedelta(microseconds=1)
        self.fixed = fixed
        self.cohort = fixed.cohort if fixed else cohort
        self._known = known
        self._parts = {part.partition: part for part in fixed.parts} if fixed else {}
        self._withdrawn: tuple[int, ...] = ()
        self._dates: tuple[RowDates, ...] = ()
        self._families = dict(fixed.families) if fixed else {}
        self._reached: dict[Partition, datetime | None] = {}

    def select_mined(self, store: Store, partition: Partition) -> MinedPartition | None:
        """Return the walk and segments of a partition that belong to the month.

        None if nothing does.
        """
        if self.fixed is not None:
            part = self._parts.get(partition)
            return _load_fixed_part(store, part) if part else None
        walk = self._cut_walk(store, partition)
        return store.load_mined_partition(partition, walk) if walk else None

    def _cut_walk(self, store: Store, partition: Partition) -> WalkRecord | None:
        walk = store.load_walk(partition)
        revs = {rev for rev, _ in walk.pairs} | {drop.key for drop in walk.drops}
        dates = {rev: self._known.committed(partition.repo, rev) for rev in revs}
        self._reached[partition] = reached = _compute_reached(walk, dates, self._known.stated)
        within = {rev: date for rev, date in dates.items() if date is None or date <= self.last}
        if not within:
            return None
        head = max(within, key=lambda rev: (str(within[rev] or ''), rev))
        whole = reached is not None and reached >= self.last
        newest = max(filter(None, within.values()), default=None)
        month_walk = select_commits(walk, within.keys())
        row = dataclasses.replace(month_walk.repository, cutoff=self.last if whole else newest)
        if within[head] is not None:
            license_ = self._known.licence(partition.repo, head)
            row = dataclasses.replace(row, head=head, license=license_)
        # The time of the crawl does not matter to a month that it covers, and no clock may show in
        # the data.
        return dataclasses.replace(
            month_walk, repository=row, reached=reached and min(reached, self.last)
        )

    def filter_reverified_if_fixed(
        self, partition: Partition, found: Iterable[ReverificationRecord]
    ) -> Iterator[ReverificationRecord]:
        """Yield the reverifications that count for the month.

        These are all, or those known when the month was fixed.
        """
        part = self._parts.get(partition)
        for record in found:
            number = record.pair_id, record.key, record.number
            if self.fixed is None or (part is not None and number in part.reverified):
                yield record

    def select_measures_if_fixed(
        self, store: Store, partition: Partition, found: Mapping[str, MeasuresName]
    ) -> dict[str, MeasuresName]:
        """Return the measures that count for the month, by the key of their segment.

        These are the last ones, or those known when the month was fixed. Raises: Fatal if the store
        lacks one of the latter.
        """
        if self.fixed is None:
            return dict(found)
        part = self._parts.get(partition)
        return measures.select_measures(
            store.storage, partition, part.measured if part is not None else ()
        )

    def add_partition(
        self,
        partition: Partition,
        mined: MinedPartition,
        keys: Mapping[str, str],
        found: Iterable[ReverificationRecord],
        names: Mapping[str, MeasuresName],
    ) -> None:
        """Record the content of a partition, for `build_record`.

        Of a fixed month nothing is recorded. Raises: Fatal if the store lacks some of its content.

        keys   the key of each pair's segment
        names  the measures of segments, by their key
        """
        part = self._parts.get(partition)
        if part is not None:
            if dict(part.walk.keys) != dict(keys):
                raise Fatal(
                    f'the store no longer holds all that {self.month} was made of (of '
                    f'{partition.repo}): put it back, or publish the snapshot that there is'
                )
            return
        walk = dataclasses.replace(mined.walk, keys=tuple(sorted(keys.items())))
        numbers = tuple((record.pair_id, record.key, record.number) for record in found)
        measured = sorted(
            (key, names[key].number, names[key].key) for key in keys.values() if key in names
        )
        self._parts[partition] = MonthPart(
            partition=partition, walk=walk, reverified=numbers, measured=tuple(measured)
        )

    def record_or_filter_withdrawals(self, found: tuple[Withdrawal, ...]) -> tuple[Withdrawal, ...]:
        """Return the withdrawals that count for the month, and record them.

        These are all, or those known when the month was fixed.
        """
        if self.fixed is not None:
            return tuple(
                withdrawal for withdrawal in found if withdrawal.number in self.fixed.withdrawn
            )
        self._withdrawn = tuple(withdrawal.number for withdrawal in found)
        return found

    def add_dates(self, found: Iterable[RowDates]) -> None:
        """Record the dates of some of the month's rows, for `build_record`."""
        self._dates = tuple(sorted({*self._dates, *found}, key=lambda row: row.key))

    def find_families(
        self, repos: Sequence[str], find: Callable[[Sequence[str]], Mapping[str, str]]
    ) -> Mapping[str, str]:
        """Return the family of each repository of the month, and record them.

        These are the families when the month was fixed, else those that `find` gives.
        """
        if not self._families:
            self._families = dict(find(repos))
        return self._families

    def check_over_and_not_empty(self, root: object) -> None:
        """Raise Fatal if no repository is known until the month's end, or the month is empty.

        A month that was fixed before is never refused.
        """
        if self.fixed is not None:
            return
        reached = max(filter(None, self._reached.values()), default=None)
        if reached is None or reached < self.last:
            until = f'until {reached:%Y-%m-%d}' if reached else 'until nobody knows when'
            raise Fatal(
                f'{self.month} is not over in {root}, which knows its repositories {until}: mine '
                'them again once it is, and say of copies how far they go by --reached DATE'
            )
        if not any(part.walk.pairs for part in self._parts.values()):
            raise Fatal(
                f'{root} holds nothing of {self.month} or of a month before it: name a later month'
            )

    @property
    def reached(self) -> dict[Partition, datetime | None]:
        """The time until which each partition is known.

        If it is before the month's end, commits may be missing.
        """
        return {partition: part.walk.reached for partition, part in sorted(self._parts.items())}

    def build_record(self) -> MonthRecord:
        """Return the record from which the month can be made again.

        It names commits, segments and reverifications of each partition, the families of
        repositories, what is withdrawn, and the cohort.
        """
        return MonthRecord(
            month=self.month,
            parts=tuple(part for _, part in sorted(self._parts.items())),
            withdrawn=self._withdrawn,
            dates=self._dates,
            families=tuple(sorted(self._families.items())),
            cohort=self.cohort,
        )


def check_month(month: str) -> None:
    """Raise Fatal if the text is not a month such as 2024-06."""
    if not is_month(month):
        raise Fatal(f'{month!r} is no month: write it as 2024-06')


def _load_fixed_part(store: Store, part: MonthPart) -> MinedPartition:
    """Return the segments that a part of a fixed month names.

    Pairs without a segment in the month stay unmined, whatever they have now.
    """
    mined_pair_ids = {pair_id for pair_id, _ in part.walk.keys}
    pairs = tuple((rev, pair_id) for rev, pair_id in part.walk.pairs if pair_id in mined_pair_ids)
    mined = store.load_mined_partition(part.partition, dataclasses.replace(part.walk, pairs=pairs))
    unmined = sorted(pair_id for _, pair_id in part.walk.pairs if pair_id not in mined_pair_ids)
    return dataclasses.replace(mined, walk=part.walk, unmined=tuple(unmined))


def _compute_reached(
    walk: WalkRecord, dates: Mapping[str, datetime | None], stated: datetime | None
) -> datetime | None:
    """Return the time until which all commits of a walk are known; None if it is unknown.

    For a copy it is the stated time or that of its newest commit, whichever is later.
    """
    if walk.reached is not None:
        return walk.reached
    return max(filter(None, (stated, *dates.values())), default=None)
