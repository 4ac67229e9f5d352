"""What the one-shot baseline asks, and what it takes from an answer."""

from __future__ import annotations

from coevo.agents.one_shot import MOST_SHOWN
from coevo.agents.one_shot import answered
from coevo.agents.one_shot import question

PROMPT = 'Mend ATest.\n- modified `int a()` in `src/A.java`\n- inserted `int b()` in `src/A.java`\n'


def test_the_test_file_comes_first_and_each_file_once() -> None:
    files = {'src/A.java': 'class A {}', 'test/ATest.java': 'class ATest {}'}
    asked = question(PROMPT, 'test/ATest.java', files.get)
    assert asked.startswith(PROMPT)
    assert asked.count('class A {}') == 1
    assert asked.index('test/ATest.java:\n```\nclass ATest {}\n```') < asked.index('src/A.java:\n')
    assert 'int a():' not in asked


def test_what_is_too_much_is_left_out_and_said() -> None:
    files = {'src/A.java': 'a' * MOST_SHOWN, 'test/ATest.java': 'b' * 10}
    asked = question(PROMPT, 'test/ATest.java', files.get)
    assert 'a' * (MOST_SHOWN - 10) + '\n```\n(10 characters are left out)' in asked
    assert 'a' * (MOST_SHOWN - 9) not in asked


def test_an_answer_is_its_longest_block() -> None:
    assert answered('so:\n```java\nclass A {}\n```\nor\n```\nlonger than that\n```\n') == (
        'longer than that\n'
    )
    assert answered('```\nnever closed') is None
    assert answered('`A`') is None
