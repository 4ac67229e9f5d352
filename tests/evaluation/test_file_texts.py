"""The tests of a file as text, in both languages: what is a test, what is beside it, and what is no change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from coevo.evaluation.suites.texts import FileText, read_file_text
from coevo.git.repository import Repository
from tests.repos import commit, init

JAVA = """\
package shop;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TillTest {
    @Test void sells() { check(1); }

    @ParameterizedTest @ValueSource(ints = {1, 2}) void counts(int each) { check(each); }

    private void check(int price) { assert price > 0; }

    @org.junit.jupiter.api.Nested class Closed {
        @Test void sells() { check(2); }
    }
}

class OtherTest {
    @Test void sells() { }
}
"""
PYTHON = """\
import pytest


def check(price):
    assert price > 0


def test_sells():
    check(1)


@pytest.mark.parametrize('each', [1, 2])
def test_counts(each):
    check(each)


class TestClosed:
    def test_sells(self):
        check(2)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    language: str
    path: str
    text: str
    tests: tuple[str, ...]
    helper: tuple[str, str]
    data: tuple[str, str]
    laid_out: tuple[str, str]


CASES = {
    'java': Case(
        language='java',
        path='src/test/java/shop/TillTest.java',
        text=JAVA,
        tests=('TillTest#sells', 'TillTest#counts', 'TillTest$Closed#sells', 'OtherTest#sells'),
        helper=('assert price > 0;', ''),
        data=('{1, 2}', '{1}'),
        laid_out=('{ check(1); }', '{\n        // dear\n        check( 1 );\n    }'),
    ),
    'python': Case(
        language='python',
        path='tests/test_till.py',
        text=PYTHON,
        tests=('test_till#test_sells', 'test_till#test_counts', 'test_till$TestClosed#test_sells'),
        helper=('assert price > 0', 'pass'),
        data=('[1, 2]', '[1]'),
        laid_out=('    check(1)', '    # dear\n    check( 1 )'),
    ),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture
def repository(case: Case, tmp_path: Path) -> Repository:
    init(tmp_path)
    files: dict[str, str | bytes | None] = {case.path: case.text, 'pom.xml': '<project/>'}
    commit(tmp_path, 'all', files, date='2024-01-01T00:00:00Z')
    return Repository(tmp_path / '.git')


def read(case: Case, repository: Repository, change: tuple[str, str] = ('', '')) -> FileText:
    text = case.text.replace(*change, 1).encode()
    rev = repository.run_command('rev-parse', 'HEAD').decode().strip()
    return read_file_text(repository, case.language, rev, '.', case.path, text)


def test_tests_of_a_file_text_are_named_as_in_results(case: Case, repository: Repository) -> None:
    found = read(case, repository)
    assert {name.partition('(')[0] for name in found.tests} == set(case.tests)
    assert not found.has_error


def test_comments_and_formatting_change_no_hash(case: Case, repository: Repository) -> None:
    before, after = read(case, repository), read(case, repository, case.laid_out)
    assert [one.hash for one in before.tests.values()] == [one.hash for one in after.tests.values()]
    assert before.rest == after.rest


def test_data_of_a_parametrised_test_are_part_of_its_hash(
    case: Case, repository: Repository
) -> None:
    before, after = read(case, repository), read(case, repository, case.data)
    changed = [name for name in before.tests if before.tests[name].hash != after.tests[name].hash]
    assert [name.partition('(')[0] for name in changed] == [case.tests[1]]
    assert before.rest == after.rest


def test_changed_helper_changes_only_the_rest_of_the_file(
    case: Case, repository: Repository
) -> None:
    before, after = read(case, repository), read(case, repository, case.helper)
    assert [one.hash for one in before.tests.values()] == [one.hash for one in after.tests.values()]
    assert before.rest != after.rest
