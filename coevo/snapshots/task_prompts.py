"""Look up the prompt of a task in a snapshot."""

from __future__ import annotations

from pathlib import Path

from coevo.model.errors import Fatal
from coevo.model.texts import TEXTS_WITHHELD
from coevo.snapshots import snapshot


def load_task_prompt(place: Path | str, task_id: str) -> str:
    """Return the prompt of a task.

    Raises: Fatal if the task is unknown or the snapshot has no prompts.
    """
    with snapshot.translate_read_errors((place,)):
        connection = snapshot.open_snapshots(place)
        sql = f'SELECT prompt, {TEXTS_WITHHELD} FROM tasks WHERE task_id = ?'
        row = connection.execute(sql, [task_id]).fetchone()
    if row is not None and row[1]:
        raise Fatal(
            f'{place} has no texts of {task_id}; {snapshot.suggest_filling(place, task_id)} fills them in'
        )
    if row is None or row[0] is None:
        raise Fatal(
            f'{place} has no prompt of a task {task_id!r}; '
            '`coevo query SNAPSHOT "SELECT task_id FROM tasks"` lists its tasks'
        )
    return str(row[0])
