"""The settings of a worker's machine, from its environment: the store, and how it executes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from coevo.languages.table import list_engine_versions
from coevo.model.errors import Fatal
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
