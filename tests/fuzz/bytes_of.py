"""Bytes broken at random: the same seed gives the same ones on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

_LINE = b'\n'


def broken(random: Random, data: bytes, words: Sequence[bytes], most: int = 6) -> bytes:
    """Some bytes with one to `most` changes: bits, words, lines, cuts."""
    for _ in range(random.randint(1, most)):
        data = random.choice(_CHANGES)(random, data, words)
    return data


def _flip(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    if not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]


def _insert(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + random.choice(words) + data[at:]


def _replace_word(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    parts = data.split(b' ')
    parts[random.randrange(len(parts))] = random.choice(words)
    return b' '.join(parts)


def _drop_line(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    lines = data.split(_LINE)
    del lines[random.randrange(len(lines))]
    return _LINE.join(lines)


def _double_line(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    lines = data.split(_LINE)
    at = random.randrange(len(lines))
    return _LINE.join([*lines[:at], *[lines[at]] * random.randint(2, 4), *lines[at + 1 :]])


def _swap_lines(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    lines = data.split(_LINE)
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return _LINE.join(lines)


def _put_line(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    lines = data.split(_LINE)
    lines.insert(random.randint(0, len(lines)), random.choice(words))
    return _LINE.join(lines)


def _cut(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    return data[: random.randint(0, len(data))]


def _returns(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    return data.replace(_LINE, random.choice((b'\r\n', b'\r', b'\n\n')))


def _digits(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    """Some number of it as another one."""
    places = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
    if not places:
        return data
    at = random.choice(places)
    other = random.choice((b'0', b'-1', b'9' * random.randint(1, 40), '٣'.encode(), '²'.encode()))
    return data[:at] + other + data[at + 1 :]


_CHANGES = (
    *(_flip, _insert, _replace_word, _drop_line, _double_line),
    *(_swap_lines, _put_line, _cut, _returns, _digits),
)
