"""Tests of different repositories that are nearly the same text.

Two tests are near duplicates if the sets of their token 5-grams have a Jaccard index of 0.8 or more.
Tokens are blind to comments, white space, the values of literals and the name of the test itself.
The join is exact: sets that similar share one of their rarest grams (prefix filtering, Chaudhuri,
Ganti and Kaushik, 2006), so only those are compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from datetime import datetime
from math import ceil

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

Key = tuple[str, Walk]
Grams = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Text:
    """Equal grams of one repository: the age of the first row, and all rows."""

    repo: str
    grams: Grams
    age: tuple[datetime, str, str]
    keys: tuple[Key, ...]


def near_duplicates(methods: Iterable[MethodRow]) -> Mapping[Key, str]:
    """By (method_id, walk): the earliest near duplicate in another repository, if it is earlier.

    Earlier is by contamination date, then by id. Of a deleted test the old text counts.
    """
    texts = _texts(methods)
    if len({text.repo for text in texts}) < 2:
        return {}
    earliest: dict[int, _Text] = {}
    for one, other in _similar(texts):
        later, earlier = sorted((one, other), key=lambda number: texts[number].age, reverse=True)
        known = earliest.get(later)
        if known is None or texts[earlier].age < known.age:
            earliest[later] = texts[earlier]
    return {key: found.age[1] for number, found in earliest.items() for key in texts[number].keys}


def grams(source: str, name: str) -> Grams:
    """The token 5-grams of a test method; of a shorter one, all of its tokens as one."""
    tokens = tuple(_tokens(source, name))
    count = max(len(tokens) - GRAM + 1, 1)
    return frozenset(tokens[start : start + GRAM] for start in range(count))


def _tokens(source: str, name: str) -> Iterator[str]:
    for found in _TOKEN.finditer(source):
        kind = found.lastgroup
        if kind in ('text', 'number'):
            yield kind
        elif kind != 'comment':
            yield 'name' if found[0] == name else found[0]


def _texts(methods: Iterable[MethodRow]) -> list[_Text]:
    rows: dict[tuple[str, Grams], list[MethodRow]] = defaultdict(list)
    for row in methods:
        source = row.new_source if row.new_source is not None else row.old_source
        if source is not None:
            rows[row.repo, grams(source, row.test_method)].append(row)
    return [
        _Text(repo, found, min(map(_age, same)), tuple((row.method_id, row.walk) for row in same))
        for (repo, found), same in rows.items()
    ]


def _age(row: MethodRow) -> tuple[datetime, str, str]:
    return row.contamination_date or _LATEST, row.method_id, str(row.walk)


def _similar(texts: Sequence[_Text]) -> Iterator[tuple[int, int]]:
    """Numbers of texts of different repositories that are similar enough, each pair once."""
    frequency = Counter(gram for text in texts for gram in text.grams)
    with_gram: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, text in sorted(enumerate(texts), key=lambda item: len(item[1].grams)):
        size = len(text.grams)
        rare = sorted(text.grams, key=lambda gram: (frequency[gram], gram))
        prefix = rare[: size - ceil(LEAST_INDEX * size) + 1]
        shorter = {other for gram in prefix for other in with_gram[gram]}
        for other in shorter:
            if texts[other].repo != text.repo and _index(texts[other].grams, text.grams):
                yield other, number
        for gram in prefix:
            with_gram[gram].append(number)


def _index(one: Grams, other: Grams) -> bool:
    """Whether the Jaccard index is high enough; `one` is not the larger set."""
    if len(one) < LEAST_INDEX * len(other):
        return False
    shared = len(one & other)
    return shared >= LEAST_INDEX * (len(one) + len(other) - shared)
