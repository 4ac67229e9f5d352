"""From a store to a snapshot: the parts of a release, wired together."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from datetime import datetime
from functools import cache

from coevo.git.repository import CorruptObject
from coevo.git.repository import Repository
from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.model.listener import SILENT
from coevo.model.listener import Listener
from coevo.storage import months
from coevo.storage.months import CloneMoment
from coevo.storage.months import MonthRecord
from coevo.storage.store import Store
from flows.licence import spdx_of
from flows.options import ReleaseOptions
from flows.repository_urls import by_repository
from miners.cloning.clones import at_hand
from miners.cloning.retention import keep
from miners.discovery.code_size import code_size
from miners.discovery.crawls import crawled_at
from miners.discovery.crawls import refs
from packagers import code_free
from packagers.built import Built
from packagers.code_free import EditionReport
from packagers.dating import DatedCrawl
from packagers.dating import date_methods
from packagers.dating import date_standing
from packagers.families import families
from packagers.maintenance import maintenance_tasks
from packagers.months import Known
from packagers.months import MonthCut
from packagers.months import check_month
from packagers.plan import ReleasePlan
from packagers.release import ReleaseReport
from packagers.release import release
from packagers.rows import Rows
from packagers.standing import suite_tasks
from packagers.tasks import build_tasks


def publish(options: ReleaseOptions, listener: Listener = SILENT) -> ReleaseReport:
    """Release a month of a store, or all that it holds; its clones answer what rows do not say.

    They stay where they are meanwhile; those that are not here, or no more, are fetched.
    """
    if options.month:
        check_month(options.month)
    store = Store(options.store)
    fixed = months.read(store.place, options.month) if options.month else None
    with ExitStack() as stack:
        clones = _Clones(options=options, store=store, stack=stack)
        clones.moments.update({one.repo: one for one in fixed.clones} if fixed else {})
        return release(store, _plan(options, clones, fixed, listener))


def edit(options: ReleaseOptions) -> EditionReport:
    """The code-free edition of what was released, from the same clones."""
    if options.code_free is None:
        raise Fatal('say where the code-free edition is written')
    store = Store(options.store)
    with ExitStack() as stack:
        clones = _Clones(options=options, store=store, stack=stack)
        return code_free.edit(options.snapshot, options.code_free, clones.get)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clones:
    """The repositories of a store, each opened once it is asked for and kept until the end.

    moments  when each was crawled, and its refs: as a month has fixed it, else as the clone says
    """

    options: ReleaseOptions
    store: Store
    stack: ExitStack
    found: dict[str, Repository] = field(default_factory=dict)
    moments: dict[str, CloneMoment] = field(default_factory=dict)

    def get(self, repo: str) -> Repository:
        if repo not in self.found:
            place = at_hand(self.options.folder, repo, _url(self.store, repo))
            self.found[repo] = Repository(self.stack.enter_context(place))
            if repo not in self.moments:
                self.moments[repo] = _moment(repo, self.found[repo])
        return self.found[repo]

    def all(self, repos: Iterable[str]) -> dict[str, Repository]:
        return {repo: self.get(repo) for repo in sorted(set(repos))}

    def licence(self, repo: str, rev: str) -> str | None:
        return spdx_of(self.get(repo), rev)

    def size(self, repo: str, rev: str, language: str) -> tuple[int, int] | None:
        return code_size(self.get(repo), rev, language)

    def committed(self, repo: str, rev: str) -> datetime | None:
        try:
            return self.get(repo).commit(rev).committer_date
        except CorruptObject:
            return None

    def crawls(self, rows: Rows) -> dict[str, DatedCrawl]:
        return {
            repo: DatedCrawl(
                repository=clone,
                crawled_at=self.moments[repo].crawled_at,
                refs=self.moments[repo].refs,
            )
            for repo, clone in self.all(row.repo for row in rows.repositories).items()
        }

    def families(self, repos: Sequence[str]) -> dict[str, str]:
        theirs = self.all(repos)
        return families(theirs, {repo: self.moments[repo].refs for repo in repos})

    def build(self, rows: Rows) -> Built:
        """The tasks; what they name stays in the clones."""
        pairs = {(row.pair_id, row.walk): row for row in rows.pairs}
        environments = {(row.pair_id, row.module): row.environment for row in rows.environments}
        clones = self.all(row.repo for kind in (rows.methods, rows.standing) for row in kind)
        built = build_tasks(
            rows.methods, pairs, rows.repositories, clones, environments, rows.starts
        )
        suites = suite_tasks(rows.standing, pairs, rows.repositories, clones, environments)
        built = replace(built, tasks=(*built.tasks, *suites.tasks), standing=suites.ids)
        if Family.MAINTENANCE in self.options.families:
            kept = maintenance_tasks(built.tasks, rows.methods, clones, environments)
            built = replace(
                built, tasks=(*built.tasks, *kept.tasks), drops=(*built.drops, *kept.drops)
            )
        for repo in sorted({task.repo for task in built.tasks}):
            revs = {rev for t in built.tasks if t.repo == repo for rev in (t.old_rev, t.new_rev)}
            keep(self.get(repo).git_dir, revs)
        return built


def _plan(
    options: ReleaseOptions, clones: _Clones, fixed: MonthRecord | None, listener: Listener
) -> ReleasePlan:
    cache_folder = options.folder / 'cache'
    known = Known(
        committed=clones.committed,
        licence=clones.licence,
        moments=clones.moments,
        stated=options.reached,
    )
    return ReleasePlan(
        snapshot=options.snapshot,
        date=lambda rows: date_methods(
            rows.methods,
            clones.crawls(rows),
            cache_folder=cache_folder,
            space=rows.space,
            listener=listener,
        ),
        date_standing=lambda rows: date_standing(
            rows.standing, clones.crawls(rows), cache_folder=cache_folder, listener=listener
        ),
        build=clones.build,
        licence=clones.licence,
        size=cache(clones.size),
        families=clones.families,
        accepted=options.accepted,
        month=options.month,
        cut=MonthCut(options.month, known, fixed) if options.month else None,
        previous=options.previous,
        parameters={'families': ','.join(options.families)} if options.families else {},
        urls=by_repository(options.urls, sorted({one.repo for one in clones.store.partitions()})),
    )


def _moment(repo: str, clone: Repository) -> CloneMoment:
    return CloneMoment(repo=repo, crawled_at=crawled_at(clone.git_dir), refs=refs(clone))


def _url(store: Store, repo: str) -> str | None:
    """Where a mined repository can be had, if that is known."""
    found = (store.walk(part).repository.url for part in store.partitions() if part.repo == repo)
    return next((url for url in found if url is not None), None)
