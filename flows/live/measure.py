"""`measure`: measure the tasks that mining left unmeasured; mining itself only labels."""

from __future__ import annotations

from prefect import flow, get_run_logger
from prefect.artifacts import create_table_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed

from coevo.evaluation.reporting.cells import pluralise
from coevo.model.listener import Listener
from flows import measure_pass
from flows.live.heartbeat import hold_run_lease_or_raise
from flows.live.reap import remove_overdue_runs
from flows.live.run_names import name_flow_run
from flows.live.trying import retry_step, turn_errors_into_failed_states
from flows.live.worker_settings import check_engine_versions, load_worker_settings
from flows.measure_pass import MeasureOptions, MeasureReport


@flow(name='measure', flow_run_name=name_flow_run, persist_result=False)
@turn_errors_into_failed_states
def measure(
    repository: str | None = None,
    runs: int | None = None,
    engine: dict[str, str] | None = None,
) -> State[None]:
    """Measure all tasks of the store that wait for it.

    repository  owner/name; only tasks of this one
    runs        most runs of tests for one pair; None takes the number of the pair's profile
    """
    check_engine_versions(engine)
    remove_overdue_runs()
    settings = load_worker_settings()
    options = MeasureOptions(
        store=settings.store, repository=repository, runs=runs, jobs=settings.jobs
    )
    with hold_run_lease_or_raise(settings.store):
        report = _measure(options)
    left = {**report.waiting, **report.bugs}
    if left:
        rows = [{'pair': pair_id, 'why': why} for pair_id, why in sorted(left.items())]
        create_table_artifact(rows, key='unmeasured')
    return Completed(
        message=f'{pluralise(report.measured, "pair")} with tasks measured, {len(left)} wait, '
        f'{len(report.busy)} partitions could not be looked at'
    )


@retry_step
def _measure(options: MeasureOptions) -> MeasureReport:
    return measure_pass.measure(options, Listener(say=get_run_logger().info))
