"""Files that nobody writes by hand: read within CPU seconds, on any machine, by every language."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest

from coevo.evaluation.judging.application import is_readable
from coevo.languages.spans import MOST_OPEN
from coevo.languages.table import detect_file_language, get_reading, get_surgery

GO = 'package a\nimport "testing"\n'
JAVA_PATH, PYTHON_PATH, GO_PATH = 'src/test/java/p/ATest.java', 'tests/test_a.py', 'a_test.go'
MOST_GROWTH = 9  # four times the text takes four times as long, sixteen if it takes the square


def _java_tests(count: int) -> str:
    return 'class T {' + ''.join(f'@Test void t{n}() {{}}\n' for n in range(count)) + '}\n'


def _python_tests(count: int) -> str:
    return ''.join(f'def test_{n}(): pass\n' for n in range(count))


def _go_tests(count: int) -> str:
    return GO + ''.join(f'func Test{n}(t *testing.T) {{}}\n' for n in range(count))


def _java_heirs(count: int) -> str:
    return ''.join(
        f'class O{n} {{ class A extends A {{ void testA() {{}} }} }}\n' for n in range(count)
    )


def _java_marks(count: int) -> str:
    return ''.join(
        f'class O{n} {{ @A @interface A {{}} @A void a() {{}} }}\n' for n in range(count)
    )


def _python_heirs(count: int) -> str:
    one = 'class O{}:\n  class TestA(TestA):\n    def test_a(self): pass\n'
    return ''.join(one.format(n) for n in range(count))


def _java_comments(count: int) -> str:
    return 'class T {' + ''.join(f'/**/int a{n};' for n in range(count)) + '}'


def _python_chain(count: int) -> str:
    return (
        ''.join(f'class A{n + 1}(A{n}): pass\n' for n in reversed(range(count)))
        + 'class A0(TestCase): pass\n'
    )


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ('path', 'written'),
    [
        (JAVA_PATH, _java_tests),
        (PYTHON_PATH, _python_tests),
        (GO_PATH, _go_tests),
        (JAVA_PATH, _java_heirs),
        (JAVA_PATH, _java_marks),
        (PYTHON_PATH, _python_heirs),
        (JAVA_PATH, _java_comments),
        (PYTHON_PATH, _python_chain),
    ],
)
def test_reading_time_does_not_grow_quadratically_with_the_text(
    path: str, written: Callable[[int], str]
) -> None:
    _seconds(path, written(10))
    few, many = _seconds(path, written(500)), _seconds(path, written(2000))
    assert many < max(few, 0.05) * MOST_GROWTH


def _seconds(path: str, text: str) -> float:
    """CPU seconds of what the guard does, without those of collecting what other tests have left."""
    gc.collect()
    gc.disable()
    try:
        begun = time.process_time()
        get_surgery(detect_file_language(path)).list_other_tests(text.encode(), [])
        return time.process_time() - begun
    finally:
        gc.enable()


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ('path', 'text'),
    [
        (JAVA_PATH, _java_tests(6_000)),
        (PYTHON_PATH, _python_tests(6_000)),
        (GO_PATH, _go_tests(6_000)),
    ],
)
def test_a_file_of_six_thousand_tests_is_read_below_the_cpu_limit(path: str, text: str) -> None:
    assert is_readable(path, text.encode(), cpu_seconds=6)


@pytest.mark.sampled(1)
@pytest.mark.parametrize('path', [JAVA_PATH, PYTHON_PATH, GO_PATH])
@pytest.mark.parametrize('form', ['{o}1{c}', '{o}', '{o}f({c}'])
def test_text_with_too_deeply_nested_brackets_is_unreadable(path: str, form: str) -> None:
    heads = {
        JAVA_PATH: 'class A {{ Object a = {}; }}',
        PYTHON_PATH: 'a = f{}\n',
        GO_PATH: GO + 'var a = {}\n',
    }
    deep = form.format(o='f(' * 10_000, c=')' * 10_000)
    text = heads[path].format(deep).encode()
    assert get_reading(detect_file_language(path)).parse(text).unreadable
    assert not is_readable(path, text)


@pytest.mark.parametrize('path', [JAVA_PATH, GO_PATH])
def test_brackets_in_comments_and_strings_do_not_count_as_nesting(path: str) -> None:
    head = {
        JAVA_PATH: 'class A { String a = "%s"; /* %s */ }',
        GO_PATH: GO + 'var a = "%s" /* %s */\n',
    }
    text = head[path] % ('(' * 2 * MOST_OPEN, '{' * 2 * MOST_OPEN)
    assert not get_reading(detect_file_language(path)).parse(text.encode()).unreadable


def test_a_default_value_that_is_a_long_sum_does_not_overflow_the_stack() -> None:
    text = 'def test_a(a=' + '+'.join(['1'] * 20_000) + '): pass\n'
    assert len(get_surgery('python').list_other_tests(text.encode(), [])) == 1


def test_a_chain_of_five_thousand_assignments_is_unreadable() -> None:
    text = '='.join(f'a{n}' for n in range(5_000)) + '=1\n'
    assert get_reading('python').parse(text.encode()).unreadable
