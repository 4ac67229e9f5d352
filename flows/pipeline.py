"""The steps in plain calls: discover, clone, walk, diff, filter, execute, label, package, release.

`mine` takes one repository to segments in the store; `flows.publication` takes a store to a
snapshot. Prefect's flows and the command line only call these functions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set as AbstractSet
from contextlib import closing
from dataclasses import replace
from datetime import datetime

from coevo.engine.groups import Cache
from coevo.engine.suites import SuiteAnswerCache
from coevo.git.repository import Repository
from coevo.languages.base import Language
from coevo.languages.refactorings import RefactoringFinder
from coevo.languages.table import (
    LANGUAGES,
    detect_languages,
    explain_no_language,
    suggest_project_folders,
)
from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.model.listener import SILENT, Listener
from coevo.model.reasons import Reason
from coevo.model.records import Pair, TestMethod
from coevo.model.repository_rows import RepositoryRow
from coevo.model.words import Walk
from coevo.storage import dates
from coevo.storage.documents import SegmentBasis, add_basis
from coevo.storage.store import Partition, Store, WalkRecord
from coevo.storage.walks import BudgetOutcome
from flows.budgets import FIRST_COMMITS, compute_yields, decide_budget
from flows.clones import open_clone
from flows.dating import date_repository_and_list_warnings
from flows.licence import check_and_mark_privacy, describe_kept_out_rows, find_spdx_expression
from flows.measure_pass import PartitionMeasuring, find_deviating_run_count
from flows.mining import MiningRun, compute_segment_key
from flows.missing_pairs import (
    MineReport,
    find_missing_pairs,
    list_pairs_kept_stale,
    mine_missing_pairs,
)
from flows.options import MineOptions
from flows.segment_keys import compute_basis
from flows.study import Tools
from miners.cloning.clones import Clone
from miners.cloning.damage import request_rebuild_for_suspect_commits
from miners.diffs.siblings import group_methods_by_module
from miners.walks.pairs import Route, Visit, visit_route
from miners.walks.routes import find_latest_release


def mine(options: MineOptions, listener: Listener = SILENT) -> MineReport:
    """Mine one repository under one walk, for each of its languages; return what happened.

    The segments are written to the store; pairs whose results are there are not run again. Its
    history is also searched for dates.

    Raises: Fatal if nothing of it can be mined, Transient for the network.
    """
    with open_clone(options, listener) as (clone, repository):
        store = Store(options.store)
        check_and_mark_privacy(store, clone.repo, is_private=options.private)
        mine_once = _mine_while_tasks_pay if options.by_tasks else _mine_languages
        report = mine_once(options, clone, repository, listener)
        report.warnings += date_repository_and_list_warnings(store, clone, repository, listener)
        if not options.private:
            report.warnings += describe_kept_out_rows(store, report.partitions, repository)
        return report


def _mine_while_tasks_pay(
    options: MineOptions, clone: Clone, repository: Repository, listener: Listener
) -> MineReport:
    """Mine ever more commits while the tasks pay, and record each decision with its reason.

    The report is of the last step, with what all steps did.
    """
    store, commits = Store(options.store), FIRST_COMMITS
    earlier: frozenset[str] = frozenset()
    executed = tasks = 0
    while True:
        deeper = replace(options, commits=commits)
        report = _mine_languages(deeper, clone, repository, listener, earlier)
        executed, tasks = executed + report.executed, tasks + report.tasks
        added = report.pair_ids - earlier
        total, step = compute_yields(store, report.partitions, report.pair_ids, added)
        budget = decide_budget(commits, report.visited, total=total, step=step)
        for partition in report.partitions:
            with store.lock_partition(partition):
                store.merge_walk_into_stored(
                    partition, replace(store.load_walk(partition), budget=budget)
                )
                store.record_state(partition)
        if budget.outcome is not BudgetOutcome.DEEPER:
            report.reused += report.executed - executed
            report.executed, report.tasks = executed, tasks
            return report
        earlier, commits = report.pair_ids, commits * 2


def _mine_languages(
    options: MineOptions,
    clone: Clone,
    repository: Repository,
    listener: Listener,
    earlier: AbstractSet[str] = frozenset(),
) -> MineReport:
    """Mine a walk for each language of a repository.

    earlier  the pairs that a step before looked at, by id; they are not repeated for `again`
    """
    routes = list_routes(options, clone, repository)
    dates.mark_unsearched(Store(options.store).storage, clone.repo)
    report = MineReport(repo=clone.repo, walk=options.walk, warnings=clone.warnings)
    for route in routes:
        try:
            _mine_language(options, clone, repository, route, report, listener, earlier)
        except Fatal as error:
            # A tool that one language lacks on this machine must not keep the others from being
            # mined.
            if len(routes) == 1:
                raise
            report.unmined[route.language] = str(error)
    if not report.partitions:
        raise Fatal('; '.join(dict.fromkeys(report.unmined.values())))
    report.warnings = tuple(
        dict.fromkeys((*report.warnings, *_describe_absent_objects(repository)))
    )
    return report


def list_routes(options: MineOptions, clone: Clone, repository: Repository) -> tuple[Route, ...]:
    """Return the walk of a run for each language of a repository.

    Raises: Fatal if it has no language that coevo knows.
    """
    start = _choose_start_ref(options, clone, repository)
    head = repository.resolve(start)
    languages = detect_languages(repository, head)
    if not languages:
        why, advice = (
            explain(repository, head) for explain in (explain_no_language, suggest_project_folders)
        )
        raise Fatal(
            f'{clone.repo} at {head[:12]} {why}: nothing of it can be mined'
            + (f'. {advice}' if advice else '')
        )
    return tuple(
        Route(
            repo=clone.repo,
            language=language.NAME,
            walk=options.walk,
            ref=start,
            commits=options.commits,
            since=options.since,
            until=options.until,
            beside_release=options.ref is None,
        )
        for language in languages
    )


def _mine_language(
    options: MineOptions,
    clone: Clone,
    repository: Repository,
    route: Route,
    report: MineReport,
    listener: Listener,
    earlier: AbstractSet[str],
) -> None:
    language = LANGUAGES[route.language]
    seen = visit_route(repository, route)
    partition = Partition(repo=clone.repo, language=language.NAME, walk=options.walk)
    store = Store(options.store)
    basis = compute_basis(options.profile, language.NAME)
    with (
        store.lock_partition(partition),
        closing(language.make_refactoring_finder()) as refactorings,
    ):
        tools = build_tools(options, repository, language, refactorings)
        known = store.find_walk(partition)
        mining = build_mining_run(options, tools, basis, known, seen.pairs, listener, earlier)
        add_basis(store.storage, basis)
        kept_pair_ids = list_pairs_kept_stale(
            options, store, partition, repository, seen.pairs, listener
        )
        store.merge_walk_into_stored(
            partition, _build_walk_record(options, clone, mining, route, seen, kept_pair_ids)
        )
        runtimes = language.make_runtimes(brings=options.brings_runtimes, say=listener.say)
        missing = find_missing_pairs(
            options, mining, store, partition, report, seen.pairs, runtimes, kept_pair_ids
        )
        mine_missing_pairs(options, missing, runtimes, listener)
        store.compact_segments(partition)
        store.record_state(partition)
        if options.measures:
            _measure_waiting_pairs(options, mining, store, partition, report, seen, listener)
    report.partitions += (partition,)
    report.visited = len(seen.visited)
    report.pair_ids |= {pair.pair_id for pair in seen.pairs}
    report.pairs += len(seen.pairs)
    report.warnings += (*store.warnings, *_mark_and_describe_damage(clone, seen))


def _measure_waiting_pairs(
    options: MineOptions,
    mining: MiningRun,
    store: Store,
    partition: Partition,
    report: MineReport,
    seen: Visit,
    listener: Listener,
) -> None:
    """Measure the pairs of a walk that wait for it, such as those of an interrupted run."""
    measuring = PartitionMeasuring(
        store=store,
        partition=partition,
        report=report.measures,
        runs=find_deviating_run_count(options.profile),
        jobs=options.jobs,
        listener=listener,
        pair_ids={pair.pair_id for pair in seen.pairs},
    )
    measuring.measure_segments(measuring.list_due_segments(), mining.repository)


def build_mining_run(
    options: MineOptions,
    tools: Tools,
    basis: SegmentBasis,
    known: WalkRecord | None,
    pairs: Sequence[Pair],
    listener: Listener = SILENT,
    earlier: AbstractSet[str] = frozenset(),
) -> MiningRun:
    """Return the settings of a run of these pairs.

    known    what earlier runs of the walk recorded; None if there was none
    earlier  the pairs, by id, that an earlier step of this run has repeated for `again`
    """
    return MiningRun(
        tools=tools,
        sandbox=options.sandbox,
        basis=basis,
        cache=Cache(options.execution_cache_folder),
        again=_count_repetitions(options, known, pairs, earlier),
        most_tests=options.most_tests,
        families=_merge_families(options, known),
        listener=listener,
    )


def build_tools(
    options: MineOptions,
    repository: Repository,
    language: Language,
    refactorings: RefactoringFinder,
) -> Tools:
    """Return the tools that the study of each pair of a run uses, such as its cache of suites."""

    def list_tests(rev: str) -> Mapping[str, Sequence[TestMethod]]:
        """Return the tests of a revision by module."""
        return group_methods_by_module(repository, rev, language.NAME)

    return Tools(
        repository=repository,
        profile=options.profile,
        suites=SuiteAnswerCache(list_tests, options.profile.suite_cpu_seconds),
        list_tests=list_tests,
        refactorings=refactorings,
    )


def _mark_and_describe_damage(clone: Clone, seen: Visit) -> Iterator[str]:
    lost = [drop.key for drop in seen.drops if drop.reason == Reason.UNREADABLE_COMMIT]
    if lost:
        is_remade = request_rebuild_for_suspect_commits(clone.git_dir, lost)
        yield (
            f'{len(lost)} commits cannot be read in {clone.git_dir}, and what lies behind them is '
            'out of reach; '
            + ('run again to have it made anew' if is_remade else 'their source has them no better')
            + ', nothing that was mined is lost'
        )


def _describe_absent_objects(repository: Repository) -> Iterator[str]:
    if repository.object_ids_absent_at_source:
        yield (
            f'the source of {repository.git_dir.name} is a partial clone that lacks '
            f'{len(repository.object_ids_absent_at_source)} objects; pairs that need one are dropped as object_missing, '
            'and mined once it has them'
        )


def _choose_start_ref(options: MineOptions, clone: Clone, repository: Repository) -> str:
    """Return the ref at which the walk starts.

    It is the requested one, else the latest release if the profile demands it, else the default
    ref.
    """
    released = None
    if options.ref is None and options.profile.latest_release:
        released = find_latest_release(repository, options.until)
    return options.ref or released or clone.default_ref


def _build_walk_record(
    options: MineOptions,
    clone: Clone,
    mining: MiningRun,
    route: Route,
    seen: Visit,
    kept_pair_ids: Collection[str],
) -> WalkRecord:
    """Return the record of a walk.

    kept_pair_ids  pairs that stay as they are, so that the stored record names their keys
    """
    repository = mining.repository
    asked = [pair for pair in seen.pairs if pair.pair_id not in kept_pair_ids]
    newest = repository.get_commit(seen.head).committer_date
    return WalkRecord(
        repository=RepositoryRow(
            repo=clone.repo,
            url=clone.url,
            language=route.language,
            walk=options.walk,
            ref=route.ref,
            head=seen.head,
            cutoff=options.until or newest,
            commits_visited=len(seen.visited),
            commits_kept=len({pair.new.rev for pair in seen.pairs}),
            pairs_found=len(seen.pairs),
            license=find_spdx_expression(repository, seen.head),
            sandbox=options.sandbox,
            engine_version=mining.basis.code,
            profile=options.profile.name,
        ),
        pairs=tuple((pair.new.rev, pair.pair_id) for pair in seen.pairs),
        drops=seen.drops,
        keys=tuple((pair.pair_id, compute_segment_key(mining, pair)) for pair in asked),
        bases=tuple((pair.pair_id, mining.basis.basis_id) for pair in asked),
        again=tuple(mining.again.items()),
        families=mining.families,
        pushed=None if options.until else options.pushed,
        reached=_compute_reached_time(options, clone, newest),
    )


def _count_repetitions(
    options: MineOptions,
    known: WalkRecord | None,
    pairs: Sequence[Pair],
    earlier: AbstractSet[str],
) -> dict[str, int]:
    """Return how often each pair was requested once more, by pair id; other pairs are absent.

    Requests of interrupted runs count. This run counts if it asks for `again`, except for the pairs
    that an earlier step of it has repeated.
    """
    numbers = dict(known.again) if known else {}
    pair_ids = [pair.pair_id for pair in pairs]
    if options.again:
        numbers |= {each: numbers.get(each, 0) + 1 for each in pair_ids if each not in earlier}
    return {each: numbers[each] for each in pair_ids if each in numbers}


def _merge_families(options: MineOptions, known: WalkRecord | None) -> tuple[Family, ...]:
    """Return the families of this run and of earlier ones, whose rows must stay.

    Empty for other walks than `single_revision`.
    """
    if options.walk is not Walk.SINGLE_REVISION:
        return ()
    wanted = {*(options.families or (Family.CLASS,)), *(known.families if known else ())}
    return tuple(family for family in Family if family in wanted)


def _compute_reached_time(
    options: MineOptions, clone: Clone, newest: datetime | None
) -> datetime | None:
    """Return the time until which the walk knows all commits; None if that is unknown.

    For a fetched clone it is the time of the fetch. For a copy it is the stated time, but not
    before its newest commit. It is never later than `until`.
    """
    stated = options.reached and max(filter(None, (options.reached, newest)))
    ends = [end for end in (clone.asked_at or stated, options.until) if end is not None]
    return min(ends) if clone.asked_at or stated else None
