"""What the one-shot baseline asks, and what it takes from an answer."""

from __future__ import annotations

import urllib.request

import pytest

from coevo.agents import one_shot
from coevo.agents.one_shot import (
    MOST_SHOWN,
    compose_question_with_named_files,
    extract_explanation,
    extract_longest_code_block,
    extract_longest_code_or_text,
    parse_retry_after_seconds,
)
from tests.raw_server import Said, saying

PROMPT = 'Mend ATest.\n- modified `int a()` in `src/A.java`\n- inserted `int b()` in `src/A.java`\n'


def test_question_shows_the_test_file_first_and_each_file_once() -> None:
    files = {'src/A.java': 'class A {}', 'test/ATest.java': 'class ATest {}'}
    asked = compose_question_with_named_files(PROMPT, 'test/ATest.java', files.get)
    assert asked.startswith(PROMPT)
    assert asked.count('class A {}') == 1
    assert asked.index('test/ATest.java:\n```\nclass ATest {}\n```') < asked.index('src/A.java:\n')
    assert 'int a():' not in asked


def test_question_cuts_text_beyond_the_limit_and_reports_the_cut() -> None:
    files = {'src/A.java': 'a' * MOST_SHOWN, 'test/ATest.java': 'b' * 10}
    asked = compose_question_with_named_files(PROMPT, 'test/ATest.java', files.get)
    assert 'a' * (MOST_SHOWN - 10) + '\n```\n(10 characters are left out)' in asked
    assert 'a' * (MOST_SHOWN - 9) not in asked


def test_longest_closed_code_block_of_an_answer_is_extracted() -> None:
    assert extract_longest_code_block(
        'so:\n```java\nclass A {}\n```\nor\n```\nlonger than that\n```\n'
    ) == ('longer than that\n')
    assert extract_longest_code_block('```\nnever closed') is None
    assert extract_longest_code_block('`A`') is None


@pytest.mark.parametrize(
    ('answer', 'code'),
    [
        ('````python\nD = """\n```\n"""\n````\n', 'D = """\n```\n"""\n'),
        ('~~~python\na = 1\n```\n~~~~\n', 'a = 1\n```\n'),
        ('1. so:\n   ```python\n   a = 1\n     b\n\n   ```\n', 'a = 1\n  b\n\n'),
        ('10. so:\n\n    ```\n    a = 1\n    ```', 'a = 1\n'),
        ('so:\r\n```python\r\na = 1\r\n```\r\n', 'a = 1\n'),
        ('```\na = 1\n``` python\nb = 2\n`````  \n', 'a = 1\n``` python\nb = 2\n'),
        ('```\n```\n', ''),
        ('``` `a`\nb\n```\nc', None),
        ('~~~\na\n```', None),
        ('````\na\n```', None),
        # A tab is up to four columns: a text block of Java, which is indented by two.
        ('```java\nS = """\n\t\t```\n\t""";\n```', 'S = """\n\t\t```\n\t""";\n'),
        ('\t```\n\ta = 1\n    ```', 'a = 1\n'),
    ],
)
def test_fences_of_an_answer_are_read_as_commonmark_has_them(answer: str, code: str | None) -> None:
    assert extract_longest_code_block(answer) == code


def test_an_answer_without_a_fence_is_code_only_where_a_prompt_may_ask_for_that() -> None:
    assert extract_longest_code_or_text('a = 1') == 'a = 1\n'
    assert extract_longest_code_or_text('so:\n~~~\na = 1\n~~~') == 'a = 1\n'
    assert extract_longest_code_or_text('```\nnever closed') is None
    assert extract_longest_code_or_text(' \n') is None


def test_a_line_of_tildes_that_closes_no_block_hides_no_code() -> None:
    """It underlines a heading of reStructuredText."""
    heading = 'Title\n~~~~~\n'
    assert (
        extract_longest_code_or_text(f'"""\n{heading}"""\na = 1') == f'"""\n{heading}"""\na = 1\n'
    )
    assert extract_longest_code_block(f'{heading}so:\n```\na = 1\n```\n') == 'a = 1\n'
    assert extract_longest_code_block('~~~ a\n' * 20_000) is None


def test_shown_file_with_a_fence_stands_in_a_longer_one() -> None:
    asked = compose_question_with_named_files(PROMPT, 'a.py', {'a.py': 'D = """\n```\n"""'}.get)
    assert 'a.py:\n````\nD = """\n```\n"""\n````' in asked


@pytest.mark.parametrize(
    ('value', 'seconds'),
    [
        (None, None),
        ('7', 7),
        ('Thu, 01 Jan 1970 00:01:40 GMT', 40),
        ('Thu, 01 Jan 1970 00:00:00 GMT', 0),
        ('soon', None),
        ('-1', None),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after_seconds(value, 60.0) == seconds


@pytest.mark.parametrize(
    ('body', 'said'),
    [
        (b'{"error": {"message": "too\\nlong"}}', 'too long'),
        (b'{"message": "no"}', 'no'),
        (b'{"error": "no"}', 'no'),
        (b'[1]', '[1]'),
        (b'<html>' + b'x' * 9000, '<html>' + 'x' * 394),
        (b'', 'no reason is given'),
    ],
)
def test_reason_of_an_endpoint_is_one_short_line(body: bytes, said: str) -> None:
    assert extract_explanation(body) == said


def test_error_whose_body_breaks_off_is_named_by_its_status() -> None:
    head = b'HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n'
    with saying(Said(first=head + b'ff\r\nit is')) as url:
        call = urllib.request.Request(url, data=b'{}')
        with pytest.raises(one_shot._NoAnswer, match='HTTP 400: no reason is given'):
            one_shot._send_patiently(call)
