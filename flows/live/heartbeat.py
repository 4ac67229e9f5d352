"""A flow run says in the store that it lives: Prefect leaves one that was killed RUNNING for ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prefect.runtime import flow_run

from coevo.errors import Fatal
from flows import claims


@contextmanager
def living(store: Path) -> Iterator[None]:
    """Renew the claim of the present flow run until the block ends."""
    run_id = str(flow_run.id)
    with claims.held(store, claims.of_run(run_id), lambda: None) as ours:
        if not ours:
            raise Fatal(f'flow run {run_id} is at work in another process: start a new one')
        yield
