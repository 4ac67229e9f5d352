"""The neighbours of a test, from the nearest to the farthest."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.model.records import TestMethod
from miners.diffs.siblings import find_siblings, group_methods_by_module
from tests.repos import commit, init

TESTS = 'one/src/test/java/p'


def java(package: str, name: str, *methods: str, inner: str = '') -> str:
    body = ' '.join(f'@org.junit.Test public void {method}() {{ }}' for method in methods)
    return f'package {package};\n\npublic class {name} {{ {body} {inner} }}\n'


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Repository, str]:
    inner = 'public static class Inner { @org.junit.Test public void deep() { } }'
    files: dict[str, str | bytes | None] = {
        'pom.xml': '<project/>',
        'one/pom.xml': '<project/>',
        'two/pom.xml': '<project/>',
        f'{TESTS}/q/ATest.java': java('p.q', 'ATest', 'a', 'b', inner=inner),
        f'{TESTS}/q/ZTest.java': java('p.q', 'ZTest', 'y', 'z'),
        f'{TESTS}/q/Empty.java': java('p.q', 'Empty'),
        f'{TESTS}/BTest.java': java('p', 'BTest', *(f'b{number}' for number in range(20))),
        'two/src/test/java/p/q/CTest.java': java('p.q', 'CTest', 'c'),
    }
    folder = init(tmp_path / 'repository')
    return Repository(folder / '.git'), commit(folder, 'tests', files)


def named(methods: tuple[TestMethod, ...]) -> list[str]:
    return [method.test_method for method in methods]


def test_test_methods_of_a_revision_are_grouped_by_module(
    repository: tuple[Repository, str],
) -> None:
    found = {
        module: named(tests)
        for module, tests in group_methods_by_module(*repository, 'java').items()
    }
    assert found == {
        'one': [*(f'b{number}' for number in range(20)), 'a', 'b', 'deep', 'y', 'z'],
        'two': ['c'],
    }


def test_siblings_come_by_class_then_file_then_files_of_the_module_in_turn(
    repository: tuple[Repository, str],
) -> None:
    by_name = {m.test_method: m for m in group_methods_by_module(*repository, 'java')['one']}
    groups = [named(group) for group in find_siblings(*repository, by_name['a'])]
    assert groups == [['b'], ['deep'], ['y', 'b0', 'z', 'b1', 'b2', 'b3', 'b4', 'b5']]


def test_a_test_alone_in_its_module_has_no_sibling(repository: tuple[Repository, str]) -> None:
    (alone,) = group_methods_by_module(*repository, 'java')['two']
    assert [named(group) for group in find_siblings(*repository, alone)] == [[], [], []]
