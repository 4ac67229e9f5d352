"""`crawl`: search for candidates on GitHub by some profiles; the environment has the tokens."""

from __future__ import annotations

import os
from pathlib import Path

from prefect import flow, get_run_logger
from prefect.artifacts import create_table_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed

from coevo.model.listener import Listener
from flows import discovery
from flows.discovery import CrawlOptions, CrawlReport
from flows.live.heartbeat import hold_run_lease_or_raise
from flows.live.reap import remove_overdue_runs
from flows.live.run_names import name_flow_run
from flows.live.trying import retry_step, turn_errors_into_failed_states
from flows.live.worker_settings import load_worker_settings
from miners.discovery.budgets import parse_tokens
from miners.discovery.candidates import load_candidate_profile
from miners.discovery.github_requests import PUBLIC_API


@flow(name='crawl', flow_run_name=name_flow_run, persist_result=False)
@turn_errors_into_failed_states
def crawl(profile: str | list[str] = 'testevo', profiles: str | None = None) -> State[None]:
    """Crawl GitHub once for each of some profiles and write the crawls to the worker's store.

    They are crawled one after the other, since a store has one crawl at a time. A profile is from
    the file `profiles`, or a built-in one.
    """
    remove_overdue_runs()
    names = [profile] if isinstance(profile, str) else profile
    with hold_run_lease_or_raise(load_worker_settings().store):
        reports = [_crawl(name, profiles) for name in names]
    rows = [
        {
            'profile': report.profile,
            'found': report.found,
            'kept': report.kept,
            'unknown': report.unknown,
            'proven': report.proven,
            'counted requests': sum(report.requests.counted.values()),
            'unchanged': report.requests.unchanged,
        }
        for report in reports
    ]
    create_table_artifact(rows, key='crawl', description=', '.join(names))
    return Completed(
        message='; '.join(
            f'{report.profile}: {report.found} found, {report.kept} kept' for report in reports
        )
    )


@retry_step
def _crawl(profile: str, profiles: str | None) -> CrawlReport:
    """Crawl; the tokens come from the environment, since Prefect would store parameters."""
    options = CrawlOptions(
        store=load_worker_settings().store,
        profile=load_candidate_profile(
            profile, Path(profiles) if profiles else None
        ),  # own name: the user's
        tokens=parse_tokens(os.environ),
        api=os.environ.get('COEVO_GITHUB_API') or PUBLIC_API,
    )
    return discovery.crawl(options, Listener(say=get_run_logger().info))
