"""What a worker's machine says by its environment: where the store lies, and how it executes."""

from __future__ import annotations

import os
from dataclasses import dataclass

from coevo.engine.execution import ENGINE_VERSION
from coevo.model.errors import Fatal
from coevo.storage.place import Root
from coevo.storage.place import root_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSurroundings:
    """The same for all flows of a worker: $COEVO_STORE, $COEVO_SNAPSHOTS, $COEVO_SANDBOX, $COEVO_JOBS."""

    store: Root
    snapshots: Root
    sandbox: str
    jobs: int


def surroundings() -> LiveSurroundings:
    return LiveSurroundings(
        store=root_of(os.environ.get('COEVO_STORE', 'store')),
        snapshots=root_of(os.environ.get('COEVO_SNAPSHOTS', 'snapshots')),
        sandbox=os.environ.get('COEVO_SANDBOX', 'bubblewrap'),
        jobs=int(os.environ.get('COEVO_JOBS') or os.cpu_count() or 1),
    )


def check_engine(engine: int | None) -> None:
    """Fatal where a run was asked of another engine than the one that this worker has."""
    if engine is not None and engine != ENGINE_VERSION:
        raise Fatal(
            f'this run was asked of engine {engine}, but the worker has {ENGINE_VERSION}: '
            'bring the worker to the same version, or schedule the run anew'
        )
