"""Write tables as Parquet files, where the same rows give the same bytes, with columns for the
editions of a snapshot.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from coevo.model.families import Family
from coevo.model.schema import (
    KEYS,
    TABLES,
    build_arrow_schema,
    build_table,
    build_table_of_plain_rows,
    build_table_schema,
)
from coevo.model.task_rows import TaskRow
from coevo.model.words import Track
from coevo.snapshots.code_free.hydration import describe_writer
from coevo.snapshots.code_free.tables import load_file_rows
from coevo.snapshots.local_copy import TIMINGS
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.table_files import ROWS_PER_GROUP, write_table_file
from coevo.storage import durable
from packagers.manifests import Checksums
from packagers.row_files import Sorter

_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


def list_task_parts(tasks: Iterable[TaskRow]) -> tuple[str, ...]:
    """Return the names of the files of tasks: all tracks of co-evolution, then families with tasks.

    Tracks always have a file: users who load the same three every month see that one is empty. A
    family has one if it has tasks, since Hugging Face's library does not load zero rows.
    """
    present = {_name_task_part(task) for task in tasks}
    tracks = sorted(Track)
    return (*tracks, *(str(family) for family in sorted(Family) if family in present))


def _name_task_part(task: TaskRow) -> str:
    is_suite = task.family not in (None, Family.COEVOLUTION)
    return str(task.family if is_suite else task.track)


def write_table(
    folder: Path, name: str, rows: Iterable[Any], space: Path | None = None
) -> list[Path]:
    """Write the files of a table under `folder/data/NAME`, and return their paths.

    Tasks have a file for each track or family, other tables have one.

    space  the folder for large temporary files; None uses the default folder for temporary files
    """
    target = folder / 'data' / name  # own name: one of TABLES
    target.mkdir(parents=True)
    paths = []
    for part, placed in _sort_into_files(name, rows, space):
        paths.append(target / f'{part}.parquet')  # own name: of a track, a family or `part-0`
        _write_file(paths[-1], name, placed, space)
    return paths


def _sort_into_files(
    name: str, rows: Iterable[Any], space: Path | None
) -> Iterator[tuple[str, Iterable[Any]]]:
    """Yield the name of each file of a table, without its ending, and its rows in their order."""
    if name not in ROWS_PER_GROUP:
        yield 'part-0', rows
        return
    is_of_tasks = name == 'tasks'
    sorters: dict[str, Sorter[Any]] = {}
    for part in sorted(Track) if is_of_tasks else ('part-0',):
        sorters[part] = Sorter(TABLES[name], space)
    for row in rows:
        part = _name_task_part(row) if is_of_tasks else 'part-0'
        if part not in sorters:
            sorters[part] = Sorter(TABLES[name], space)
        sorters[part].add(_get_sort_key(name, row), row)
    for part, sorter in sorters.items():
        yield part, sorter.finish()


def _write_file(path: Path, name: str, rows: Iterable[Any], space: Path | None) -> None:
    record = TABLES[name]
    write_table_file(
        path, name, build_arrow_schema(record), rows, partial(build_table, record), space
    )


def _get_sort_key(name: str, row: Any) -> tuple[object, ...]:
    key = tuple(str(getattr(row, column)) for column in KEYS[name])
    date = row.contamination_date
    return (
        row.track is None,
        str(row.track or ''),
        _get_quarter(date),
        row.repo,
        date is None,
        (date - _EPOCH) // _MICROSECOND if date else 0,
        key,
    )


def _get_quarter(date: datetime | None) -> tuple[int, int]:
    return (date.year, (date.month - 1) // 3) if date else (10_000, 0)


# Returns a row as the edition has it.
HideTexts = Callable[[dict[str, Any]], Mapping[str, Any]]


def blank_texts(row: dict[str, Any], paths: Iterable[str]) -> None:
    """Set columns of a row to None; the path `a.b` stands for the field b of each element of a."""
    for path in paths:
        name, _, inner = path.partition('.')
        if not inner:
            row[name] = None
        for element in (row[name] or ()) if inner else ():
            element[inner] = None


def rewrite_table_file(file: Path, target: Path, table: str, hide: HideTexts) -> None:
    """Write a file of a table whose rows hide texts."""
    schema = build_table_schema(table, code_free=True)
    rows = map(hide, load_file_rows(file))
    write_table_file(target, table, schema, rows, partial(build_table_of_plain_rows, schema))


def copy_timings(full: Path, made: Path) -> None:
    """Copy the timings of a release into an edition, if it has any."""
    if (full / TIMINGS).is_file():
        (made / TIMINGS).parent.mkdir(parents=True)
        shutil.copyfile(full / TIMINGS, made / TIMINGS)


def write_edition_manifest(
    made: Path, content: Mapping[str, Any], about: Mapping[str, Any], files: Checksums
) -> None:
    """Write the manifest of an edition, and the whole edition to the disk.

    content  the manifest of the release
    about    the kind of edition and what it leaves out
    files    the checksums of the edition's files
    """
    edition = {**about, 'written_by': describe_writer()}
    own = {**content, 'edition': edition, 'files': files}
    text = f'{json.dumps(own, indent=2, sort_keys=True, ensure_ascii=False)}\n'
    durable.write_durably(made / MANIFEST, [text.encode()])
    durable.sync_tree_to_disk(made)
