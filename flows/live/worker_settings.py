"""The settings of a worker's machine, from its environment, and the checks of its tools and of the
server.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import httpx
import prefect
from prefect.client.orchestration import get_client

from coevo.display.terminal import redact
from coevo.languages.table import list_engine_versions
from coevo.model.errors import Fatal
from coevo.sandboxes.running import find_program
from coevo.sandboxes.sandbox import open_sandbox
from coevo.storage.place import Root, parse_root


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """Settings of all flows of a worker.

    They are $COEVO_STORE, $COEVO_SNAPSHOTS, $COEVO_SANDBOX and $COEVO_JOBS.

    site  $COEVO_SITE, the folder of the page that a release rewrites; None for no page
    """

    store: Root
    snapshots: Root
    sandbox: str
    jobs: int
    site: Path | None = None


def load_worker_settings() -> WorkerSettings:
    """Read the settings from the environment, with defaults."""
    return WorkerSettings(
        store=parse_root(os.environ.get('COEVO_STORE', 'store')),
        snapshots=parse_root(os.environ.get('COEVO_SNAPSHOTS', 'snapshots')),
        sandbox=os.environ.get('COEVO_SANDBOX', 'bubblewrap'),
        jobs=int(os.environ.get('COEVO_JOBS') or os.cpu_count() or 1),
        site=Path(site) if (site := os.environ.get('COEVO_SITE')) else None,
    )


def _format_engines(engines: dict[str, str]) -> str:
    return ', '.join(f'engine {version} of {name}' for name, version in engines.items())


def check_engine_versions(engine: dict[str, str] | None) -> None:
    """Raise Fatal if a run demands another engine version than this worker has."""
    if engine is not None and engine != list_engine_versions():
        raise Fatal(
            f'this run was asked of {_format_engines(engine)}, but the worker has {_format_engines(list_engine_versions())}: '
            'bring the worker to the same version, or schedule the run anew'
        )


def check_tools(sandbox: str) -> None:
    """Raise Fatal, with what to install, if this machine lacks Git or cannot start the sandbox.

    Otherwise every repository that this worker gets would be refused.
    """
    try:
        find_program('git', 'git')
        open_sandbox(sandbox).close()
    except Fatal as error:
        raise Fatal(f'this worker cannot mine: {error}; `coevo doctor` says what it has') from None


def prepare_runner_storage() -> None:
    """Make Prefect's temporary folder, open to workers of all users, unless it exists.

    Raises: Fatal if it is another user's and closed to this one. Prefect would end with a
    traceback, since the first user of a machine makes the folder for himself.
    """
    folder = Path(tempfile.gettempdir()) / 'runner_storage'
    try:
        folder.mkdir()
    except FileExistsError:
        if not os.access(folder, os.W_OK | os.X_OK):
            raise Fatal(
                f"{folder} is another user's: have it removed, or let $TMPDIR name a folder of your own"
            ) from None
    else:
        folder.chmod(0o1777)


VARIABLE = 'PREFECT_API_URL'


def check_server_and_get_version() -> str:
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
