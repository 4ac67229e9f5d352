"""Find the pairs of a run that the store lacks, mine them, and record the results."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
    Set as AbstractSet,
)
from contextlib import closing
from dataclasses import dataclass, field

from coevo.engine.workers import BuilderPool, WorkFailure, run_in_parallel
from coevo.git.repository import Repository
from coevo.languages.engine import Builder, RunSettings
from coevo.languages.runtimes import Runtimes
from coevo.languages.table import LANGUAGES
from coevo.model.errors import Bug, Transient, catch_bug
from coevo.model.listener import Listener
from coevo.model.reasons import Reason
from coevo.model.records import Pair
from coevo.model.segment import MeasureRecord, Segment, count_tasks, has_tasks
from coevo.model.words import Walk
from coevo.storage import measures
from coevo.storage.store import Partition, Store
from flows.cohorts import PairBugs
from flows.measure_pass import MeasureReport, find_deviating_run_count, make_settings
from flows.measuring import MeasureSettings, measure_segment
from flows.mining import (
    DeferredPair,
    MinedPair,
    MiningRun,
    compute_missing_runtime_key,
    compute_segment_key,
    mine_pair,
)
from flows.options import MineOptions
from flows.segment_keys import compute_basis, compute_measure_basis
from flows.stale_pairs import find_pairs_with_other_tests
from miners.cloning.damage import request_rebuild_for_suspect_commits


@dataclass(slots=True, kw_only=True)
class MineReport:
    """The result of a run; `failures` are transient failures of coevo, by pair id.

    partitions  one for each language of the repository that was mined
    pair_ids    the pairs of all walks, mined or not
    visited     the number of commits; each language walks the same ones
    tasks       the number of tasks in the pairs that were mined now
    bugs        the address of the record of each bug that keeps a pair from being mined, by pair id
    unmined     the reason why a language was not mined, by its name
    deferred    the number of tests of each pair that has too many for this run, by pair id
    measures    what became of the measures of tasks; empty if they were not asked for
    """

    repo: str
    walk: Walk
    partitions: tuple[Partition, ...] = ()
    pair_ids: frozenset[str] = frozenset()
    visited: int = 0
    pairs: int = 0
    executed: int = 0
    tasks: int = 0
    reused: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    bugs: dict[str, str] = field(default_factory=dict)
    unmined: dict[str, str] = field(default_factory=dict)
    deferred: dict[str, int] = field(default_factory=dict)
    measures: MeasureReport = field(default_factory=MeasureReport)
    warnings: tuple[str, ...] = ()  # damage in the store or in the walk's commits


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPairs:
    """The pairs of a run to be mined, oldest first, so that neighbours share their builds.

    `report` is filled while they are mined.

    settings  how tasks are measured while the builds of their pair are there; None: not then
    """

    mining: MiningRun
    store: Store
    partition: Partition
    report: MineReport
    keys: Mapping[Pair, str]
    bugs: PairBugs
    pairs: Sequence[Pair]
    settings: MeasureSettings | None = None

    def write_and_measure_pair(self, mined: MinedPair) -> None:
        """Write the segment of a pair with tasks, then measure it with the builds that are there.

        A kill while it is measured costs no label. If measuring fails, the pair waits, and is built
        anew for it (`flows.measure_pass`).
        """
        settings, built = self.settings, mined.built
        if settings is None or built is None or not has_tasks(mined.segment):
            return
        if not settings.measures_something:
            return
        self.store.write_segment_unless_intact(self.partition, mined.segment)
        repository = self.mining.repository
        try:
            record = catch_bug(lambda: measure_segment(settings, repository, mined.segment, built))
        except Transient:
            return
        if isinstance(record, MeasureRecord):
            measures.number_and_add_measures(self.store.storage, self.partition, record)

    def record_result(self, pair: Pair, result: Segment | DeferredPair | WorkFailure | Bug) -> None:
        """Write the segment of a pair to the store, or record in the report why there is none.

        A bug is also recorded in the store. A segment that fails only for a file that a new clone
        will have is not written.
        """
        report = self.report
        if isinstance(result, Bug):
            report.bugs[pair.pair_id] = self.bugs.write_bug_and_get_address(
                pair, self.keys[pair], result
            )
        elif isinstance(result, DeferredPair):
            report.deferred[pair.pair_id] = result.tests
        elif isinstance(result, WorkFailure):
            report.failures[pair.pair_id] = result.sentence
        elif _request_new_clone_if_needed(self.mining, result):
            report.failures[pair.pair_id] = 'its clone lacks a file, and is made anew next time'
        else:
            self.store.write_segment_unless_intact(self.partition, result)
            self.bugs.forget_bug(pair.pair_id, self.keys[pair])
            report.executed += 1
            report.tasks += count_tasks(result)


def list_pairs_kept_stale(
    options: MineOptions,
    store: Store,
    partition: Partition,
    repository: Repository,
    pairs: Sequence[Pair],
    listener: Listener,
) -> frozenset[str]:
    """Return the ids of pairs that stay as they are, whatever mined them; none without `keep_stale`.

    With `again` all pairs are mined; with `recompare` those of the walk of which other tests would
    run now.

    pairs  the pairs of this run's walk; the store may have more
    """
    if not options.keep_stale or options.again:
        return frozenset()
    kept = store.list_mined_pairs(partition)
    if not options.recompare:
        return kept
    visited = {pair.pair_id: pair for pair in pairs if pair.pair_id in kept}
    stale = [
        (visited[segment.pair.pair_id], segment)
        for segment in _load_stale_segments(options, store, partition)
        if segment.pair.pair_id in visited
    ]
    return kept - find_pairs_with_other_tests(options.profile, repository, stale, listener)


def _load_stale_segments(
    options: MineOptions, store: Store, partition: Partition
) -> Iterator[Segment]:
    """Yield the current segments of a partition that other code, thresholds or tools mined."""
    walk = store.find_walk(partition)
    keys, bases = (dict(walk.keys), dict(walk.bases)) if walk else ({}, {})
    present = compute_basis(options.profile, partition.language).basis_id
    for segment in store.load_current_segments(partition):
        pair_id = segment.pair.pair_id
        if (keys.get(pair_id), bases.get(pair_id)) != (segment.key, present):
            yield segment


def find_missing_pairs(
    options: MineOptions,
    mining: MiningRun,
    store: Store,
    partition: Partition,
    report: MineReport,
    pairs: Sequence[Pair],
    runtimes: Runtimes,
    kept_pair_ids: Collection[str],
) -> MissingPairs:
    """Return the pairs to mine: those without a segment in which this build met no bug before.

    Adds the known pairs and the bugs to `report`. The option `retry_bugs` includes the pairs with
    bugs.

    kept_pair_ids  pairs that stay as they are (`list_pairs_kept_stale`)
    """
    known = store.list_keys(partition)
    keys = {pair: compute_segment_key(mining, pair) for pair in pairs}
    unmined = [
        pair
        for pair in reversed(pairs)
        if pair.pair_id not in kept_pair_ids and not _needs_no_mining(keys[pair], known, runtimes)
    ]
    report.reused += len(pairs) - len(unmined)
    bugs = PairBugs(store.storage, partition)
    met = {
        pair: None
        if options.retry_bugs
        else bugs.find_bug_address_of_this_build(pair.pair_id, keys[pair])
        for pair in unmined
    }
    report.bugs |= {pair.pair_id: record for pair, record in met.items() if record is not None}
    todo = [pair for pair in unmined if met[pair] is None]
    return MissingPairs(
        mining=mining,
        store=store,
        partition=partition,
        report=report,
        keys=keys,
        bugs=bugs,
        pairs=todo,
        settings=_choose_measure_settings(options, partition),
    )


def _choose_measure_settings(options: MineOptions, partition: Partition) -> MeasureSettings | None:
    if not options.measures:
        return None
    code = compute_measure_basis(partition.language)
    return make_settings(code, options.profile, find_deviating_run_count(options.profile))


def mine_missing_pairs(
    options: MineOptions, missing: MissingPairs, runtimes: Runtimes, listener: Listener
) -> None:
    """Mine the pairs in parallel, and write each segment to the store as soon as it is there.

    Counts, failures and bugs go to `missing.report`.
    """
    if not missing.pairs:
        return
    report, mining, todo = missing.report, missing.mining, missing.pairs

    def mine_in_worker(pair: Pair, open_builder: Callable[[], Builder]) -> Segment | DeferredPair:
        """Mine one pair in a worker thread, and measure its tasks."""
        mined = mine_pair(mining, pair, open_builder)
        if isinstance(mined, DeferredPair):
            return mined
        missing.write_and_measure_pair(mined)
        return mined.segment

    run = RunSettings(
        repository=mining.repository,
        sandbox=options.sandbox,
        say=listener.say,
        runtimes=runtimes,
        end_helpers=mining.tools.refactorings.close,
        own_edits=True,
    )
    with (
        BuilderPool(LANGUAGES[missing.partition.language], run, todo) as builders,
        closing(run_in_parallel(mine_in_worker, todo, builders, jobs=options.jobs)) as results,
    ):
        for done, (pair, result) in enumerate(results, start=1):
            missing.record_result(pair, result)
            builders.remove_builds_no_longer_needed(pair)
            listener.summarise(f'{report.tasks} task{"" if report.tasks == 1 else "s"} so far')
            listener.step('pairs', done, len(todo))


def _needs_no_mining(key: str, known: AbstractSet[str], runtimes: Runtimes) -> bool:
    """Return whether a pair needs no mining: the store has its key, or that of a missing runtime.

    The latter counts only while the runtime cannot be provided.
    """
    return key in known or any(
        compute_missing_runtime_key(key, release) in known and not runtimes.try_to_provide(release)
        for release in runtimes.installable
    )


def _request_new_clone_if_needed(mining: MiningRun, segment: Segment) -> bool:
    """Return whether a pair failed only for a file that a new clone will have.

    If so, its commit is marked, and the clone is made anew next time.
    """
    unreadable = any(drop.reason == Reason.UNREADABLE_OBJECT for drop in segment.drops)
    return unreadable and request_rebuild_for_suspect_commits(
        mining.repository.git_dir, [segment.pair.new_rev]
    )
