"""`crawl`: search for candidates on GitHub, daily; the worker's environment has the tokens."""

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
from flows.live.heartbeat import hold_run_lease
from flows.live.overdue import cancel_overdue_runs
from flows.live.trying import make_retried_task
from flows.live.worker_settings import load_worker_settings
from miners.discovery.candidate_profiles import load_profile
from miners.discovery.github_requests import PUBLIC_API
from miners.discovery.github_tokens import parse_tokens


@flow(name='crawl', persist_result=False)
def crawl(profile: str = 'testevo', profiles: str | None = None) -> State[None]:
    """Crawl GitHub once by one profile and write the crawl to the worker's store.

    The profile is from the file `profiles`, or a built-in one.
    """
    cancel_overdue_runs()
    with hold_run_lease(load_worker_settings().store):
        report = _crawl(profile, profiles)
    counts = {
        'found': report.found,
        'kept': report.kept,
        'unknown': report.unknown,
        'proven': report.proven,
        'counted requests': sum(report.requests.counted.values()),
        'unchanged': report.requests.unchanged,
    }
    create_table_artifact([counts], key='crawl', description=f'{profile} {report.stamp}')
    return Completed(message=f'{report.found} found, {report.kept} kept')


@make_retried_task
def _crawl(profile: str, profiles: str | None) -> CrawlReport:
    """Crawl; the tokens come from the environment, since Prefect would store parameters."""
    options = CrawlOptions(
        store=load_worker_settings().store,
        profile=load_profile(profile, Path(profiles) if profiles else None),  # own name: the user's
        tokens=parse_tokens(os.environ),
        api=os.environ.get('COEVO_GITHUB_API') or PUBLIC_API,
    )
    return discovery.crawl(options, Listener(say=get_run_logger().info))
