"""`python -m flows.live.alerts`: make the server call a web hook if runs fail or a month is late.

The address is in $COEVO_WEBHOOK; Prefect keeps it as a secret. The server itself calls, so that an
alert about a month arrives even if no worker is alive. Running this again replaces the alerts;
`--remove` removes them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.events.actions import CallWebhook
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.types import SecretDict
from pydantic import SecretStr

from coevo.model.errors import Fatal
from flows.live.reap import AGAIN, TAG
from flows.live.release import INCOMPLETE, WAITING
from flows.live.worker_settings import check_server_and_get_version

VARIABLE = 'COEVO_WEBHOOK'
BLOCK = 'coevo'
_RUN = 'prefect.flow-run.'
_ID = 'prefect.resource.id'
# The form that chat services accept; the page of the run has its log and its artifacts.
_PAYLOAD = (
    '{{ {"text": SENTENCE ~ flow.name ~ "/" ~ deployment.name ~ " " ~ flow_run.name ~ ": "'
    ' ~ flow_run.state.name ~ ", " ~ (flow_run.state.message or "no word of it")'
    ' ~ " " ~ (flow_run | ui_url)} | tojson }}'
)


def set_up_alerts(url: str, late: timedelta) -> None:
    """Create the web hook and the automations, or replace them."""
    headers = SecretDict({'Content-Type': 'application/json'})
    block = Webhook(url=SecretStr(url), headers=headers)
    block_id = block.save(BLOCK, overwrite=True)
    assert isinstance(block_id, UUID)  # it would be a coroutine only in an async caller
    with get_client(sync_client=True) as client:
        remove_automations(client)
        for automation in _build_automations(block_id, late):
            client.create_automation(automation)


def remove_automations(client: SyncPrefectClient) -> None:
    """Remove coevo's automations; those of others stay."""
    for name in _NAMES:
        for automation in client.read_automations_by_name(name):
            client.delete_automation(automation.id)


_FAILED, _LOST, _LATE = 'coevo: a run failed', 'coevo: a run was lost', 'coevo: a month is late'
_NAMES = (_FAILED, _LOST, _LATE)
# The states in which a run of `release` is over.
_ENDS = ('Completed', WAITING, INCOMPLETE, 'Failed', 'TimedOut', 'Cancelled')


def _build_automations(block: UUID, late: timedelta) -> Iterator[AutomationCore]:
    yield AutomationCore(
        name=_FAILED,
        description='A flow run of coevo ended in a failure.',
        trigger=_build_state_trigger({'Failed', 'TimedOut'}, TAG),
        actions=[_build_webhook_call(block, 'failed: ')],
    )
    yield AutomationCore(
        name=_LOST,
        description='A flow run that the reaper had started once more is gone, too.',
        trigger=_build_state_trigger({'Crashed'}, AGAIN),
        actions=[_build_webhook_call(block, 'lost for the second time: ')],
    )
    hours = late.total_seconds() / 3600
    yield AutomationCore(
        name=_LATE,
        description='A release is not over some time after it was to begin.',
        trigger=EventTrigger(
            posture=Posture.Proactive,
            after={f'{_RUN}Late', f'{_RUN}Running'},
            expect={f'{_RUN}{name}' for name in _ENDS},
            match=ResourceSpecification({_ID: f'{_RUN}*'}),
            match_related=_match_tag('release'),
            for_each={_ID},
            within=late,
        ),
        actions=[_build_webhook_call(block, f'not over after {hours:g} hours: ')],
    )


def _build_state_trigger(states: set[str], tag: str) -> EventTrigger:
    return EventTrigger(
        expect={f'{_RUN}{name}' for name in states},
        match=ResourceSpecification({_ID: f'{_RUN}*'}),
        match_related=_match_tag(tag),
        for_each={_ID},
    )


def _match_tag(tag: str) -> ResourceSpecification:
    return ResourceSpecification({_ID: f'prefect.tag.{tag}', 'prefect.resource.role': 'tag'})


def _build_webhook_call(block: UUID, sentence: str) -> CallWebhook:
    return CallWebhook(
        block_document_id=block, payload=_PAYLOAD.replace('SENTENCE', repr(sentence))
    )


def main(words: list[str]) -> int:
    """Set up the alerts, or remove them with `--remove`; return the exit status.

    0, or 2 after a message if there is no server or no address of a web hook.
    """
    parser = argparse.ArgumentParser(
        allow_abbrev=False, prog='python -m flows.live.alerts', description=__doc__
    )
    parser.add_argument(
        '--late',
        type=float,
        default=6.0,
        metavar='HOURS',
        help='when a release is late (default: 6)',
    )
    parser.add_argument('--remove', action='store_true', help='no more alerts')
    arguments = parser.parse_args(words)
    try:
        check_server_and_get_version()
        if arguments.remove:
            with get_client(sync_client=True) as client:
                remove_automations(client)
            print('no alerts are sent any more')
        else:
            set_up_alerts(_load_webhook_url(), timedelta(hours=arguments.late))
            print(
                f'alerts are sent: a run that failed, a release that is late by {arguments.late:g} hours'
            )
    except Fatal as error:
        print(f'alerts: {error}', file=sys.stderr)
        return 2
    return 0


def _load_webhook_url() -> str:
    url = os.environ.get(VARIABLE, '')
    if not url.startswith(('http://', 'https://')):
        raise Fatal(
            f'${VARIABLE} names no web hook: export it, an address that begins with https://'
        )
    return url


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
