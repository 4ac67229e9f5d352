"""Labels of tests whose text does not change while what surrounds them does, and what the project says."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from coevo.model.words import Label, MethodChange, Outcome
from tests.projects import Mined, mined, write

PROJECT = """\
[project]
name = "shelf"
version = "1.0"
requires-python = ">=3.11,<3.12"

[project.optional-dependencies]
test = ["pytest>=7"]
"""
CODE = """\
def put(things):
    return list(things)


def count(things):
    return len(things)
"""
NEW_CODE = CODE.replace('put(things)', 'put(things, lid)').replace('list(things)', '[*things, lid]')
# What the files that pytest loads are called is known only when they run.
CONFTEST = """\
name = 'shelves'
pytest_plugins = [f'tests.{name}']
"""
FIXTURE = """\
import pytest

from shelf import put


@pytest.fixture
def book():
    return {value}
"""
TESTS = """\
import shelf


def test_book(book):
    assert book[0] == 1
    assert shelf.put.__name__ == 'put'


def test_put():
    assert shelf.put.__name__ == 'put'


def test_plain():
    assert shelf.put([1]) == [1]


def test_needs_another():
    assert shelf.put.__name__ == 'put' and SEEN


SEEN = []


def test_another():
    SEEN.append(shelf.count([1]))
"""


@pytest.fixture(scope='module')
def found(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('shelf')
    first = {
        'pyproject.toml': PROJECT,
        'shelf.py': CODE,
        'tests/__init__.py': '',
        'tests/conftest.py': CONFTEST,
        'tests/shelves.py': FIXTURE.format(value='put([1])'),
        'tests/test_shelf.py': TESTS,
    }
    second = {'shelf.py': NEW_CODE, 'tests/shelves.py': FIXTURE.format(value='put([1], 9)')}
    return mined(write(folder / 'repository', [first, second]), folder / 'store')


@pytest.mark.slow
def test_a_fixture_that_no_text_shows_is_found_by_the_run(found: Mined) -> None:
    row = found.method('test_book')
    assert (row.change, row.label) == (MethodChange.CONTEXT_CHANGED, Label.FIXTURE_UPDATE)
    assert (row.t_old_c_new, row.t_old_c_new_runs) == (Outcome.ERROR, 3)


def test_an_unaffected_test_passed_with_the_old_tests_on_the_new_code(found: Mined) -> None:
    row = found.method('test_put')
    assert (row.change, row.label) == (MethodChange.UNCHANGED, Label.UNAFFECTED)
    assert (row.t_old_c_new, row.t_old_c_new_passes) == (Outcome.PASS, 3)


def test_an_unchanged_test_that_the_code_breaks_is_broken_with_either_test_side(
    found: Mined,
) -> None:
    row = found.method('test_plain')
    assert (row.change, row.label) == (MethodChange.UNCHANGED, Label.BROKEN_BY_CHANGE)
    assert (row.t_new_c_new, row.t_old_c_new) == (Outcome.ERROR, Outcome.ERROR)


def test_every_test_of_the_pair_is_a_candidate_or_counted(found: Mined) -> None:
    (pair,) = found.pairs
    assert (pair.tests_compared, pair.candidates, pair.tests_alike) == (5, 4, 1)
    assert pair.tests_apart == 0


def test_the_project_s_own_run_is_asked_where_a_test_does_not_pass(found: Mined) -> None:
    """In the order of the file the neighbour comes too late, so the project says the same."""
    (drop,) = [d for d in found.drops if d.test_method == 'test_needs_another']
    assert drop.reason == 't_old_c_old_fail'
    (pair,) = found.pairs
    assert (pair.umpire_old, pair.umpire_new) == ('ran', 'ran')


def test_a_test_that_only_the_project_s_order_passes_is_unlike_the_project(tmp_path: Path) -> None:
    ordered = dedent("""\
        import shelf

        SEEN = []


        def test_first():
            SEEN.append(1)


        def test_needs_the_first():
            assert SEEN and shelf.put.__name__
    """)
    first = {'pyproject.toml': PROJECT, 'shelf.py': CODE, 'tests/test_shelf.py': ordered}
    found = mined(
        write(tmp_path / 'repository', [first, {'shelf.py': NEW_CODE}]), tmp_path / 'store'
    )
    (drop,) = [d for d in found.drops if d.test_method == 'test_needs_the_first']
    assert drop.reason == 'unlike_the_project'
    assert drop.detail == (
        't_old_c_old: fail (AssertionError@tests/test_shelf.py:test_needs_the_first),'
        ' by the project: pass'
    )
