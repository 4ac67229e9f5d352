"""`release`: the snapshot of a month, the catalogue, and the page over all snapshots."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from prefect import flow, get_run_logger
from prefect.artifacts import create_table_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed

from coevo.evaluation.reporting.cells import pluralise
from coevo.model.families import RELEASED_FAMILIES
from coevo.model.listener import Say
from coevo.snapshots.catalogue import load_catalogue
from coevo.snapshots.local_copy import open_local_copy
from coevo.storage.place import Root, parse_root
from flows import months
from flows.live import clock
from flows.live.heartbeat import hold_run_lease
from flows.live.overdue import cancel_overdue_runs
from flows.live.trying import make_retried_task
from flows.live.worker_settings import check_engine, load_worker_settings
from flows.options import ReleaseOptions, parse_families
from flows.publication import parse_urls, publish_release, write_code_free_edition
from packagers import cataloguing
from packagers.code_free import EditionReport
from packagers.news import format_news
from packagers.publishing import list_snapshots, locate_snapshot
from packagers.release import ReleaseReport
from packagers.site.folder import write_site


@flow(name='release', persist_result=False)
def release(
    month: str | None = None,
    name: str | None = None,
    previous: str | None = None,
    reached: str | None = None,
    accepted: list[str] | None = None,
    families: list[str] | None = None,
    code_free: str | None = None,
    urls: list[str] | None = None,
    engine: dict[str, str] | None = None,
) -> State[None]:
    """Release a month, YYYY-MM, by default the one before this run's.

    name       name of the snapshot's folder, by default the month
    previous   name of the snapshot that it follows, by default the last one before it by name
    reached    YYYY-MM-DD, until when copies have all commits, if mining did not record it
    accepted   SPDX ids of licences that are accepted although the OSI has not approved them
    families   also tasks that are made from labels: maintenance
    code_free  a folder or URL for the edition without code; None writes none
    urls       OWNER/NAME=URL, for repositories that were mined from a folder
    """
    check_engine(engine)
    settings = load_worker_settings()
    if month is None:
        cancel_overdue_runs(_choose_month)
    month = month or _choose_month(clock.get_scheduled_present())
    name = name or month
    snapshots = settings.snapshots
    previous = previous or _find_previous_snapshot(snapshots, name)
    earlier = locate_snapshot(snapshots, previous) if previous else None
    options = ReleaseOptions(
        store=settings.store,
        snapshot=locate_snapshot(snapshots, name),
        month=month,
        reached=months.parse_day(reached, end=True),
        previous=earlier,
        accepted=tuple(sorted(set(accepted or ()))),
        families=parse_families(families or (), RELEASED_FAMILIES),
        code_free=parse_root(code_free) if code_free else None,
        urls=parse_urls(urls or ()),
    )
    with hold_run_lease(settings.store):
        report = _publish(options)
        edition = _edit(options) if code_free else None
        announced = _announce(snapshots, settings.site)
    get_run_logger().info(report.sentence)
    if edition is not None:
        get_run_logger().info(edition.sentence)
    get_run_logger().info('%s, %s', announced.catalogue, announced.site or 'no page: $COEVO_SITE')
    rows = [{'table': table, 'rows': count} for table, count in report.rows.items()]
    create_table_artifact(rows, key='snapshot', description=f'{name} after {earlier or "nothing"}')
    if report.news:
        create_table_artifact(format_news(report.news), key='news', description=name)
    return Completed(message=f'{pluralise(report.rows["tasks"], "task")} in {name}')


def _choose_month(scheduled: datetime) -> str:
    """Return the month that a run is to release, by its scheduled start."""
    return months.find_previous_month(clock.resolve_present(scheduled))


@make_retried_task
def _announce(snapshots: Root, site: Path | None) -> Announcement:
    return announce_snapshots(snapshots, site, get_run_logger().info)


@make_retried_task
def _edit(options: ReleaseOptions) -> EditionReport:
    return write_code_free_edition(options)


@make_retried_task
def _publish(options: ReleaseOptions) -> ReleaseReport:
    return publish_release(options)


def _find_previous_snapshot(snapshots: Root, name: str) -> str | None:
    return max(
        (snapshot_name for snapshot_name in list_snapshots(snapshots) if snapshot_name < name),
        default=None,
    )


# The rest makes what readers find beside a snapshot: the catalogue, and the page over all months.


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """The addresses of the catalogue and of the page; None if no page was requested."""

    catalogue: str
    site: Path | None


def announce_snapshots(snapshots: Root, site: Path | None, say: Say) -> Announcement:
    """Rebuild the catalogue and the page from all snapshots at a place.

    If a month has several snapshots, the page shows the last by name. Without `site` there is no
    page.
    """
    catalogue_location = cataloguing.rebuild_catalogue(snapshots)
    if site is not None:
        names = {snapshot.month: snapshot.name for snapshot in load_catalogue(str(snapshots))}
        with ExitStack() as stack:
            folders = [
                stack.enter_context(open_local_copy(str(locate_snapshot(snapshots, name))))
                for _, name in sorted(names.items())
            ]
            write_site(folders, site, say)
    return Announcement(catalogue=catalogue_location, site=site)
