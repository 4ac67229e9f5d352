"""Measure the tasks of a store that wait for it: what their gold tests are worth.

A pair is measured as a whole, in the sandbox, on the runtime and under the override of its cells.
The record of each pair is written as soon as it is there (`coevo.storage.measures`), so an
interrupt loses only the pairs in progress, and the next pass goes on. A limit is a number of runs,
never of seconds: it would give slow machines other figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set as AbstractSet
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from coevo.engine.workers import WorkFailure
from coevo.git.repository import Repository
from coevo.languages.engine import Builder
from coevo.model.errors import Bug, Fatal, Transient
from coevo.model.listener import SILENT, Listener
from coevo.model.profiles import Profile, load_profile, load_profiles
from coevo.model.records import Pair
from coevo.model.segment import MeasureRecord, Segment, has_tasks
from coevo.storage import measures
from coevo.storage.documents import load_basis
from coevo.storage.place import Root, find_local_folder
from coevo.storage.store import Partition, Store
from flows.cohorts import PairBugs
from flows.eligibility import check_not_withdrawn, load_withdrawn_repos_and_pair_ids
from flows.measuring import MeasureSettings, measure_segment
from flows.rebuilding import (
    RebuildSettings,
    open_pinned_clone,
    rebuild_and_work_on_segments,
    restore_pair,
)
from flows.segment_keys import compute_measure_basis
from miners.cloning.remotes import Unclonable


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions:
    """The options of a pass.

    repository  only tasks of this one; None is all of the store
    runs        most runs for one pair, also of pairs that were measured with another number; None
                takes the number of the profile by which a pair was mined
    keep_stale  whether pairs that other code measured stay as they are
    local       folder of clones, as in MineOptions
    """

    store: Root
    repository: str | None = None
    runs: int | None = None
    keep_stale: bool = False
    jobs: int = 1
    local: Path | None = None

    @property
    def clones_folder(self) -> Path:
        """The folder of clones."""
        return self.local or find_local_folder(self.store)


@dataclass(slots=True, kw_only=True)
class MeasureReport:
    """The result of a pass; all but `busy` count pairs with tasks.

    measured  pairs that were measured now
    known     pairs that were measured before
    waiting   by pair id, why a pair could not be measured, so that it waits for the next pass
    bugs      the address of the record of each bug that keeps a pair from being measured, by pair id
    busy      sentences about partitions in which another process works
    """

    measured: int = 0
    known: int = 0
    waiting: dict[str, str] = field(default_factory=dict)
    bugs: dict[str, str] = field(default_factory=dict)
    busy: list[str] = field(default_factory=list)
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DueSegment:
    """A segment with tasks that waits for its measures, and the settings to measure it with."""

    segment: Segment
    settings: MeasureSettings

    @property
    def measures_key(self) -> str:
        """The key that its measures will have."""
        return self.settings.compute_key(self.segment.key)


@dataclass(frozen=True, kw_only=True)  # without slots, for the cached property
class PartitionMeasuring:
    """Measures what waits in one partition, whose lock the caller holds.

    runs        as in MeasureOptions
    keep_stale  as in MeasureOptions
    pair_ids    the pairs to look at; None is all of the partition
    """

    store: Store
    partition: Partition
    report: MeasureReport
    runs: int | None = None
    keep_stale: bool = False
    jobs: int = 1
    listener: Listener = SILENT
    pair_ids: AbstractSet[str] | None = None

    @cached_property
    def _bugs(self) -> PairBugs:
        return PairBugs(self.store.storage, self.partition, 'measure')

    def list_due_segments(self) -> tuple[DueSegment, ...]:
        """Return the segments with tasks that are not measured by this code; needs no clone.

        The others are counted in the report. Those in which this build met a bug are not due.
        """
        return tuple(self._select_due_segments())

    def _select_due_segments(self) -> Iterator[DueSegment]:
        withdrawn = load_withdrawn_repos_and_pair_ids(self.store.storage)
        names = measures.find_latest_measures(self.store.storage, self.partition)
        choice = _SettingsChoice(self.store, self.partition, self.runs)
        for segment in self.store.load_mined_partition(
            self.partition
        ).segments.iterate_with_tracks():
            pair_id = segment.pair.pair_id
            is_left_out = self.pair_ids is not None and pair_id not in self.pair_ids
            if is_left_out or pair_id in withdrawn or not has_tasks(segment):
                continue
            settings = choice.choose(pair_id)
            name = names.get(segment.key)
            record = name and measures.load_measures(self.store.storage, self.partition, name)
            is_met = record and (self.keep_stale or settings.is_met_by(record))
            if is_met or not settings.measures_something:
                self.report.known += 1
                continue
            due = DueSegment(segment=segment, settings=settings)
            bug = self._bugs.find_bug_address_of_this_build(pair_id, due.measures_key)
            if bug is None:
                yield due
            else:
                self.report.bugs[pair_id] = bug

    def measure_segments(self, due: Sequence[DueSegment], repository: Repository) -> None:
        """Measure segments of the partition, whose clone is `repository`; write each at once."""
        by_key = {item.segment.key: item for item in due}

        def measure_rebuilt(segment: Segment, pair: Pair, builder: Builder) -> MeasureRecord:
            """Build the pair of a segment and measure it."""
            built = builder.build(pair)
            settings = by_key[segment.key].settings
            return measure_segment(settings, repository, segment, built, is_rebuilt=True)

        around = RebuildSettings(
            repository=repository,
            task=f'measure {self.partition.repo}',
            jobs=self.jobs,
            listener=self.listener,
        )
        segments = [item.segment for item in due]
        with closing(rebuild_and_work_on_segments(around, segments, measure_rebuilt)) as results:
            for segment, result in results:
                self._record_result(by_key[segment.key], repository, result)

    def _record_result(
        self, item: DueSegment, repository: Repository, result: MeasureRecord | WorkFailure | Bug
    ) -> None:
        report, row = self.report, item.segment.pair
        if isinstance(result, Bug):
            pair = restore_pair(repository, row)
            report.bugs[row.pair_id] = self._bugs.write_bug_and_get_address(
                pair, item.measures_key, result
            )
        elif isinstance(result, WorkFailure):
            report.waiting[row.pair_id] = result.sentence
        else:
            measures.number_and_add_measures(self.store.storage, self.partition, result)
            self._bugs.forget_bug(row.pair_id, item.measures_key)
            report.measured += 1
            report.cpu_seconds += sum(row.cpu_seconds for row in result.timings)


class _SettingsChoice:
    """Chooses the settings of a pair's measures by the profile by which it was mined."""

    def __init__(self, store: Store, partition: Partition, runs: int | None) -> None:
        self._storage, self._runs = store.storage, runs
        self._bases = dict(store.load_walk(partition).bases)
        self._code = compute_measure_basis(partition.language)
        self._known = load_profiles()
        self._profiles: dict[str | None, Profile] = {}

    def choose(self, pair_id: str) -> MeasureSettings:
        """Return the settings for a pair; those of `default` if its profile is not known."""
        basis_id = self._bases.get(pair_id)
        if basis_id not in self._profiles:
            basis = load_basis(self._storage, basis_id) if basis_id else None
            name = basis.profile if basis else 'default'
            self._profiles[basis_id] = self._known.get(name, self._known['default'])
        return make_settings(self._code, self._profiles[basis_id], self._runs)


def make_settings(code: str, profile: Profile, runs: int | None = None) -> MeasureSettings:
    """Return the settings of measures by a profile.

    runs  the number of runs, if it was asked for; measures with another number do not meet it then
    """
    return MeasureSettings(
        basis=code,
        runs=profile.measure_runs if runs is None else runs,
        traces=profile.traces,
        is_exact=runs is not None,
    )


def find_deviating_run_count(profile: Profile) -> int | None:
    """Return the number of runs of a profile if it is not that of the profile of its name."""
    return (
        None
        if profile.measure_runs == load_profile(profile.name).measure_runs
        else profile.measure_runs
    )


def measure(options: MeasureOptions, listener: Listener = SILENT) -> MeasureReport:
    """Measure all tasks of a store that wait for it.

    Raises: Fatal if the store holds nothing of the repository.
    """
    store = Store(options.store)
    if options.repository is not None:
        partitions = store.list_repository_partitions(options.repository)
        check_not_withdrawn(options.store, options.repository)
    else:
        withdrawn = load_withdrawn_repos_and_pair_ids(store.storage)
        partitions = tuple(p for p in store.list_partitions() if p.repo not in withdrawn)
    report = MeasureReport()
    for partition in partitions:
        _measure_partition(options, store, partition, report, listener)
    return report


def _measure_partition(
    options: MeasureOptions,
    store: Store,
    partition: Partition,
    report: MeasureReport,
    listener: Listener,
) -> None:
    with ExitStack() as stack:
        try:
            stack.enter_context(store.lock_partition(partition))
        except Fatal as error:
            if options.repository is not None:
                raise
            report.busy.append(str(error))
            return
        measuring = PartitionMeasuring(
            store=store,
            partition=partition,
            report=report,
            runs=options.runs,
            keep_stale=options.keep_stale,
            jobs=options.jobs,
            listener=listener,
        )
        due = measuring.list_due_segments()
        if not due:
            return  # before the clone, which may have to be fetched again
        try:
            repository = stack.enter_context(
                open_pinned_clone(options.clones_folder, partition.repo)
            )
        except (Unclonable, Transient) as error:
            report.busy.append(f'{partition.repo} waits: {error}')
            return
        measuring.measure_segments(due, repository)
