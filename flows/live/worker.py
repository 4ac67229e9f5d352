"""`python -m flows.live.worker --pool coevo --limit 2`: Prefect's worker, with an orderly end.

When told to end (SIGTERM, `docker stop`), Prefect's own worker kills its flow runs without notice:
their claims stay until the leases expire, and only the reaper starts the runs again. This worker
tells its runs, which release their repositories and schedule themselves again
(`flows.live.heartbeat`).

It also watches the runs of other machines: a run whose lease has expired is started once more.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import httpx
import psutil
from prefect.exceptions import PrefectException

from coevo.model.errors import Fatal, Transient
from coevo.storage.place import Root
from flows.live.reap import restart_dead_runs_if_lease_expired
from flows.live.worker_settings import (
    check_server_and_get_version,
    check_tools,
    load_worker_settings,
    prepare_runner_storage,
)

# The time for a run to end its sandboxes and free its claims; `docker stop --time` must be longer.
_PATIENCE_SECONDS = 45.0
# The interval between searches for dead runs; together with the lease, one is found within a
# minute.
_LOOK_SECONDS = 10.0
_RUN_ID = 'PREFECT__FLOW_RUN_ID'


class _StopSignal(BaseException):
    """SIGTERM or Ctrl-C arrived."""


def main(words: list[str]) -> int:
    """Run Prefect's worker until it ends, and return its exit status.

    143 if it was told to end, 2 after a message if this machine could do no work.
    """
    try:
        check_server_and_get_version()
        settings = load_worker_settings()
        check_tools(settings.sandbox)
        prepare_runner_storage()
    except Fatal as error:
        print(f'worker: {error}', file=sys.stderr)
        return 2
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _raise_stop_signal)
    prefect = str(Path(sys.executable).with_name('prefect'))
    # A session of its own, so that a terminal's Ctrl-C does not reach its flow runs before this
    # process.
    command = (prefect, 'worker', 'start', *words)
    with subprocess.Popen(command, start_new_session=True) as worker:
        try:
            return _restart_dead_runs_until_end(worker, settings.store)
        except _StopSignal:
            end_worker(worker)
            return 128 + signal.SIGTERM


def _restart_dead_runs_until_end(worker: subprocess.Popen[bytes], store: Root) -> int:
    """Start dead runs again until the worker ends; return its status."""
    while True:
        try:
            return worker.wait(_LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            # a store or a server that is away is tried again soon, and the worker reports it
            with suppress(httpx.HTTPError, PrefectException, Transient):
                restart_dead_runs_if_lease_expired(
                    store, lambda sentence: print(f'worker: {sentence}', flush=True)
                )


def _raise_stop_signal(number: int, frame: object) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)
    raise _StopSignal


def end_worker(worker: subprocess.Popen[bytes]) -> None:
    """End a worker, then its flow runs, which get some time for it.

    The worker is killed first: otherwise it would start the next run, and kill these without
    notice.
    """
    runs = list_run_processes(worker.pid)
    worker.kill()
    for run in runs:
        with suppress(psutil.NoSuchProcess):
            run.terminate()
    _, left = psutil.wait_procs(runs, timeout=_PATIENCE_SECONDS)
    for run in left:
        with suppress(psutil.NoSuchProcess):
            run.kill()


def list_run_processes(worker: int) -> list[psutil.Process]:
    """Return the processes of a worker that each execute a flow run.

    These are the topmost processes below the worker with a run's id in their environment.
    """
    waiting = [psutil.Process(worker)]
    run_processes: list[psutil.Process] = []
    while waiting:
        for child in waiting.pop().children():
            with suppress(psutil.NoSuchProcess):
                (run_processes if _RUN_ID in child.environ() else waiting).append(child)
    return run_processes


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
