"""Prints: no text that holds a body is passed by, and few that do not are parsed."""

from __future__ import annotations

import pytest

from coevo.languages.declarations import Member
from coevo.languages.prints import BodyPrint, make_body_prints_by_hash, split_words
from coevo.languages.table import get_reading

PYTHON = 'def test_sum(self):\n    """Doc."""\n    assert total("a b", f"{x}", 10) == {"k": 0x1F}\n'
GO = 'package a\n\nfunc TestSum(t *testing.T) {\n\tif total("a", 10) {\n\t\tt.Fatal("b")\n\t}\n}\n'
JAVA = 'class ATest {\n  @Test void sums() {\n    assertEquals(4, Sum.of("a", 2));\n  }\n}\n'


def member(language: str, text: str) -> Member:
    file = get_reading(language).parse(text.encode())
    return next(m for type_ in file.types for m in type_.members if m.kind == 'method')


def may_hold(language: str, body: BodyPrint, text: str) -> bool:
    """All questions that are asked before the parser."""
    source, lexis = text.encode(), get_reading(language).LEXIS
    words = {word for line in source.split(b'\n') for word in split_words(line)}
    return (
        body.words <= words
        and lexis.may_match_all_beginnings(source, lexis.compile_segment_beginnings(body))
        and body.may_be_in(lexis.lex_text(source), words)
    )


EQUAL = [
    ('python', PYTHON, PYTHON.replace('test_sum', 'test_other')),
    ('python', PYTHON, PYTHON.replace('    """Doc."""\n', '    # so\n')),
    ('python', PYTHON, PYTHON.replace('(self):', '(self) -> None:')),
    ('python', PYTHON, PYTHON.replace('"a b"', "'a '\n      'b'")),
    ('python', PYTHON, PYTHON.replace('"a b"', 'u"a b"')),
    ('python', PYTHON, PYTHON.replace('10)', '1_0,)')),
    ('python', PYTHON, PYTHON.replace('assert total', 'assert (total').replace('1F}', '1f})')),
    ('python', PYTHON.replace('(self):', '(self) -> None:'), PYTHON),
    ('go', GO, GO.replace('TestSum', 'TestOther')),
    ('go', GO, GO.replace('if total("a", 10)', 'if (total("a",\n10,\n))')),
    ('go', GO, GO.replace('{\n\tif', '{ // so "\n/* it\'s */ if')),
    ('java', JAVA, JAVA.replace('ATest', 'BTest').replace('sums', 'adds')),
    ('java', JAVA, JAVA.replace('(4,', '(/* " */ 4, // it\'s\n')),
]


@pytest.mark.parametrize(('language', 'text', 'other'), EQUAL)
def test_a_text_with_an_equal_body_is_always_passed_to_the_parser(
    language: str, text: str, other: str
) -> None:
    wanted, found = member(language, text), member(language, other)
    assert wanted.bare_hash == found.bare_hash, 'they are equal'
    for _, body in make_body_prints_by_hash(get_reading(language).LEXIS, wanted):
        assert may_hold(language, body, other)


OTHERS = [
    ('python', PYTHON, PYTHON.replace('total', 'count')),
    ('python', PYTHON, PYTHON.replace('a b', 'a c').replace('f"{x}"', 'x')),
    ('python', PYTHON, PYTHON.replace('assert total', 'assert not total')),
    ('python', PYTHON, '# ' + PYTHON.replace('\n', '\n# ')),
    ('go', GO, GO.replace('Fatal', 'Log')),
    ('go', GO, GO.replace('10', '11')),
    ('java', JAVA, JAVA.replace('assertEquals(4, Sum.of', 'Sum.of(4, assertEquals')),
]


@pytest.mark.parametrize(('language', 'text', 'other'), OTHERS)
def test_a_text_without_the_body_is_rejected_before_parsing(
    language: str, text: str, other: str
) -> None:
    *_, (_, block) = make_body_prints_by_hash(get_reading(language).LEXIS, member(language, text))
    assert not may_hold(language, block, other)


@pytest.mark.parametrize(('language', 'text'), [('python', PYTHON), ('go', GO), ('java', JAVA)])
@pytest.mark.parametrize('end', ['"', "'", '/*', '"""', '`'])
def test_a_text_with_an_open_string_or_comment_is_passed_to_the_parser(
    language: str, text: str, end: str
) -> None:
    for _, body in make_body_prints_by_hash(get_reading(language).LEXIS, member(language, text)):
        assert may_hold(language, body, f'{text}\n{end}')


@pytest.mark.sampled(6)
@pytest.mark.parametrize('language', ['python', 'go', 'java'])
@pytest.mark.parametrize('piece', ['/*', '"', "'", '"""', '\\"', '`', 'f"{', '(', "/**/'"])
def test_hostile_texts_are_lexed_in_linear_time(language: str, piece: str) -> None:
    text = piece.encode() * 200_000
    lexis = get_reading(language).LEXIS
    _, (_, block) = make_body_prints_by_hash(
        lexis, member(language, {'python': PYTHON, 'go': GO}.get(language, JAVA))
    )
    for each in (text, b'{' + text, b':' + text, (b'{:' + piece.encode() + b' ') * 100_000):
        assert lexis.lex_text(each).tokens
        assert lexis.may_match_all_beginnings(each, lexis.compile_segment_beginnings(block)) in (
            True,
            False,
        )
