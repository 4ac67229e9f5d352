"""Find tests with nearly the same text, in one repository or in two.

Two tests are near duplicates if the sets of their token 5-grams have a Jaccard index of 0.8 or
more. Tokens ignore comments, white space, the values of literals and the name of the test itself.
The join is exact: sets that are so similar share one of their rarest grams (prefix filtering,
Chaudhuri, Ganti and Kaushik, 2006), so only such sets are compared. DuckDB does it, on disk if
memory is short.

A test is no duplicate of itself: the same test at another time, in another walk, or under the name
from which it was moved is left out.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa

from coevo.model.method_rows import MethodRow
from coevo.model.quality import Coverage
from coevo.model.words import Walk
from coevo.storage import disk
from packagers.row_files import Key, Sorter

Item = TypeVar('Item')

GRAM = 5
LEAST_INDEX = 0.8

_TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)'
    r'|(?P<text>"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
    r'|(?P<number>\d[\w.]*)|(?P<word>[^\W\d]\w*)|(?P<sign>[^\w\s])',
    re.DOTALL,
)
_LATEST = datetime.max.replace(tzinfo=UTC)
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_BATCH = 100_000  # rows that go to DuckDB, or come from it, at once
_TEXT = attrgetter('text')
_NONE: tuple[int | None, Iterable[Any]] = None, ()
# The memory that DuckDB may use before it spills to disk.
_MEGABYTES = 300

# Each step is a table, so that DuckDB does not join all texts by their most common grams first. Of
# n grams, the rarest n - ceil(0.8 n) + 1 are looked up, computed in whole numbers.
_STEPS = (
    'CREATE TABLE sizes AS SELECT text, count(*) AS size FROM grams GROUP BY text',
    """CREATE TABLE shared AS SELECT gram, count(*) AS texts FROM grams GROUP BY gram
    HAVING count(*) > 1""",
    """CREATE TABLE prefixes AS
    SELECT text, gram FROM (
        SELECT text, gram, size, shared.texts, row_number() OVER (
            PARTITION BY text ORDER BY coalesce(shared.texts, 1), gram) AS place
        FROM grams JOIN sizes USING (text) LEFT JOIN shared USING (gram))
    WHERE texts IS NOT NULL AND place <= size - (size * 4 + 4) // 5 + 1""",
    """CREATE TABLE candidates AS
    SELECT DISTINCT a.text AS one, b.text AS other
    FROM prefixes a JOIN prefixes b ON a.gram = b.gram AND a.text < b.text""",
    """CREATE TABLE ours AS SELECT one, other, gram FROM candidates JOIN grams ON text = one""",
    """CREATE TABLE compared AS SELECT one, other, count(*) AS common
    FROM ours JOIN grams ON text = other AND grams.gram = ours.gram GROUP BY ALL""",
    """CREATE TABLE near AS SELECT one, other
    FROM compared JOIN sizes s ON s.text = one JOIN sizes t ON t.text = other
    WHERE common * 5 >= 4 * (s.size + t.size - common)""",
)
_BOTH_WAYS = """SELECT one, other FROM near UNION ALL SELECT other, one FROM near
    ORDER BY ALL"""

Grams = frozenset[int]
_Test = tuple[str, str, str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _GramRow:
    """A method row, reduced to what its similarity to others needs.

    text    a hash of its grams
    grams   packed to save space; empty if only the text matters
    at      microseconds since 1970; a row without a date counts as the latest
    names   hashes of the test's identity at new, and at old if that differs
    """

    text: int
    grams: bytes
    at: int
    repo: str
    method_id: str
    walk: Walk
    names: tuple[int, ...]

    @property
    def age_key(self) -> tuple[int, str, str]:
        """The sort key by age: date, then id, then walk."""
        return self.at, self.method_id, str(self.walk)


def mark_near_duplicates(methods: Iterable[MethodRow], space: Path | None = None) -> Iterator[Mark]:
    """Yield marks whose `near_duplicate_of` names the earliest test with nearly the same text.

    A test that is itself the earliest gets none. Age is by contamination date, then by id. A
    deleted test is compared by its old text.

    space  folder for large temporary files; None uses the default
    """
    texts = _sort_by_text(methods, space)
    alike = Sorter(_GramRow, space)
    with _connect(space) as connection:
        _insert_all(connection, texts)
        for near in _find_similar(connection, texts):
            alike.add((near.text,), near)
    nearby = groupby(alike.finish(), key=_TEXT)
    for same, others in _join_by_text(texts, nearby):
        yield from _mark_rows(same, others)


def _join_by_text(
    texts: Iterable[_GramRow], others: Iterator[tuple[int, Iterable[Item]]]
) -> Iterator[tuple[list[_GramRow], list[Item]]]:
    """Yield the rows of each text with the items of the same text number, both in order."""
    number, items = next(others, _NONE)
    for text, same in groupby(texts, key=_TEXT):
        there: list[Item] = []
        if number == text:
            there = list(items)
            number, items = next(others, _NONE)
        yield list(same), there


def _mark_rows(same: Sequence[_GramRow], nearby: Iterable[_GramRow]) -> Iterator[Mark]:
    """Yield marks for the rows of one text.

    nearby  the earliest rows of tests with a similar text
    """
    own = _find_earliest_rows(same)
    since = {row.names[0]: row.age_key for row in own}
    firsts = sorted((*own, *nearby), key=attrgetter('age_key'))
    for row in same if len(firsts) > 1 else ():
        first = next((candidate for candidate in firsts if not _is_same_test(candidate, row)), None)
        if first is not None and first.age_key < since[row.names[0]]:
            yield Mark(
                repo=row.repo,
                method_id=row.method_id,
                walk=row.walk,
                near_duplicate_of=first.method_id,
            )


def _find_earliest_rows(rows: Iterable[_GramRow]) -> list[_GramRow]:
    """Return the earliest row of each test."""
    earliest_rows: dict[int, _GramRow] = {}
    for row in sorted(rows, key=attrgetter('age_key')):
        earliest_rows.setdefault(row.names[0], row)
    return list(earliest_rows.values())


def _is_same_test(one: _GramRow, other: _GramRow) -> bool:
    return not set(one.names).isdisjoint(other.names)


def _list_test_identities(row: MethodRow) -> tuple[_Test, ...]:
    """Return the identity of a test at new, and at old if that differs."""
    new = (row.repo, row.test_class, row.test_method, row.parameters)
    old_class, old_method = row.old_test_class, row.old_test_method
    if old_class is None and old_method is None:
        return (new,)
    old = (row.repo, old_class or row.test_class, old_method or row.test_method, row.parameters)
    return new, old


def compute_source_grams(source: str, name: str) -> Grams:
    """Return the hashed 5-grams of a test method's tokens.

    A method of fewer than five tokens gives one gram of all of them.

    name  the test's own name, which is not compared
    """
    return compute_token_grams(list(tokenise(source, name)))


def compute_token_grams(found: Sequence[str]) -> Grams:
    """Return the hashed 5-grams of some tokens; fewer than five tokens give one gram."""
    count = max(len(found) - GRAM + 1, 1)
    return frozenset(_hash_tokens(found[start : start + GRAM]) for start in range(count))


def _hash_tokens(tokens: Sequence[str]) -> int:
    return _hash_bytes('\0'.join(tokens).encode())


def _hash_bytes(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest())


def tokenise(source: str, name: str) -> Iterator[str]:
    """Yield the tokens of a test, without comments.

    A literal becomes `text` or `number`, and the test's own name becomes `name`.
    """
    for match in _TOKEN.finditer(source):
        kind = match.lastgroup
        if kind in ('text', 'number'):
            yield kind
        elif kind != 'comment':
            yield 'name' if match[0] == name else match[0]


def _sort_by_text(methods: Iterable[MethodRow], space: Path | None) -> Sequence[_GramRow]:
    """Return the method rows that have a text, reduced and sorted by the hash of their text."""
    sorter = Sorter(_GramRow, space)
    for row in methods:
        source = row.new_source if row.new_source is not None else row.old_source
        if source is not None:
            packed = array('Q', sorted(compute_source_grams(source, row.test_method))).tobytes()
            gram_row = _GramRow(
                text=_hash_bytes(packed),
                grams=packed,
                at=((row.contamination_date or _LATEST) - _EPOCH) // _MICROSECOND,
                repo=row.repo,
                method_id=row.method_id,
                walk=row.walk,
                names=tuple(
                    _hash_bytes(repr(name).encode()) for name in _list_test_identities(row)
                ),
            )
            sorter.add((gram_row.text,), gram_row)
    return sorter.finish()


@contextmanager
def _connect(space: Path | None) -> Iterator[duckdb.DuckDBPyConnection]:
    with (
        tempfile.TemporaryDirectory(dir=space) as spill,
        duckdb.connect(f'{spill}/grams') as connection,
    ):
        disk.limit_memory_and_allow_spilling(connection, spill, megabytes=_MEGABYTES)
        connection.execute('CREATE TABLE grams (text UBIGINT, gram UBIGINT)')
        yield connection


def _insert_all(connection: duckdb.DuckDBPyConnection, rows: Iterable[_GramRow]) -> None:
    """Insert the grams of each text once into the table `grams`."""
    texts, all_grams = array('Q'), array('Q')
    for text, same in groupby(rows, key=_TEXT):
        packed = next(same).grams
        all_grams.frombytes(packed)
        texts.extend([text] * (len(packed) // 8))
        if len(texts) >= _BATCH:
            _insert_batch(connection, texts, all_grams)
            texts, all_grams = array('Q'), array('Q')
    _insert_batch(connection, texts, all_grams)


def _insert_batch(
    connection: duckdb.DuckDBPyConnection, texts: array[int], all_grams: array[int]
) -> None:
    columns = {'text': _make_column(texts), 'gram': _make_column(all_grams)}
    connection.register('some_grams', pa.table(columns))
    connection.execute('INSERT INTO grams FROM some_grams')
    connection.unregister('some_grams')


def _make_column(values: array[int]) -> pa.Array:
    return pa.Array.from_buffers(pa.uint64(), len(values), [None, pa.py_buffer(values)])


def _find_similar(
    connection: duckdb.DuckDBPyConnection, texts: Iterable[_GramRow]
) -> Iterator[_GramRow]:
    """Yield the earliest rows of tests, once for each text that is similar to theirs.

    Each row comes under the number of that other text.
    """
    for step in _STEPS:
        connection.execute(step)
    similar = connection.execute(_BOTH_WAYS)
    for same, others in _join_by_text(texts, groupby(_fetch_rows(similar), key=itemgetter(0))):
        firsts = _find_earliest_rows(same) if others else ()
        for _, other in others:
            yield from (dataclasses.replace(first, text=other, grams=b'') for first in firsts)


def _fetch_rows(result: duckdb.DuckDBPyConnection) -> Iterator[tuple[int, int]]:
    while batch := result.fetchmany(_BATCH):
        yield from batch


# The rest puts values that depend on all method rows into the columns of the rows.


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Values for columns of one method row that depend on other rows.

    None leaves a column as it is.
    """

    repo: str
    method_id: str
    walk: Walk
    duplicate_of: str | None = None
    near_duplicate_of: str | None = None
    task_id: str | None = None
    task_coverage: Coverage | None = None
    leak: float | None = None
    strict_askable: bool | None = None


_COLUMNS = tuple(field.name for field in dataclasses.fields(Mark) if field.default is None)


def apply_marks(
    methods: Iterable[MethodRow], marks: Iterable[Mark], space: Path | None = None
) -> Iterator[MethodRow]:
    """Yield the method rows with the columns of all their marks filled in.

    The rows must be sorted as their table is; marks may come in any order.
    """
    sorter = Sorter(Mark, space)
    for mark in marks:
        sorter.add(_get_key(mark), mark)
    left = iter(sorter.finish())
    due = next(left, None)
    for row in methods:
        columns: dict[str, Any] = {}
        while due is not None and _get_key(due) <= _get_key(row):
            columns |= _list_filled_columns(due) if _get_key(due) == _get_key(row) else {}
            due = next(left, None)
        yield dataclasses.replace(row, **columns) if columns else row


def _get_key(row: Mark | MethodRow) -> Key:
    return row.repo, row.method_id, str(row.walk)


def _list_filled_columns(mark: Mark) -> dict[str, Any]:
    values = ((name, getattr(mark, name)) for name in _COLUMNS)
    return {name: value for name, value in values if value is not None}
