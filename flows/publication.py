"""From a store to a snapshot: the parts of a release, wired together."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import cache

from coevo.git.repository import CorruptObject
from coevo.git.repository import Repository
from coevo.model.method_rows import MethodRow
from coevo.model.standing_rows import StandingRow
from coevo.storage import months
from coevo.storage.months import CloneMoment
from coevo.storage.store import Store
from flows.licence import spdx_of
from flows.options import ReleaseOptions
from flows.repository_urls import by_repository
from miners.cloning.clones import at_hand
from miners.cloning.retention import keep
from miners.discovery.code_size import code_size
from miners.discovery.crawls import crawled_at
from miners.discovery.crawls import refs
from packagers.built import Built
from packagers.dating import DatedCrawl
from packagers.dating import date_methods
from packagers.dating import date_standing
from packagers.families import families
from packagers.months import Known
from packagers.months import MonthCut
from packagers.months import check_month
from packagers.plan import ReleasePlan
from packagers.release import ReleaseReport
from packagers.release import release
from packagers.rows import Rows
from packagers.standing import suite_tasks
from packagers.tasks import build_tasks


def publish(options: ReleaseOptions) -> ReleaseReport:
    """Release a month of a store, or all that it holds; its clones answer what rows do not say.

    They stay where they are meanwhile; those that are not here, or no more, are fetched.
    """
    with ExitStack() as stack:
        return _publish(options, stack)


def _publish(options: ReleaseOptions, stack: ExitStack) -> ReleaseReport:
    if options.month:
        check_month(options.month)
    store = Store(options.store)
    fixed = months.read(store.place, options.month) if options.month else None
    clones: dict[str, Repository] = {}
    moments = {one.repo: one for one in fixed.clones} if fixed else {}

    def clone(repo: str) -> Repository:
        if repo not in clones:
            place = at_hand(options.folder, repo, _url(store, repo))
            clones[repo] = Repository(stack.enter_context(place))
            if repo not in moments:
                moments[repo] = _moment(repo, clones[repo])
        return clones[repo]

    def licence(repo: str, rev: str) -> str | None:
        return spdx_of(clone(repo), rev)

    def committed(repo: str, rev: str) -> datetime | None:
        try:
            return clone(repo).commit(rev).committer_date
        except CorruptObject:
            return None

    def crawls(rows: Rows) -> dict[str, DatedCrawl]:
        return {
            repo: DatedCrawl(
                repository=clone(repo),
                crawled_at=moments[repo].crawled_at,
                refs=moments[repo].refs,
            )
            for repo in sorted({row.repo for row in rows.repositories})
        }

    cache_folder = options.folder / 'cache'

    def date(rows: Rows) -> Iterator[MethodRow]:
        return date_methods(rows.methods, crawls(rows), cache_folder=cache_folder, space=rows.space)

    def standing(rows: Rows) -> Iterator[StandingRow]:
        return date_standing(rows.standing, crawls(rows), cache_folder=cache_folder)

    def build(rows: Rows) -> Built:
        pairs = {(row.pair_id, row.walk): row for row in rows.pairs}
        environments = {(row.pair_id, row.module): row.environment for row in rows.environments}
        repos = {row.repo for row in rows.methods} | {row.repo for row in rows.standing}
        clones = {repo: clone(repo) for repo in sorted(repos)}
        built = build_tasks(
            rows.methods, pairs, rows.repositories, clones, environments, rows.starts
        )
        suites = suite_tasks(rows.standing, pairs, rows.repositories, clones, environments)
        built = replace(built, tasks=(*built.tasks, *suites.tasks), standing=suites.ids)
        for repo in sorted({task.repo for task in built.tasks}):
            revs = {rev for t in built.tasks if t.repo == repo for rev in (t.old_rev, t.new_rev)}
            keep(clone(repo).git_dir, revs)
        return built

    def related(repos: Sequence[str]) -> dict[str, str]:
        theirs = {repo: clone(repo) for repo in repos}
        return families(theirs, {repo: moments[repo].refs for repo in repos})

    known = Known(committed=committed, licence=licence, moments=moments, stated=options.reached)
    return release(
        store,
        ReleasePlan(
            snapshot=options.snapshot,
            date=date,
            date_standing=standing,
            build=build,
            licence=licence,
            size=cache(lambda repo, rev, language: code_size(clone(repo), rev, language)),
            families=related,
            accepted=options.accepted,
            month=options.month,
            cut=MonthCut(options.month, known, fixed) if options.month else None,
            previous=options.previous,
            urls=by_repository(options.urls, sorted({part.repo for part in store.partitions()})),
        ),
    )


def _moment(repo: str, clone: Repository) -> CloneMoment:
    return CloneMoment(repo=repo, crawled_at=crawled_at(clone.git_dir), refs=refs(clone))


def _url(store: Store, repo: str) -> str | None:
    """Where a mined repository can be had, if that is known."""
    found = (store.walk(part).repository.url for part in store.partitions() if part.repo == repo)
    return next((url for url in found if url is not None), None)
