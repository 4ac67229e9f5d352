"""`release`: the snapshot of a month, the catalogue, and the page over all snapshots."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path

from prefect import flow, get_run_logger
from prefect.artifacts import create_table_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed

from coevo.evaluation.reporting.cells import pluralise
from coevo.model.families import RELEASED_FAMILIES
from coevo.model.listener import Say
from coevo.snapshots.catalogue import load_catalogue
from coevo.snapshots.cutoffs import compute_first_clean_moment
from coevo.snapshots.local_copy import open_local_copy
from coevo.storage.place import Root, parse_root
from flows import months
from flows.live import heartbeat
from flows.live.heartbeat import hold_run_lease_or_raise
from flows.live.reap import remove_overdue_runs
from flows.live.run_names import name_flow_run
from flows.live.trying import retry_step, turn_errors_into_failed_states
from flows.live.worker_settings import check_engine_versions, load_worker_settings
from flows.options import ReleaseOptions, parse_families
from flows.publication import parse_urls, publish_or_explain_wait, write_editions
from packagers import publishing
from packagers.funnel import format_news
from packagers.publishing import list_snapshots, locate_snapshot
from packagers.release import ReleaseReport
from packagers.site.folder import write_site

# The names of the states of a run whose month lacks repositories: it waits for them, or it was
# released without them.
WAITING, INCOMPLETE = 'Waiting', 'Incomplete'


@flow(name='release', flow_run_name=name_flow_run, persist_result=False)
@turn_errors_into_failed_states
def release(
    month: str | None = None,
    name: str | None = None,
    previous: str | None = None,
    reached: str | None = None,
    accepted: list[str] | None = None,
    families: list[str] | None = None,
    untested: bool = False,
    code_free: str | None = None,
    withhold_gold: str | None = None,
    urls: list[str] | None = None,
    wait_days: float = 7.0,
    incomplete: bool = False,
    engine: dict[str, str] | None = None,
) -> State[None]:
    """Release a month, YYYY-MM, by default the one before this run's.

    While repositories of the month are missing, the run ends as `Waiting`, and a later one tries
    again. A scheduled run does not make a snapshot again that is there.

    name       name of the snapshot's folder, by default the month
    previous   name of the snapshot that it follows, by default the last one before it by name
    reached    YYYY-MM-DD, until when copies have all commits, if mining did not record it
    accepted   SPDX ids of licences that are accepted although the OSI has not approved them
    families   also tasks that are made from labels: maintenance, implement
    untested   also tasks of functions that no test executes; they have no gold
    code_free  a folder or URL for the edition without code; None writes none
    withhold_gold  the same for the edition without the developers' answers
    urls       OWNER/NAME=URL, for repositories that were mined from a folder
    wait_days  how long after its end the month waits for missing repositories
    incomplete whether it is released without them then
    """
    check_engine_versions(engine)
    settings = load_worker_settings()
    present = heartbeat.get_scheduled_present()
    is_scheduled = month is None
    if month is None:
        remove_overdue_runs(_choose_month)
        month = _choose_month(present)
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
        jobs=settings.jobs,
        accepted=tuple(sorted(set(accepted or ()))),
        families=parse_families(families or (), RELEASED_FAMILIES),
        untested=untested,
        code_free=parse_root(code_free) if code_free else None,
        withhold_gold=parse_root(withhold_gold) if withhold_gold else None,
        urls=parse_urls(urls or ()),
        incomplete=incomplete,
    )
    until = compute_first_clean_moment(month) + timedelta(days=wait_days)
    report = None
    with hold_run_lease_or_raise(settings.store):
        if not (is_scheduled and name in list_snapshots(snapshots)):
            report = _publish_or_explain_wait(options, until, present)
        if isinstance(report, str):
            return Completed(name=WAITING, message=report)
        editions = _write_editions(options)
        catalogue = _rebuild_catalogue_and_site(snapshots, settings.site)
    for sentence in editions:
        get_run_logger().info(sentence)
    get_run_logger().info('%s, %s', catalogue, settings.site or 'no page: $COEVO_SITE')
    if report is None:
        return Completed(message=f'{name} is there')
    return _show_report(report, f'{name} after {earlier or "nothing"}')


def _show_report(report: ReleaseReport, title: str) -> State[None]:
    """Log a release, make its tables, and return the state in which its run ends."""
    get_run_logger().info(report.sentence)
    rows = [{'table': table, 'rows': count} for table, count in report.rows.items()]
    create_table_artifact(rows, key='snapshot', description=title)
    if report.news:
        create_table_artifact(format_news(report.news), key='news', description=title)
    message = f'{pluralise(report.rows["tasks"], "task")} in {report.month}'
    if report.cohort is None or report.is_complete:
        return Completed(message=message)
    missing = [
        {'repository': each.repo, 'reason': str(each.reason), 'detail': each.detail}
        for each in report.cohort.missing
    ]
    create_table_artifact(missing, key='missing', description=title)
    return Completed(name=INCOMPLETE, message=f'{message}; {report.cohort.missing_sentence}')


def _choose_month(scheduled: datetime) -> str:
    """Return the month that a run is to release, by its scheduled start."""
    return months.find_previous_month(heartbeat.get_scheduled_or_clock_time(scheduled))


@retry_step
def _rebuild_catalogue_and_site(snapshots: Root, site: Path | None) -> str:
    return rebuild_catalogue_and_site(snapshots, site, get_run_logger().info)


@retry_step
def _write_editions(options: ReleaseOptions) -> tuple[str, ...]:
    return write_editions(options)


@retry_step
def _publish_or_explain_wait(
    options: ReleaseOptions, until: datetime, now: datetime
) -> ReleaseReport | str:
    return publish_or_explain_wait(options, until=until, now=now)


def _find_previous_snapshot(snapshots: Root, name: str) -> str | None:
    return max(
        (snapshot_name for snapshot_name in list_snapshots(snapshots) if snapshot_name < name),
        default=None,
    )


# The rest makes what readers find beside a snapshot: the catalogue, and the page over all months.


def rebuild_catalogue_and_site(snapshots: Root, site: Path | None, say: Say) -> str:
    """Rebuild the catalogue and the page from all snapshots; return the address of the catalogue.

    If a month has several snapshots, the page shows the last by name. Without `site` there is no
    page.
    """
    catalogue = publishing.rebuild_catalogue_and_get_address(snapshots)
    if site is not None:
        names = {snapshot.month: snapshot.name for snapshot in load_catalogue(str(snapshots))}
        with ExitStack() as stack:
            folders = [
                stack.enter_context(open_local_copy(str(locate_snapshot(snapshots, name))))
                for _, name in sorted(names.items())
            ]
            write_site(folders, site, say)
    return catalogue
