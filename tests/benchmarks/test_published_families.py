"""Checks of other papers' figures, on made-up data whose figures are known."""

from __future__ import annotations

from pathlib import Path

from benchmarks.published_families import lite, lite_cell, projects, table_one
from benchmarks.published_families.table_one import Start
from coevo.git.repository import Repository
from tests.repos import commit, init


def start(language: str, coverage: float, mutation: float | None, *, empty: bool = False) -> Start:
    return Start(language=language, is_empty=empty, coverage=coverage, mutation=mutation)


def test_missing_mutation_scores_count_as_0_in_the_total_only() -> None:
    found = [
        start('Python', 50.0, 80.0),
        start('Python', 0.0, 0.0, empty=True),
        start('Java', 30.0, 40.0),
        start('Java', 10.0, None),
        start('Go', 20.0, 60.0),
    ]
    assert table_one.table(found) == {
        'coverage': ('25.00', '20.00', '20.00', '22.00'),
        'mutation': ('80.00', '40.00', '60.00', '36.00'),
    }


CODE = 'def half(number):\n    return math.floor(number / 2)\n'


def test_each_assert_is_run_alone_and_has_its_own_outcome() -> None:
    known: dict[str, object] = {'math': __import__('math')}
    asked = {
        'assert half(5) == 2': 'pass',
        'assert half(5) == 3': 'AssertionError',
        'assert half(None)': 'TypeError',
        'assert halve(5)': 'NameError',
        'assert half(': 'SyntaxError',
        "__import__('os')._exit(0)": 'lost',
        "raise SystemExit('pass')": 'SystemExit',
    }
    assert {line: lite_cell.outcome(CODE, line, known) for line in asked} == asked
    assert lite_cell.outcome(CODE, 'assert half(5) == 2', {}) == 'NameError'


def test_complexity_of_a_function_includes_its_nested_functions() -> None:
    inner = (
        'def f(a):\n    def g(b):\n        return 1 if b else 2\n    if a:\n        return g(a)\n'
    )
    assert lite.Function(name='f', code=inner, asserts=()).complexity == 4


def test_each_folder_under_a_language_is_a_project(tmp_path: Path) -> None:
    repository = init(tmp_path / 'data')
    files = {
        'dataset/Python/till/a.py': 'A = 1\n',
        'dataset/Python/till/b/c.py': 'B = 1\n',
        'dataset/Python/shop/shop.py': 'C = 1\n',
        'dataset/JS/door/door.js': 'export const A = 1;\n',
        'README.md': 'no project',
    }
    commit(repository, 'published', files)
    found = projects.projects(Repository(repository / '.git'), 'python')
    assert {name: sorted(some) for name, some in found.items()} == {
        'shop': ['shop/shop.py'],
        'till': ['till/a.py', 'till/b/c.py'],
    }
