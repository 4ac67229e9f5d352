"""`reverify`: run a sample of the last snapshot's labels again, another sample each week."""

from __future__ import annotations

from datetime import datetime

from prefect import flow, get_run_logger
from prefect.artifacts import create_table_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed

from coevo.model.listener import Listener
from flows import reverification
from flows.live import heartbeat
from flows.live.heartbeat import hold_run_lease_or_raise
from flows.live.reap import remove_overdue_runs
from flows.live.run_names import name_flow_run
from flows.live.trying import retry_step, turn_errors_into_failed_states
from flows.live.worker_settings import check_engine_versions, load_worker_settings
from flows.reverification import Reverification, ReverifyOptions
from packagers.publishing import list_snapshots, locate_snapshot


@flow(name='reverify', flow_run_name=name_flow_run, persist_result=False)
@turn_errors_into_failed_states
def reverify(
    sample: int = 100,
    seed: int | None = None,
    snapshot: str | None = None,
    repository: str | None = None,
    engine: dict[str, str] | None = None,
) -> State[None]:
    """Run some labels again; labels that are lost are withdrawn at the next release.

    seed      of the sample; by default from the year and week of the scheduled start
    snapshot  name of the snapshot to draw from; by default the last by name, and if there is none,
              all labels of the store
    repository  owner/name; draw only labels of this one
    """
    check_engine_versions(engine)
    settings = load_worker_settings()
    if seed is None:
        remove_overdue_runs(_choose_seed)
    last = snapshot or max(list_snapshots(settings.snapshots), default=None)
    options = ReverifyOptions(
        store=settings.store,
        sample=sample,
        seed=_choose_seed(heartbeat.get_scheduled_present()) if seed is None else seed,
        snapshot=locate_snapshot(settings.snapshots, last) if last else None,
        repository=repository,
        jobs=settings.jobs,
    )
    with hold_run_lease_or_raise(settings.store):
        report = _reverify(options)
    sentences = {**report.lost, **report.unknown}
    if sentences:
        rows = [
            {'method': id_, 'lost': id_ in report.lost, 'why': why}
            for id_, why in sorted(sentences.items())
        ]
        create_table_artifact(rows, key='reverified')
    return Completed(
        message=f'{report.drawn} of {report.population} labels: {report.confirmed} hold, '
        f'{len(report.lost)} lost, {len(report.unknown)} unknown'
    )


def _choose_seed(scheduled: datetime) -> int:
    """Return a seed made of the year and week of the scheduled start."""
    year, week, _ = heartbeat.get_scheduled_or_clock_time(scheduled).isocalendar()
    return 100 * year + week


@retry_step
def _reverify(options: ReverifyOptions) -> Reverification:
    return reverification.reverify_labels(options, Listener(say=get_run_logger().info))
