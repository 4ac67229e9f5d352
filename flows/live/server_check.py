"""Check that the server that $PREFECT_API_URL names answers, with a compatible version."""

from __future__ import annotations

import os
from http import HTTPStatus

import httpx
import prefect
from prefect.client.orchestration import get_client

from coevo.display.redaction import redact
from coevo.model.errors import Fatal

VARIABLE = 'PREFECT_API_URL'


def check_server() -> str:
    """Return the version of the Prefect server that $PREFECT_API_URL names.

    Raises: Fatal if none is named, none answers, or its major version differs from that of this
    machine.

    Without an address, each of Prefect's commands would start a temporary server of its own.
    """
    api = os.environ.get(VARIABLE)
    if not api:
        raise Fatal(
            f'${VARIABLE} names no server: export it, {VARIABLE}=http://127.0.0.1:4200/api for one on this machine'
        )
    version = _ask_server_version(api)
    if _parse_major(version) != _parse_major(prefect.__version__):
        raise Fatal(
            f'the server at {redact(api)} is Prefect {version}, here is {prefect.__version__}: '
            'bring both to the same version (make setup on both machines)'
        )
    return version


def _ask_server_version(api: str) -> str:
    """Return the version that the server names.

    Raises: Fatal if no Prefect server answers, for example since a proxy before it demands a login.
    """
    try:
        with get_client(sync_client=True) as client:
            return str(client.api_version())
    except httpx.HTTPStatusError as error:
        status = HTTPStatus(error.response.status_code).phrase
        raise Fatal(
            f'{redact(api)} answers "{status}": is it the address of a Prefect server, with /api at its end?'
        ) from None
    except (httpx.HTTPError, RuntimeError, ValueError) as error:
        raise Fatal(
            f'no Prefect server answers at {redact(api)} ({type(error).__name__}): start it '
            f'(prefect server start), or let ${VARIABLE} name another one'
        ) from None


def _parse_major(version: str) -> str:
    return version.partition('.')[0]
