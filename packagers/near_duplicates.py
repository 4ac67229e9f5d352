"""Tests of different repositories that are nearly the same text.

Two tests are near duplicates if the sets of their token 5-grams have a Jaccard index of 0.8 or more.
Tokens are blind to comments, white space, the values of literals and the name of the test itself.
The join is exact: sets that similar share one of their rarest grams (prefix filtering, Chaudhuri,
Ganti and Kaushik, 2006), so only those are compared. DuckDB does it, on disk where memory is short.
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
from dataclasses import dataclass
from datetime import UTC
from datetime import datetime

import duckdb
import pyarrow as pa

from coevo.records import Walk
from coevo.tables import MethodRow

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
    FROM prefixes a JOIN prefixes b ON a.gram = b.gram AND a.text < b.text
    JOIN texts s ON s.text = a.text JOIN texts t ON t.text = b.text
    WHERE s.repo <> t.repo""",
    """CREATE TABLE ours AS SELECT one, other, gram FROM candidates JOIN grams ON text = one""",
    """CREATE TABLE compared AS SELECT one, other, count(*) AS common
    FROM ours JOIN grams ON text = other AND grams.gram = ours.gram GROUP BY ALL""",
    """SELECT one, other FROM compared JOIN sizes s ON s.text = one JOIN sizes t ON t.text = other
    WHERE common * 5 >= 4 * (s.size + t.size - common) ORDER BY one, other""",
)

Key = tuple[str, Walk]
Grams = frozenset[int]


@dataclass(frozen=True, slots=True)
class _Text:
    """Equal grams of one repository: the age of the first row, and all rows."""

    repo: str
    age: tuple[datetime, str, str]
    keys: tuple[Key, ...]


def near_duplicates(methods: Iterable[MethodRow]) -> Mapping[Key, str]:
    """By (method_id, walk): the earliest near duplicate in another repository, if it is earlier.

    Earlier is by contamination date, then by id. Of a deleted test the old text counts.
    """
    texts = _texts(methods)
    if len({repo for repo, _ in texts}) < 2:
        return {}
    found = [
        _Text(repo, min(map(_age, same)), tuple((row.method_id, row.walk) for row in same))
        for (repo, _), same in texts.items()
    ]
    earliest: dict[int, _Text] = {}
    for pair in _similar([repo for repo, _ in texts], [grams for _, grams in texts]):
        earlier, later = sorted(pair, key=lambda number: found[number].age)
        known = earliest.get(later)
        if known is None or found[earlier].age < known.age:
            earliest[later] = found[earlier]
    return {key: first.age[1] for number, first in earliest.items() for key in found[number].keys}


def grams(source: str, name: str) -> Grams:
    """The token 5-grams of a test method, as numbers; of a shorter one, all of its tokens as one."""
    tokens = list(_tokens(source, name))
    count = max(len(tokens) - GRAM + 1, 1)
    return frozenset(_number(tokens[start : start + GRAM]) for start in range(count))


def _number(tokens: Sequence[str]) -> int:
    return int.from_bytes(hashlib.blake2b('\0'.join(tokens).encode(), digest_size=8).digest())


def _tokens(source: str, name: str) -> Iterator[str]:
    for found in _TOKEN.finditer(source):
        kind = found.lastgroup
        if kind in ('text', 'number'):
            yield kind
        elif kind != 'comment':
            yield 'name' if found[0] == name else found[0]


def _texts(methods: Iterable[MethodRow]) -> dict[tuple[str, bytes], list[MethodRow]]:
    """The rows by repository and grams, these packed, since there are many."""
    rows: dict[tuple[str, bytes], list[MethodRow]] = defaultdict(list)
    for row in methods:
        source = row.new_source if row.new_source is not None else row.old_source
        if source is not None:
            packed = array('Q', sorted(grams(source, row.test_method))).tobytes()
            rows[row.repo, packed].append(row)
    return rows


def _age(row: MethodRow) -> tuple[datetime, str, str]:
    return row.contamination_date or _LATEST, row.method_id, str(row.walk)


def _similar(repos: Sequence[str], packed: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Numbers of texts of different repositories that are similar enough, each pair once."""
    with tempfile.TemporaryDirectory() as spill, duckdb.connect() as connection:
        connection.execute(f"SET temp_directory = '{spill}'; SET memory_limit = '4GB'")
        connection.execute('CREATE TABLE texts (text BIGINT, repo VARCHAR)')
        connection.execute('CREATE TABLE grams (text BIGINT, gram UBIGINT)')
        for start in range(0, len(repos), _BATCH):
            _insert(connection, start, repos[start : start + _BATCH], packed)
        for step in _STEPS:
            connection.execute(step)
        yield from connection.fetchall()


def _insert(
    connection: duckdb.DuckDBPyConnection, start: int, repos: Sequence[str], packed: Sequence[bytes]
) -> None:
    numbers = range(start, start + len(repos))
    texts = pa.table({'text': pa.array(numbers, pa.int64()), 'repo': pa.array(repos, pa.string())})
    owners, all_grams = array('q'), array('Q')
    for number in numbers:
        all_grams.frombytes(packed[number])
        owners.extend([number] * (len(packed[number]) // 8))
    of_texts = pa.table(
        {'text': _column(owners, pa.int64()), 'gram': _column(all_grams, pa.uint64())}
    )
    connection.register('some_texts', texts)
    connection.register('some_grams', of_texts)
    connection.execute('INSERT INTO texts FROM some_texts; INSERT INTO grams FROM some_grams')


def _column(values: array[int], kind: pa.DataType) -> pa.Array:
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])
