"""The prompt of a task, as its snapshot holds it."""

from __future__ import annotations

from pathlib import Path

from coevo.model.errors import Fatal
from coevo.snapshots import snapshot


def task_prompt(place: Path | str, task_id: str) -> str:
    """What an agent is told; Fatal for an unknown task, or a snapshot that has no prompts."""
    snapshot.require_texts(place)
    with snapshot.reading((place,)):
        connection = snapshot.open(place)
        sql = 'SELECT prompt FROM tasks WHERE task_id = ?'
        found = connection.execute(sql, [task_id]).fetchone()
    if found is None or found[0] is None:
        raise Fatal(
            f'{place} has no prompt of a task {task_id!r}; '
            '`coevo query SNAPSHOT "SELECT task_id FROM tasks"` lists its tasks'
        )
    return str(found[0])
