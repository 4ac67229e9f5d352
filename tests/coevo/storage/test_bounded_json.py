"""JSON of strangers costs no more memory than is allowed."""

from __future__ import annotations

import tracemalloc

import pytest

from coevo.storage.bounded_reading import ContentTooLarge, UnreadableContent, parse_json

MIB = 1 << 20
LARGE = {
    'empty lists': b'[' + b'[],' * MIB + b'0]',
    'empty objects': b'[' + b'{},' * MIB + b'0]',
    'objects of one name': b'[' + b'{"a":0},' * (MIB // 2) + b'0]',
    'numbers': b'[' + b'9,' * MIB + b'0]',
    'empty texts': b'[' + b'"",' * MIB + b'0]',
    'a text that hides its end': b'["\\\\",' + b'[],' * MIB + b'0]',
}


@pytest.mark.parametrize('name', LARGE)
def test_json_values_are_counted_before_they_are_built(name: str) -> None:
    tracemalloc.start()
    with pytest.raises(ContentTooLarge, match='more than 100000 values'):
        parse_json(LARGE[name], most_values=100_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MIB


@pytest.mark.parametrize(
    'text',
    [
        *('', '{', '[1,]', '"open', '"' + '\\"' * 100_000, '[' * 900_000, '{"a":' * 300_000),
        *('1' * 5000, '[' + '1' * 5000 + ']', 'nul', '\ufeff[]', "{'a': 1}"),
    ],
)
def test_text_that_is_no_json_is_reported(text: str) -> None:
    with pytest.raises(UnreadableContent, match='no JSON'):
        parse_json(text.encode(), most_values=1_000_000)


def test_json_in_another_encoding_than_utf_8_is_refused() -> None:
    """In UTF-16 a byte of a letter looks like a quotation mark, behind which nothing would be counted."""
    with pytest.raises(UnreadableContent, match='no JSON'):
        parse_json('{"a": ["\u2222"]}'.encode('utf-16'), most_values=100)


def test_json_marks_inside_a_string_do_not_count_as_values() -> None:
    code = 'call(a, b, c[0], {d}) == "\\\\", ' * 1000
    content = ('["' + code.replace('"', '\\"') + '"]').encode()
    assert parse_json(content, most_values=3) == [code.replace('\\\\', '\\')]
