"""`release`: the snapshot of a month, the catalogue with it, and the page over all of them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from prefect import flow
from prefect import get_run_logger
from prefect.artifacts import create_table_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed

from coevo.evaluation.reporting.cells import plural
from coevo.model.families import RELEASED_FAMILIES
from coevo.storage.place import Root
from coevo.storage.place import root_of
from flows import months
from flows.announcing import Announcement
from flows.announcing import announce
from flows.live import clock
from flows.live.heartbeat import living
from flows.live.overdue import take_over_overdue
from flows.live.trying import tried
from flows.live.worker_settings import check_engine
from flows.live.worker_settings import worker_settings
from flows.options import ReleaseOptions
from flows.options import families_of
from flows.publication import edit
from flows.publication import publish
from flows.repository_urls import urls_of
from packagers.code_free import EditionReport
from packagers.news import rows_of_news
from packagers.publishing import below
from packagers.publishing import names
from packagers.release import ReleaseReport


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
    engine: dict[str, int] | None = None,
) -> State[None]:
    """Release a month, YYYY-MM, by default the one before this run's.

    name       of the snapshot's folder, by default the month
    previous   name of the snapshot that it follows, by default the last one before it by name
    reached    YYYY-MM-DD, until when copies have all commits, where their mining did not say
    accepted   SPDX ids of licences that will do though the OSI has not approved them
    families   also tasks that are made of labels: maintenance
    code_free  a folder or URL, where the edition without code goes; None for none
    urls       OWNER/NAME=URL, of repositories that were mined from a folder
    """
    check_engine(engine)
    place = worker_settings()
    if month is None:
        take_over_overdue(_month_of)
    month = month or _month_of(clock.scheduled())
    name = name or month
    snapshots = place.snapshots
    previous = previous or _last_before(snapshots, name)
    earlier = below(snapshots, previous) if previous else None
    options = ReleaseOptions(
        store=place.store,
        snapshot=below(snapshots, name),
        month=month,
        reached=months.day(reached, end=True),
        previous=earlier,
        accepted=tuple(sorted(set(accepted or ()))),
        families=families_of(families or (), RELEASED_FAMILIES),
        code_free=root_of(code_free) if code_free else None,
        urls=urls_of(urls or ()),
    )
    with living(place.store):
        report = _publish(options)
        edition = _edit(options) if code_free else None
        announced = _announce(snapshots, place.site)
    get_run_logger().info(report.sentence)
    if edition is not None:
        get_run_logger().info(edition.sentence)
    get_run_logger().info('%s, %s', announced.catalogue, announced.site or 'no page: $COEVO_SITE')
    rows = [{'table': table, 'rows': count} for table, count in report.rows.items()]
    create_table_artifact(rows, key='snapshot', description=f'{name} after {earlier or "nothing"}')
    if report.news:
        create_table_artifact(rows_of_news(report.news), key='news', description=name)
    return Completed(message=f'{plural(report.rows["tasks"], "task")} in {name}')


def _month_of(scheduled: datetime) -> str:
    """The month that a run is to release, by when it was to begin."""
    return months.before(clock.meant(scheduled))


@tried
def _announce(snapshots: Root, site: Path | None) -> Announcement:
    return announce(snapshots, site, get_run_logger().info)


@tried
def _edit(options: ReleaseOptions) -> EditionReport:
    return edit(options)


@tried
def _publish(options: ReleaseOptions) -> ReleaseReport:
    return publish(options)


def _last_before(snapshots: Root, name: str) -> str | None:
    return max((one for one in names(snapshots) if one < name), default=None)
