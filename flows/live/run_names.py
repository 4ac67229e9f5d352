"""Name flow runs by what they are about, so that Prefect's page can be read: `mine ada/r1 and 7 more`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from prefect.runtime import flow_run

from coevo.display.terminal import redact
from flows import months
from flows.live.heartbeat import get_scheduled_present

_Parameters = Mapping[str, Any]


def name_flow_run() -> str:
    """Return the name of the present flow run; a flow takes this as its `flow_run_name`."""
    return describe_run(str(flow_run.flow_name), flow_run.parameters, get_scheduled_present())


def describe_run(flow: str, parameters: _Parameters, present: datetime) -> str:
    """Return the name of a flow and what a run of it is about, without credentials in addresses.

    present  the time that the run takes as the present
    """
    describe = _SUBJECTS.get(flow)
    subject = describe(parameters, present) if describe else ''
    return redact(f'{flow} {subject}'.rstrip())


def _describe_repositories(parameters: _Parameters, present: datetime) -> str:
    first, *more = parameters.get('repositories') or ['nothing']
    month = parameters.get('month')
    return f'{first}{f" and {len(more)} more" if more else ""}{f" until {month}" if month else ""}'


def _describe_profiles(parameters: _Parameters, present: datetime) -> str:
    profile = parameters['profile']
    return profile if isinstance(profile, str) else ', '.join(profile)


def _describe_month(parameters: _Parameters, present: datetime) -> str:
    return parameters.get('name') or parameters.get('month') or months.find_previous_month(present)


def _describe_repository(parameters: _Parameters, present: datetime) -> str:
    return parameters.get('repository') or 'all repositories'


def _describe_snapshot(parameters: _Parameters, present: datetime) -> str:
    return f'{parameters["predictions"]} on {parameters["snapshot"]}'


def _describe_part(parameters: _Parameters, present: datetime) -> str:
    return f'{parameters["number"]} of {parameters["parts"]}, {_describe_snapshot(parameters, present)}'


_SUBJECTS: Mapping[str, Callable[[_Parameters, datetime], str]] = {
    'crawl': _describe_profiles,
    'evaluate': _describe_snapshot,
    'evaluate-part': _describe_part,
    'measure': _describe_repository,
    'mine': _describe_repositories,
    'release': _describe_month,
    'reverify': _describe_repository,
    'spread': lambda parameters, present: str(parameters['verb']),
    'validate': _describe_repositories,
}
