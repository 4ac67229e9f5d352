"""Result tables as CSV that grow row by row, so that a run that is cut off loses nothing."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

Row = dict[str, str]


def read(path: Path) -> list[Row]:
    """All rows; none where there is no file yet."""
    if not path.is_file():
        return []
    with path.open(newline='') as file:
        return list(csv.DictReader(file))


def append(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Rows of one shape; the first ones make the file and its head."""
    if not rows:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.is_file()
    with path.open('a', newline='') as file:
        writer = csv.DictWriter(file, tuple(rows[0]), lineterminator='\n')
        if new:
            writer.writeheader()
        writer.writerows(rows)


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """The rows in place of what was there."""
    path.unlink(missing_ok=True)
    append(path, rows)
