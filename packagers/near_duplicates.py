"""Tests that are nearly the same text, in one repository or in two.

Two tests are near duplicates if the sets of their token 5-grams have a Jaccard index of 0.8 or more.
Tokens are blind to comments, white space, the values of literals and the name of the test itself.
The join is exact: sets that similar share one of their rarest grams (prefix filtering, Chaudhuri,
Ganti and Kaushik, 2006), so only those are compared. DuckDB does it, on disk where memory is short.

A test is no duplicate of itself: what stands at another time, in another walk, or under the name from
which it was moved, is left out.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from array import array
from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import UTC
from datetime import datetime

import duckdb
import pyarrow as pa

from coevo.model.records import Walk
from coevo.model.tables import MethodRow

GRAM = 5
LEAST_INDEX = 0.8

_TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)'
    r'|(?P<text>"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
    r'|(?P<number>\d[\w.]*)|(?P<word>[^\W\d]\w*)|(?P<sign>[^\w\s])',
    re.DOTALL,
)
_LATEST = datetime.max.replace(tzinfo=UTC)
_BATCH = 20_000  # texts that are handed to DuckDB at once

# Each step is a table, lest DuckDB join all texts by their commonest grams first. Of n grams the
# rarest n - ceil(0.8 n) + 1 are looked up, in whole numbers.
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
    """SELECT one, other FROM compared JOIN sizes s ON s.text = one JOIN sizes t ON t.text = other
    WHERE common * 5 >= 4 * (s.size + t.size - common) ORDER BY one, other""",
)

Key = tuple[str, Walk]
Grams = frozenset[int]
_Test = tuple[str, str, str, tuple[str, ...]]


def near_duplicates(methods: Iterable[MethodRow]) -> Mapping[Key, str]:
    """By (method_id, walk): the earliest near duplicate of another test, if it is earlier.

    Earlier is by contamination date, then by id. Of a deleted test the old text counts.
    """
    texts = _texts(methods)
    found = [_firsts(same) for same in texts.values()]
    alike: dict[int, list[int]] = {number: [number] for number in range(len(found))}
    for one, other in _similar(list(texts)):
        alike[one].append(other)
        alike[other].append(one)
    earliest: dict[Key, str] = {}
    for number, same in enumerate(texts.values()):
        firsts = sorted((row for near in alike[number] for row in found[near]), key=_age)
        since = {_names(row)[0]: _age(row) for row in found[number]}
        for row in same:
            first = next((one for one in firsts if not _is_same_test(one, row)), None)
            if first is not None and _age(first) < since[_names(row)[0]]:
                earliest[row.method_id, row.walk] = first.method_id
    return earliest


def _firsts(rows: Iterable[MethodRow]) -> list[MethodRow]:
    """The earliest row of each test."""
    found: dict[_Test, MethodRow] = {}
    for row in sorted(rows, key=_age):
        found.setdefault(_names(row)[0], row)
    return list(found.values())


def _is_same_test(one: MethodRow, other: MethodRow) -> bool:
    return not set(_names(one)).isdisjoint(_names(other))


def _names(row: MethodRow) -> tuple[_Test, ...]:
    """What a test is called at new, and at old where that is something else."""
    new = (row.repo, row.test_class, row.test_method, row.parameters)
    old_class, old_method = row.old_test_class, row.old_test_method
    if old_class is None and old_method is None:
        return (new,)
    old = (row.repo, old_class or row.test_class, old_method or row.test_method, row.parameters)
    return new, old


def grams(source: str, name: str) -> Grams:
    """The token 5-grams of a test method, as numbers; of a shorter one, all of its tokens as one."""
    return ngrams(list(tokens(source, name)))


def ngrams(found: Sequence[str]) -> Grams:
    """The 5-grams of some tokens; of fewer, all of them as one."""
    count = max(len(found) - GRAM + 1, 1)
    return frozenset(_number(found[start : start + GRAM]) for start in range(count))


def _number(tokens: Sequence[str]) -> int:
    return int.from_bytes(hashlib.blake2b('\0'.join(tokens).encode(), digest_size=8).digest())


def tokens(source: str, name: str) -> Iterator[str]:
    """Literals by their kind, the test's own name as `name`, no comments."""
    for found in _TOKEN.finditer(source):
        kind = found.lastgroup
        if kind in ('text', 'number'):
            yield kind
        elif kind != 'comment':
            yield 'name' if found[0] == name else found[0]


def _texts(methods: Iterable[MethodRow]) -> dict[bytes, list[MethodRow]]:
    """The rows by grams, these packed, since there are many."""
    rows: dict[bytes, list[MethodRow]] = defaultdict(list)
    for row in methods:
        source = row.new_source if row.new_source is not None else row.old_source
        if source is not None:
            packed = array('Q', sorted(grams(source, row.test_method))).tobytes()
            rows[packed].append(row)
    return rows


def _age(row: MethodRow) -> tuple[datetime, str, str]:
    return row.contamination_date or _LATEST, row.method_id, str(row.walk)


def _similar(packed: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Numbers of different texts that are similar enough, each pair once."""
    with tempfile.TemporaryDirectory() as spill, duckdb.connect() as connection:
        connection.execute(f"SET temp_directory = '{spill}'; SET memory_limit = '4GB'")
        connection.execute('CREATE TABLE grams (text BIGINT, gram UBIGINT)')
        for start in range(0, len(packed), _BATCH):
            _insert(connection, range(start, min(start + _BATCH, len(packed))), packed)
        for step in _STEPS:
            connection.execute(step)
        yield from connection.fetchall()


def _insert(connection: duckdb.DuckDBPyConnection, numbers: range, packed: Sequence[bytes]) -> None:
    owners, all_grams = array('q'), array('Q')
    for number in numbers:
        all_grams.frombytes(packed[number])
        owners.extend([number] * (len(packed[number]) // 8))
    of_texts = pa.table(
        {'text': _column(owners, pa.int64()), 'gram': _column(all_grams, pa.uint64())}
    )
    connection.register('some_grams', of_texts)
    connection.execute('INSERT INTO grams FROM some_grams')


def _column(values: array[int], kind: pa.DataType) -> pa.Array:
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])
