"""JSON lines, and what every format says of a task besides its texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from coevo.model.families import Family
from coevo.model.task_rows import TaskRow
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.manifests import load_manifest_at

# A text by which a publisher marks data, so that it can be found in what a model was trained on.
CANARY = 'canary'


def describe_task(task: TaskRow, release: Mapping[str, str | None]) -> dict[str, object]:
    """Return the metadata of a task: where it is from, when it was public, what it asks.

    release  what `describe_release` returned
    """
    return {
        **release,
        'task_id': task.task_id,
        'pair_id': task.pair_id,
        'repo': task.repo,
        'url': task.url,
        'license': task.license,
        'language': task.language,
        'track': str(task.track),
        'family': str(task.family or Family.COEVOLUTION),
        'scenario': None if task.scenario is None else str(task.scenario),
        'old_rev': task.old_rev,
        'new_rev': task.new_rev,
        'old_date': format_date(task.old_committer_date),
        'new_date': format_date(task.new_committer_date),
        'contamination_date': format_date(task.contamination_date),
        'contamination_basis': None
        if task.contamination_basis is None
        else str(task.contamination_basis),
        'code_first_seen': format_date(task.code_first_seen),
        'released': task.released,
        'test_file': task.test_file,
        'test_methods': list(task.test_methods or task.shown_targets),
        'prompt_version': task.prompt_version,
        'leak': task.leak,
    }


def describe_release(place: Path | str, snapshot_sha256: str) -> dict[str, str | None]:
    """Return the month and checksum of a release, and the canary that its manifest may have."""
    manifest = load_manifest_at(resolve_location(place))
    canary = manifest.get(CANARY)
    return {
        'month': str(manifest['month']),
        'snapshot_sha256': snapshot_sha256,
        CANARY: canary if isinstance(canary, str) else None,
    }


def format_date(date: datetime | None) -> str | None:
    """Return a time as ISO 8601 in UTC, such as `2026-05-01T12:00:00Z`; None for None."""
    return None if date is None else f'{date.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}'


def encode_lines(rows: Iterable[Mapping[str, object]]) -> bytes:
    """Return rows as JSON lines. They are ASCII: some readers split at other line ends, too."""
    return b''.join(json.dumps(row, sort_keys=True).encode() + b'\n' for row in rows)
