"""Keep any number of rows sorted on disk with limited memory, and write tables as Parquet files.

Added rows are sorted in runs of some megabytes, which are merged when they are read (an external
merge sort). The file has no name, so it disappears with the process, however that ends.
"""

from __future__ import annotations

import dataclasses
import heapq
import marshal
import os
import tempfile
import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache, partial
from itertools import islice
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints, overload

import pyarrow as pa

from coevo.model.column import split_optional
from coevo.model.families import Family
from coevo.model.schema import KEYS, TABLES, build_arrow_schema, build_table
from coevo.model.task_rows import TaskRow
from coevo.model.words import Track
from coevo.snapshots.table_files import ROWS_PER_GROUP, write_table_file

# Keep any number of rows sorted on disk with limited memory.

# Pack records as plain values and back, for files that only this process reads.
#
# `coevo.model.codec` is for stored files; packing takes a fifth of its time, and records no
# versions.

Row = TypeVar('Row')
Convert = Callable[[Any], Any]


class RowPacker(Generic[Row]):
    """Packs records of one type, including nested records."""

    def __init__(self, record: type[Row]) -> None:
        hint: Any = record  # mypy takes no generic type for hashable
        self._plain, self._made = _make_converters(hint)

    def pack(self, row: Row) -> bytes:
        """Return a row as bytes."""
        values = self._plain(row)
        try:
            return marshal.dumps(values)
        except ValueError:  # marshal refuses enum members, which a text field may hold
            return marshal.dumps(_unwrap_enums(values))

    def unpack(self, packed: bytes) -> Row:
        """Return the row that was packed."""
        row: Row = self._made(marshal.loads(packed))
        return row


@cache
def _make_converters(record: Any) -> tuple[Convert, Convert]:
    """Return two functions: from a record to a list of plain values, and back.

    The values are in the order of the record's fields.
    """
    hints = get_type_hints(record)
    names = [item.name for item in dataclasses.fields(record)]
    choices = [_find_converters(hints[name]) for name in names]
    outward = [(at, choice[0]) for at, choice in enumerate(choices) if choice]
    inward = [(at, choice[1]) for at, choice in enumerate(choices) if choice]
    values_of = attrgetter(*names, names[0])  # a tuple even for a single field
    # Skip the constructor, as unpickling does: packed records have passed it before.
    setters = [getattr(record, name).__set__ for name in names]

    def to_plain(row: Any) -> list[Any]:
        """Convert a record to plain values."""
        values = list(values_of(row))
        values.pop()
        for at, convert in outward:
            if values[at] is not None:
                values[at] = convert(values[at])
        return values

    def from_plain(values: Any) -> Any:
        """Convert plain values to a record."""
        values = list(values)
        for at, convert in inward:
            if values[at] is not None:
                values[at] = convert(values[at])
        row = object.__new__(record)
        for setter, value in zip(setters, values, strict=True):
            setter(row, value)
        return row

    return to_plain, from_plain


def _find_converters(hint: Any) -> tuple[Convert, Convert] | None:
    """Return converters for both directions of a value; None if it needs no conversion.

    None as a value is not passed to them.
    """
    inner: Any = split_optional(hint)[0]
    if get_origin(inner) is tuple:
        return _make_tuple_converters(_find_converters(get_args(inner)[0]))
    if dataclasses.is_dataclass(inner):
        record: Any = inner
        return _make_converters(record)
    if issubclass(inner, StrEnum):
        return str.__str__, {item.value: item for item in inner}.__getitem__
    if issubclass(inner, datetime):
        return datetime.isoformat, datetime.fromisoformat
    return None


def _unwrap_enums(value: Any) -> Any:
    if isinstance(value, str):
        return str.__str__(value)
    return tuple(map(_unwrap_enums, value)) if isinstance(value, list | tuple) else value


def _make_tuple_converters(
    choice: tuple[Convert, Convert] | None,
) -> tuple[Convert, Convert] | None:
    if choice is None:
        return None
    outward, inward = choice
    return (
        lambda values: tuple(map(outward, values)),
        lambda values: tuple(map(inward, values)),
    )


Key = tuple[Any, ...]
_Item = tuple[Key, bytes]

# Bytes of packed rows that are sorted at once and read at once, and the additional memory of a row.
_RUN, _PAGE, _MORE = 16 << 20, 64 << 10, 300
_CODEC = 'lz4'


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunPage:
    """A page of a run: its position in the file, its size when decompressed, and its first key."""

    offset: int
    length: int
    size: int
    first: Key


class RowFile(Sequence[Row]):
    """Rows sorted by key; rows with equal keys stay in the order of their addition."""

    def __init__(
        self, packing: RowPacker[Row], file: int, runs: Sequence[Sequence[_RunPage]], count: int
    ) -> None:
        self._packing, self._file, self._runs, self._count = packing, file, runs, count
        weakref.finalize(self, os.close, file)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        return (self._packing.unpack(packed) for _, packed in self._merge_runs(self._runs))

    def load_section(self, section: str) -> Iterator[Row]:
        """Yield the rows whose keys have this text as their first part.

        All keys of the file must begin with a text.
        """
        for key, packed in self._merge_runs([_find_pages(run, section) for run in self._runs]):
            if key[0] == section:
                yield self._packing.unpack(packed)

    @overload
    def __getitem__(self, at: int) -> Row: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Row]: ...

    def __getitem__(self, at: int | slice) -> Row | Sequence[Row]:
        """Return a row or a slice; this reads all rows before it, too."""
        if isinstance(at, slice):
            return tuple(self)[at]
        index = at + self._count if at < 0 else at
        if not 0 <= index < self._count:
            raise IndexError(at)
        return next(islice(self, index, None))

    def _merge_runs(self, runs: Sequence[Sequence[_RunPage]]) -> Iterator[_Item]:
        """Yield the items of all runs in order.

        A run is opened when its first key is due, so runs that follow each other are open one at a
        time.
        """
        readers = {at: self._load_run(run) for at, run in enumerate(runs) if run}
        due = [(runs[at][0].first, at) for at in readers]
        heapq.heapify(due)
        heads: dict[int, _Item] = {}
        while due:
            _, at = heapq.heappop(due)
            head: _Item | None = heads.pop(at, None) or next(readers[at])
            while head is not None and (not due or (head[0], at) < due[0]):
                yield head
                head = next(readers[at], None)
            if head is not None:
                heads[at] = head
                heapq.heappush(due, (head[0], at))

    def _load_run(self, run: Sequence[_RunPage]) -> Iterator[_Item]:
        for page in run:
            packed = os.pread(self._file, page.length, page.offset)
            items = pa.decompress(packed, decompressed_size=page.size, codec=_CODEC, asbytes=True)
            yield from marshal.loads(items)


class Sorter(Generic[Row]):
    """Takes rows in any order, and gives them back sorted by key (`finish`).

    A key is a tuple of plain values that can be compared.

    folder  a folder on a file system with enough room; None uses the default for temporary files
    run     bytes of rows that are sorted at once
    """

    def __init__(self, record: type[Row], folder: Path | None = None, run: int = _RUN) -> None:
        self._packing = RowPacker(record)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            self._file = os.dup(file.fileno())
        self._close = weakref.finalize(self, os.close, self._file)
        self._run = run
        self._held: list[_Item] = []
        self._size = self._end = self._count = 0
        self._runs: list[Sequence[_RunPage]] = []

    def add(self, key: Key, row: Row) -> None:
        """Add a row with its key."""
        packed = self._packing.pack(row)
        self._held.append((key, packed))
        self._count += 1
        self._size += len(packed) + _MORE
        if self._size >= self._run:
            self._flush()

    def finish(self) -> RowFile[Row]:
        """Return the sorted rows; nothing can be added afterwards."""
        self._flush()
        self._close.detach()
        return RowFile(self._packing, self._file, self._runs, self._count)

    def _flush(self) -> None:
        self._held.sort(key=itemgetter(0))
        run = [
            self._write_page(items)
            for items in _split_into_pages(self._held, min(self._run // 4, _PAGE))
        ]
        if run:
            self._runs.append(run)
        self._held, self._size = [], 0

    def _write_page(self, items: Sequence[_Item]) -> _RunPage:
        plain = marshal.dumps(list(items))
        packed = pa.compress(plain, codec=_CODEC, asbytes=True)
        page = _RunPage(offset=self._end, length=len(packed), size=len(plain), first=items[0][0])
        while packed:
            written = os.pwrite(self._file, packed, self._end)
            self._end, packed = self._end + written, packed[written:]
        return page


def _split_into_pages(items: Sequence[_Item], most: int) -> Iterator[Sequence[_Item]]:
    page: list[_Item] = []
    size = 0
    for item in items:
        page.append(item)
        size += len(item[1]) + _MORE
        if size >= most:
            yield page
            page, size = [], 0
    if page:
        yield page


def _find_pages(run: Sequence[_RunPage], section: str) -> Sequence[_RunPage]:
    """Return the pages that may hold rows of a section."""
    start = bisect_left(run, section, key=lambda page: page.first[0])
    end = bisect_right(run, section, key=lambda page: page.first[0])
    return run[max(start - 1, 0) : end]


# Write tables as Parquet files, where the same rows give the same bytes.

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
