"""From a store to a snapshot: the parts of a release, wired together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache

from coevo.git.repository import Repository
from coevo.model.tables import MethodRow
from coevo.storage.store import Store
from flows.licence import spdx_of
from flows.options import ReleaseOptions
from miners.cloning.clones import at_hand
from miners.cloning.retention import keep
from miners.discovery.code_size import code_size
from miners.discovery.crawls import crawled_at
from packagers.built import Built
from packagers.dating import DatedCrawl
from packagers.dating import date_methods
from packagers.families import families
from packagers.plan import ReleasePlan
from packagers.release import ReleaseReport
from packagers.release import release
from packagers.rows import Rows
from packagers.tasks import build_tasks


def publish(options: ReleaseOptions) -> ReleaseReport:
    """Release all that a store holds; its clones answer what rows do not say.

    They stay where they are meanwhile; those that are not here, or no more, are fetched.
    """
    with ExitStack() as stack:
        return _publish(options, stack)


def _publish(options: ReleaseOptions, stack: ExitStack) -> ReleaseReport:
    store = Store(options.store)
    clones: dict[str, Repository] = {}

    def clone(repo: str) -> Repository:
        if repo not in clones:
            place = at_hand(options.folder, repo, _url(store, repo))
            clones[repo] = Repository(stack.enter_context(place))
        return clones[repo]

    def date(rows: Rows) -> Iterator[MethodRow]:
        repos = sorted({row.repo for row in rows.repositories})
        crawls = {
            repo: DatedCrawl(repository=clone(repo), crawled_at=crawled_at(clone(repo).git_dir))
            for repo in repos
        }
        cache_folder = options.folder / 'cache'
        return date_methods(rows.methods, crawls, cache_folder=cache_folder, space=rows.space)

    def build(rows: Rows) -> Built:
        built = build_tasks(
            rows.methods,
            {(row.pair_id, row.walk): row for row in rows.pairs},
            rows.repositories,
            {row.repo: clone(row.repo) for row in rows.methods},
            {(row.pair_id, row.module): row.environment for row in rows.environments},
            rows.starts,
        )
        for repo in sorted({task.repo for task in built.tasks}):
            revs = {rev for t in built.tasks if t.repo == repo for rev in (t.old_rev, t.new_rev)}
            keep(clone(repo).git_dir, revs)
        return built

    return release(
        store,
        ReleasePlan(
            snapshot=options.snapshot,
            date=date,
            build=build,
            licence=lambda repo, rev: spdx_of(clone(repo), rev),
            size=cache(lambda repo, rev, language: code_size(clone(repo), rev, language)),
            families=lambda repos: families({repo: clone(repo) for repo in repos}),
            accepted=options.accepted,
            month=options.month,
            previous=options.previous,
        ),
    )


def _url(store: Store, repo: str) -> str | None:
    """Where a mined repository can be had, if that is known."""
    found = (store.walk(part).repository.url for part in store.partitions() if part.repo == repo)
    return next((url for url in found if url is not None), None)
