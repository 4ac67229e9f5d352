"""Result tables: CSV that grows row by row, so that a run that is cut off loses nothing, and Markdown for people."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

Row = dict[str, str]


def read_rows(path: Path) -> list[Row]:
    """Read all rows; none where there is no file yet."""
    if not path.is_file():
        return []
    with path.open(newline='') as file:
        return list(csv.DictReader(file))


def append_rows(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Append rows of one shape; the first ones make the file and its head."""
    if not rows:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.is_file()
    with path.open('a', newline='') as file:
        writer = csv.DictWriter(file, tuple(rows[0]), lineterminator='\n')
        if is_new:
            writer.writeheader()
        writer.writerows(rows)


def replace_rows(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write the rows in place of what was there."""
    path.unlink(missing_ok=True)
    append_rows(path, rows)


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table in Markdown."""
    print(f'| {" | ".join(head)} |\n|{" --- |" * len(head)}')
    for row in rows:
        print(f'| {" | ".join(map(str, row))} |')
    print()
