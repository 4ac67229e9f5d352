"""Odd values for columns of tables, by Arrow's types."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any

import pyarrow as pa

from tests.fuzz.bytes_of import broken

WORDS = (
    *('', ' ', 'x', '.', '..', '../../canary', '/etc/passwd', 'a/../b', 'a//b', '.git/config'),
    *('--upload-pack=touch x', '-', "'; DROP TABLE methods; --", '"', '\\', "''", '*', '[a]', '?'),
    *('\x1b[2J', '\u202e', '\u2028', '\0', 'a\nb', 'a\r\nb', '\t', '\ufeff', '\udc80', '\\udc80'),
    *('é', 'ß', '漢字', '🎉', '²', '٣', 'İ', 'a' * 70_000, 'NULL', 'null', 'nan', '[]', '{}'),
    *('ext::sh -c x', 'file:///etc', 'http://127.0.0.1:1/x.git', 's3://b/x', 'C:\\x', '~'),
    *('0' * 16, 'f' * 40, 'ada/till', 'src/test/java/A.java', '2024-13', '0000-01', '2024-01'),
    *('pass', 'fail', 'compile_error', 'update', 'parents', 'states', 'none', '17', '0', '-1'),
    *('@@ -1 +1 @@', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n', 'class A {', '{' * 3000),
)
_WHOLE = (*(0, 1, 2, -1, 7, 100), *(2**31 - 1, 2**31, 2**63 - 1, -(2**63), 10_000_000))
_REAL = (0.0, -0.0, 1.0, 0.5, -1.0, 1e308, 5e-324, float('nan'), float('inf'), float('-inf'))
_TIMES = (
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(2014, 6, 30, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(2262, 4, 12, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
)
_BYTES = tuple(word.encode('utf-8', 'surrogatepass') for word in WORDS)


def odd(random: Random, kind: pa.DataType, value: Any, others: Sequence[Any]) -> Any:
    """Another value of a type in the place of one; `others` stand in the same column."""
    if random.random() < 0.12:
        return None
    if others and random.random() < 0.2:
        return random.choice(others)
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_list(kind):
        return _list(random, kind.value_type, value)
    if pa.types.is_struct(kind):
        return _struct(random, kind, value)
    if pa.types.is_timestamp(kind):
        return random.choice(_TIMES)
    if pa.types.is_boolean(kind):
        return not value
    if pa.types.is_floating(kind):
        return random.choice(_REAL)
    if pa.types.is_integer(kind):
        return random.choice(_WHOLE)
    return _text(random, value)


def _text(random: Random, value: str | None) -> str:
    changes = (
        lambda text: random.choice(WORDS),
        lambda text: text + random.choice(WORDS),
        lambda text: random.choice(WORDS) + text,
        lambda text: text.upper(),
        lambda text: text[: random.randint(0, len(text))],
        lambda text: text.replace(random.choice(text or 'a'), random.choice('0a/$.-')),
        lambda text: broken(random, text.encode(), _BYTES, 2).decode('utf-8', 'replace'),
        lambda text: f'{random.getrandbits(64):016x}' if len(text) == 16 else text * 2,
    )
    made = random.choice(changes)(value or '')
    return made.encode('utf-8', 'replace').decode()


def _list(random: Random, kind: pa.DataType, value: list[Any] | None) -> list[Any]:
    found = list(value or ())
    change = random.randrange(6)
    if change == 0 or not found:
        return [odd(random, kind, None, ()) for _ in range(random.randint(0, 2))]
    if change == 1:
        return found * random.randint(2, 50)
    if change == 2:
        return found[::-1]
    if change == 3:
        return [None, *found]
    at = random.randrange(len(found))
    found[at] = odd(random, kind, found[at], ())
    return found


def _struct(random: Random, kind: pa.DataType, value: dict[str, Any] | None) -> dict[str, Any]:
    fields = list(kind)
    made: dict[str, Any] = dict.fromkeys((field.name for field in fields), None) | (value or {})
    field = random.choice(fields)
    made[field.name] = odd(random, field.type, made[field.name], ())
    return made
