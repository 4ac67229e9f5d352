"""discover, clone, walk, diff, sieve, execute, label, package, release: the steps in plain calls.

`mine` takes one repository to segments in the store; `publish` takes a store to a snapshot.
Prefect's flows and the command line only call what stands here.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass
from dataclasses import field
from datetime import datetime

from coevo.engine.builders import Builders
from coevo.engine.cache import Cache
from coevo.engine.suites import Suites
from coevo.engine.workers import WorkFailure
from coevo.engine.workers import run_in_parallel
from coevo.git.repository import Repository
from coevo.languages.base import Language
from coevo.languages.engine import Builder
from coevo.languages.engine import RunSettings
from coevo.languages.refactorings import RefactoringFinder
from coevo.languages.runtimes import Runtimes
from coevo.languages.table import LANGUAGES
from coevo.languages.table import engine_version
from coevo.languages.table import language_of
from coevo.model.containment import Bug
from coevo.model.errors import Fatal
from coevo.model.listener import SILENT
from coevo.model.listener import Listener
from coevo.model.reasons import Reason
from coevo.model.records import Pair
from coevo.model.records import TestMethod
from coevo.model.repository_rows import RepositoryRow
from coevo.model.segment import Segment
from coevo.storage.store import Partition
from coevo.storage.store import Store
from coevo.storage.store import WalkRecord
from flows.bugs import PairBugs
from flows.cloning import cloned
from flows.licence import spdx_of
from flows.mining import MiningRun
from flows.mining import key_without
from flows.mining import mine_pair
from flows.mining import segment_key
from flows.options import MineOptions
from flows.study import Tools
from miners.cloning.clones import Clone
from miners.cloning.damage import suspect
from miners.diffs.siblings import methods_by_module
from miners.walks.pairs import Route
from miners.walks.pairs import Visit
from miners.walks.pairs import visit
from miners.walks.releases import latest_release


@dataclass(slots=True, kw_only=True)
class MineReport:
    """What a run did; `failures` are troubles of ours, by pair id.

    tasks  that were found in what was mined now
    bugs   where the record lies of each bug that keeps a pair from being mined, by pair id
    """

    partition: Partition
    visited: int
    pairs: int
    executed: int = 0
    tasks: int = 0
    reused: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    bugs: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()  # damage that the store or the walk found


def mine(options: MineOptions, listener: Listener = SILENT) -> MineReport:
    """Mine one repository under one walk; what the store has is not run again."""
    with cloned(options, listener) as (clone, repository):
        return _mine(options, clone, repository, listener)


def _mine(
    options: MineOptions, clone: Clone, repository: Repository, listener: Listener
) -> MineReport:
    start = _start(options, clone, repository)
    head = repository.resolve(start)
    language = language_of(repository, head)
    if language is None:
        wanted = ' or '.join(one.NEEDS for one in LANGUAGES.values())
        raise Fatal(f'{clone.repo} at {head[:12]} lacks {wanted}: nothing of it can be mined')
    route = Route(
        repo=clone.repo,
        language=language.NAME,
        walk=options.walk,
        ref=start,
        commits=options.commits,
        since=options.since,
        until=options.until,
    )
    seen = visit(repository, route)
    partition = Partition(repo=clone.repo, language=language.NAME, walk=options.walk)
    store = Store(options.store)
    with store.lock(partition), closing(language.refactoring_finder()) as refactorings:
        mining = MiningRun(
            tools=_tools(options, repository, language, refactorings),
            sandbox=options.sandbox,
            cache=Cache(options.executions),
            again=_again(options, store.walked(partition), seen.pairs),
        )
        store.write_walk(partition, _walk_record(options, clone, mining, route, seen))
        report = MineReport(partition=partition, visited=len(seen.visited), pairs=len(seen.pairs))
        _mine_missing(options, mining, store, seen.pairs, report, listener)
        store.compact(partition)
        report.warnings = (
            *clone.warnings,
            *store.warnings,
            *_damage(clone, seen),
            *_holes(repository),
        )
    return report


def _tools(
    options: MineOptions,
    repository: Repository,
    language: Language,
    refactorings: RefactoringFinder,
) -> Tools:
    def tests(rev: str) -> Mapping[str, Sequence[TestMethod]]:
        return methods_by_module(repository, rev, language.NAME)

    return Tools(
        repository=repository,
        profile=options.profile,
        suites=Suites(tests, options.profile.suite_cpu_seconds),
        refactorings=refactorings,
    )


def _damage(clone: Clone, seen: Visit) -> Iterator[str]:
    lost = [drop.key for drop in seen.drops if drop.reason == Reason.UNREADABLE_COMMIT]
    if lost:
        is_remade = suspect(clone.git_dir, lost)
        yield (
            f'{len(lost)} commits cannot be read in {clone.git_dir}, and what lies behind them is '
            'out of reach; '
            + ('run again to have it made anew' if is_remade else 'their source has them no better')
            + ', nothing that was mined is lost'
        )


def _holes(repository: Repository) -> Iterator[str]:
    if repository.holes:
        yield (
            f'the source of {repository.git_dir.name} is a partial clone that lacks '
            f'{len(repository.holes)} objects; pairs that need one are dropped as object_missing, '
            'and mined once it has them'
        )


def _start(options: MineOptions, clone: Clone, repository: Repository) -> str:
    """The ref that was asked for, else the latest release where the profile wants it."""
    released = None
    if options.ref is None and options.profile.latest_release:
        released = latest_release(repository, options.until)
    return options.ref or released or clone.default_ref


def _mine_missing(
    options: MineOptions,
    mining: MiningRun,
    store: Store,
    pairs: Sequence[Pair],
    report: MineReport,
    listener: Listener,
) -> None:
    """Mine the pairs that the store lacks, oldest first, so that neighbours share their builds."""
    language = LANGUAGES[report.partition.language]
    runtimes = language.runtimes(brings=options.brings_runtimes, say=listener.say)
    known = store.keys(report.partition)
    keys = {pair: segment_key(mining, pair) for pair in pairs}
    unmined = [pair for pair in reversed(pairs) if not _is_known(keys[pair], known, runtimes)]
    report.reused = len(pairs) - len(unmined)
    bugs = PairBugs(store.place, report.partition)
    met = {
        pair: None if options.retry_bugs else bugs.of_this_build(pair, keys[pair])
        for pair in unmined
    }
    report.bugs = {pair.pair_id: record for pair, record in met.items() if record is not None}
    todo = [pair for pair in unmined if met[pair] is None]
    if not todo:
        return

    def work(pair: Pair, open_builder: Callable[[], Builder]) -> Segment:
        return mine_pair(mining, pair, open_builder)

    run = RunSettings(
        repository=mining.repository,
        sandbox=options.sandbox,
        say=listener.say,
        runtimes=runtimes,
        end_helpers=mining.tools.refactorings.close,
    )
    with (
        Builders(language, run, todo) as builders,
        closing(run_in_parallel(work, todo, builders, jobs=options.jobs)) as results,
    ):
        for done, (pair, result) in enumerate(results, start=1):
            if isinstance(result, Bug):
                report.bugs[pair.pair_id] = bugs.keep(pair, keys[pair], result)
            elif isinstance(result, WorkFailure):
                report.failures[pair.pair_id] = result.sentence
            elif _is_remade_next_time(mining, result):
                report.failures[pair.pair_id] = 'its clone lacks a file, and is made anew next time'
            else:
                store.write(report.partition, result)
                bugs.forget(pair, keys[pair])
                report.executed += 1
                report.tasks += _tasks(result)
            builders.forget(pair)
            listener.found(f'{report.tasks} task{"" if report.tasks == 1 else "s"} so far')
            listener.step('pairs', done, len(todo))


def _tasks(segment: Segment) -> int:
    """As many as a release would make of it, but for copies and what it withholds."""
    rows = [row for row in segment.methods if row.track is not None]
    return len({(row.test_file, row.track) for row in rows})


def _is_known(key: str, known: AbstractSet[str], runtimes: Runtimes) -> bool:
    """Whether a pair is mined, or was dropped for want of a runtime that is still not to be had."""
    return key in known or any(
        key_without(key, one) in known and not runtimes.has(one) for one in runtimes.bringable
    )


def _is_remade_next_time(mining: MiningRun, segment: Segment) -> bool:
    """Whether a pair has only failed for a file that another clone will have."""
    unreadable = any(drop.reason == Reason.UNREADABLE_OBJECT for drop in segment.drops)
    return unreadable and suspect(mining.repository.git_dir, [segment.pair.new_rev])


def _walk_record(
    options: MineOptions, clone: Clone, mining: MiningRun, route: Route, seen: Visit
) -> WalkRecord:
    repository = mining.repository
    return WalkRecord(
        repository=RepositoryRow(
            repo=clone.repo,
            url=clone.url,
            language=route.language,
            walk=options.walk,
            ref=route.ref,
            head=seen.head,
            cutoff=options.until or repository.commit(seen.head).committer_date,
            commits_visited=len(seen.visited),
            commits_kept=len({pair.new.rev for pair in seen.pairs}),
            pairs_found=len(seen.pairs),
            license=spdx_of(repository, seen.head),
            sandbox=options.sandbox,
            engine_version=engine_version(route.language),
            profile=options.profile.name,
        ),
        pairs=tuple((pair.new.rev, pair.pair_id) for pair in seen.pairs),
        drops=seen.drops,
        keys=tuple((pair.pair_id, segment_key(mining, pair)) for pair in seen.pairs),
        again=tuple(mining.again.items()),
        reached=_reached(options, clone, repository.commit(seen.head).committer_date),
    )


def _again(options: MineOptions, known: WalkRecord | None, pairs: Sequence[Pair]) -> dict[str, int]:
    """How often each pair was asked for once more; a run that broke off is asked for still."""
    asked = dict(known.again) if known else {}
    more = 1 if options.again else 0
    numbers = {pair.pair_id: asked.get(pair.pair_id, 0) + more for pair in pairs}
    return {pair_id: number for pair_id, number in numbers.items() if number}


def _reached(options: MineOptions, clone: Clone, newest: datetime | None) -> datetime | None:
    """Until when the walk knows all commits; a copy goes at least to its newest one."""
    stated = options.reached and max(filter(None, (options.reached, newest)))
    ends = [end for end in (clone.asked or stated, options.until) if end is not None]
    return min(ends) if clone.asked or stated else None
