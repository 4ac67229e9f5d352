"""Which words and numbers of a test other literals take the place of."""

from __future__ import annotations

import pytest

from coevo.evaluation.implement.variants import (
    draw_in_turns,
    group_words_in_literals,
    replace_pieces,
)
from coevo.languages.table import get_reading


def replace(language: str, source: str, wanted: str) -> str:
    rules, text = get_reading(language).LEXIS, source.encode()
    groups = group_words_in_literals(rules, text, 0, len(text))
    return replace_pieces(text, groups[wanted.encode()]).decode()


@pytest.mark.parametrize(
    ('language', 'source', 'wanted', 'after'),
    [
        ('python', "plural('box') == 'Boxes'  # box", 'box', "plural('cox') == 'Coxes'  # box"),
        ('python', "slug('Two Words') == 'two-words'", 'words', "slug('Two Xords') == 'two-xords'"),
        ('python', "micro('.123456789') == 123456", '123456', "micro('.223456789') == 223456"),
        ('python', 'first(2) + x2 == 2.5 or 12', '2', 'first(3) + x2 == 3.5 or 12'),
        ('python', "pick('a', 'ab') == 'A' + 'a b'", 'a', "pick('b', 'ab') == 'B' + 'a b'"),
        ('go', 'got := Pick(`ab`, "cab")', 'ab', 'got := Pick(`bb`, "cab")'),
        ('java', 'of("zoo\\nzoo"); // "zoo"', 'zoo', 'of("yoo\\nyoo"); // "zoo"'),
        ('go', 'got := Sum(9, 10) // 9', '9', 'got := Sum(8, 10) // 9'),
    ],
)
def test_a_word_or_number_is_replaced_in_all_literals(
    language: str, source: str, wanted: str, after: str
) -> None:
    assert replace(language, source, wanted) == after


def test_names_escapes_and_comments_are_no_literals() -> None:
    source = b"total = count3('\\nab')  # seven 7"
    assert dict(group_words_in_literals(get_reading('python').LEXIS, source, 0, len(source))) == {}


def test_each_literal_has_its_turn_before_a_long_one_has_a_second() -> None:
    source = b"'The power is not computed above it.' ; wait(50, 'first') == 40"
    groups = group_words_in_literals(get_reading('python').LEXIS, source, 0, len(source))
    drawn = draw_in_turns(groups, lambda text: ('z' if text.isdigit() else 'a') + text.decode())
    assert drawn[:4] == [b'above', b'first', b'40', b'50']
    assert sorted(drawn) == sorted(groups)
