"""From a store to a snapshot: the parts of a release, wired together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from functools import partial

from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.model.listener import SILENT
from coevo.model.listener import Listener
from coevo.storage import months
from coevo.storage.months import MonthRecord
from coevo.storage.store import Store
from flows.dating import ReleaseDates
from flows.options import ReleaseOptions
from flows.release_clones import ReleaseClones
from flows.repository_urls import by_repository
from miners.cloning.retention import keep
from packagers import code_free
from packagers.built import Built
from packagers.code_free import EditionReport
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
    with ReleaseClones(options.folder, store, fixed.clones if fixed else None) as clones:
        dates = ReleaseDates(store, clones, fixed, listener)
        return release(store, _plan(options, clones, fixed, dates))


def edit(options: ReleaseOptions) -> EditionReport:
    """The code-free edition of what was released, from the same clones."""
    if options.code_free is None:
        raise Fatal('say where the code-free edition is written')
    with ReleaseClones(options.folder, Store(options.store)) as clones:
        return code_free.edit(options.snapshot, options.code_free, clones.get)


def _plan(
    options: ReleaseOptions,
    clones: ReleaseClones,
    fixed: MonthRecord | None,
    dates: ReleaseDates,
) -> ReleasePlan:
    known = Known(
        committed=clones.committed,
        licence=clones.licence,
        moments=clones.moments,
        stated=options.reached,
    )
    return ReleasePlan(
        snapshot=options.snapshot,
        date=dates.methods,
        date_standing=dates.standing,
        known_dates=dates.known,
        build=partial(_build, clones, options.families),
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


def _build(clones: ReleaseClones, wanted: Collection[Family], rows: Rows) -> Built:
    """The tasks; what they name stays in the clones."""
    pairs = {(row.pair_id, row.walk): row for row in rows.pairs}
    environments = {(row.pair_id, row.module): row.environment for row in rows.environments}
    theirs = clones.of({row.repo for kind in (rows.methods, rows.standing) for row in kind})
    built = build_tasks(rows.methods, pairs, rows.repositories, theirs, environments, rows.starts)
    suites = suite_tasks(rows.standing, pairs, rows.repositories, theirs, environments)
    built = replace(built, tasks=(*built.tasks, *suites.tasks), standing=suites.ids)
    if Family.MAINTENANCE in wanted:
        kept = maintenance_tasks(built.tasks, rows.methods, theirs, environments)
        built = replace(built, tasks=(*built.tasks, *kept.tasks), drops=(*built.drops, *kept.drops))
    revs: dict[str, set[str]] = defaultdict(set)
    for task in built.tasks:
        revs[task.repo] |= {task.old_rev, task.new_rev}
    for repo, named in sorted(revs.items()):
        keep(clones.get(repo).git_dir, named)
    return built
