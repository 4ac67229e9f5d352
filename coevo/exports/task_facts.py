"""Facts about a task that every format states: what it is, where it is from, and its dates."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from coevo.evaluation.assignments import Assignment


def describe_task(assignment: Assignment, snapshot_sha256: str) -> dict[str, Any]:
    """Return the facts about a task as values of JSON.

    `contamination_date` is the first time at which the answer may have been public; null is never
    clean for any model.
    """
    task = assignment.task
    return {
        'task_id': task.task_id,
        'snapshot_sha256': snapshot_sha256,
        'released': task.released,
        'family': str(assignment.family),
        'track': str(task.track),
        'scenario': str(task.scenario) if task.scenario is not None else None,
        'language': task.language,
        'repo': task.repo,
        'url': task.url,
        'license': task.license,
        'old_rev': task.old_rev,
        'new_rev': task.new_rev,
        'test_file': task.test_file,
        'test_methods': list(task.test_methods),
        'created_at': _format_time(task.new_committer_date),
        'contamination_date': _format_time(task.contamination_date),
        'prompt_version': task.prompt_version,
    }


def _format_time(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None
