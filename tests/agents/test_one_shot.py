"""What the one-shot baseline asks, and what it takes from an answer."""

from __future__ import annotations

from coevo.agents.one_shot import MOST_SHOWN, compose_question, extract_code_block

PROMPT = 'Mend ATest.\n- modified `int a()` in `src/A.java`\n- inserted `int b()` in `src/A.java`\n'


def test_question_shows_the_test_file_first_and_each_file_once() -> None:
    files = {'src/A.java': 'class A {}', 'test/ATest.java': 'class ATest {}'}
    asked = compose_question(PROMPT, 'test/ATest.java', files.get)
    assert asked.startswith(PROMPT)
    assert asked.count('class A {}') == 1
    assert asked.index('test/ATest.java:\n```\nclass ATest {}\n```') < asked.index('src/A.java:\n')
    assert 'int a():' not in asked


def test_question_cuts_text_beyond_the_limit_and_reports_the_cut() -> None:
    files = {'src/A.java': 'a' * MOST_SHOWN, 'test/ATest.java': 'b' * 10}
    asked = compose_question(PROMPT, 'test/ATest.java', files.get)
    assert 'a' * (MOST_SHOWN - 10) + '\n```\n(10 characters are left out)' in asked
    assert 'a' * (MOST_SHOWN - 9) not in asked


def test_longest_closed_code_block_of_an_answer_is_extracted() -> None:
    assert extract_code_block(
        'so:\n```java\nclass A {}\n```\nor\n```\nlonger than that\n```\n'
    ) == ('longer than that\n')
    assert extract_code_block('```\nnever closed') is None
    assert extract_code_block('`A`') is None
