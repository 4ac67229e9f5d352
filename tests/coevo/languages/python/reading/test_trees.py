from __future__ import annotations

from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.python.reading import find_tests
from coevo.languages.python.reading.trees import PythonTree
from coevo.languages.reading import Side
from coevo.model.records import FileOrigin
from tests.repos import commit, init


def tree_of(path: Path, files: dict[str, str]) -> PythonTree:
    repo = init(path)
    return PythonTree(Repository(repo / '.git'), commit(repo, 'files', files))


def found_in(tree: PythonTree) -> list[str]:
    return [
        f'{type_.name}#{member.name}'
        for path in tree.list_paths(Side.TEST)
        for type_, member in find_tests(
            tree.parse_file(path),
            lambda simple, path=path: [t.type for t in tree.resolve_test_type(path, simple)],
        )
    ]


def test_paths_are_assigned_to_sides_and_modules(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        {
            'setup.py': '',
            'src/pkg/mod.py': '',
            'src/pkg/testing.py': '',
            'tests/helper.py': '',
            'tests/data/x.txt': '',
            'sub/pyproject.toml': '',
            'sub/pkg/test_it.py': '',
        },
    )
    assert tree.list_paths(Side.SOURCE) == ('src/pkg/mod.py', 'src/pkg/testing.py')
    assert tree.list_paths(Side.TEST) == ('sub/pkg/test_it.py', 'tests/helper.py')
    assert tree.belongs_to_code('setup.py')
    assert not tree.belongs_to_code('tests/data/x.txt')
    assert tree.find_module_folder('sub/pkg/test_it.py') == 'sub'
    assert tree.find_module_folder('tests/helper.py') == '.'


def test_type_names_follow_from_file_paths(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, {'src/pkg/__init__.py': 'class A: pass', 'tests/unit/test_a.py': ''})
    assert [t.name for t in tree.parse_file('src/pkg/__init__.py').types] == ['pkg', 'pkg$A']
    assert [t.name for t in tree.parse_file('tests/unit/test_a.py').types] == ['tests.unit.test_a']


def test_imports_resolve_to_the_declaring_module(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        {
            'src/pkg/__init__.py': 'from ._impl import make\nfrom ._impl import Thing as Other\n',
            'src/pkg/_impl.py': 'def make(): pass\nclass Thing: pass\n',
            'tests/helpers.py': 'def check(): pass\n',
            'tests/test_a.py': (
                'import pkg\nfrom pkg import make\nimport os\nfrom helpers import check\n'
                'from pkg import _impl\ndef test_a(): pkg.Thing(make())\n'
            ),
        },
    )
    found = {(one.text, one.name, one.static) for one in tree.parse_file('tests/test_a.py').imports}
    assert found == {
        ('pkg', 'pkg', False),
        ('pkg._impl.make', 'make', True),
        ('os', 'os', False),
        ('tests.helpers.check', 'check', True),
        ('pkg._impl', '_impl', False),
        ('pkg._impl.Thing', 'Thing', False),
    }


def test_modules_that_import_each_other_are_resolved_once(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        {
            'pkg/a.py': 'from pkg import b\n',
            'pkg/b.py': 'from pkg import a\nfrom pkg.c import make\n',
            'pkg/c.py': 'def make(): pass\n',
            'tests/test_a.py': 'from pkg import a\ndef test_a(): a.b.a.b.make()\n',
        },
    )
    assert {one.text for one in tree.parse_file('tests/test_a.py').imports} == {
        'pkg.a',
        'pkg.b',
        'pkg.c.make',
    }


def test_constant_is_a_static_import_and_a_class_in_capitals_is_not(
    tmp_path: Path,
) -> None:
    tree = tree_of(
        tmp_path,
        {
            'pkg/__init__.py': 'from .prices import *\n',
            'pkg/prices.py': 'PRICES = [1]\nclass URL: pass\n',
            'tests/test_a.py': 'from pkg import PRICES, URL\ndef test_a(): URL(PRICES)\n',
        },
    )
    found = {(one.text, one.static) for one in tree.parse_file('tests/test_a.py').imports}
    assert found == {('pkg.prices.PRICES', True), ('pkg.prices.URL', False)}


def test_relative_imports_resolve_within_the_package(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        {
            'tests/__init__.py': '',
            'tests/base.py': 'class Base: pass\n',
            'tests/unit/__init__.py': '',
            'tests/unit/test_a.py': 'from ..base import Base\nfrom . import other\n',
            'tests/unit/other.py': '',
        },
    )
    found = [(one.text, one.static) for one in tree.parse_file('tests/unit/test_a.py').imports]
    assert found == [('tests.base.Base', False), ('tests.unit.other', False)]
    assert [t.path for t in tree.resolve_test_type('tests/unit/test_a.py', 'Base')] == [
        'tests/base.py'
    ]


def test_library_import_does_not_resolve_to_a_module_of_the_package(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        {'pkg/__init__.py': '', 'pkg/json.py': 'def loads(): pass\n', 'pkg/a.py': 'import json\n'},
    )
    assert [one.text for one in tree.parse_file('pkg/a.py').imports] == ['json']


def test_conftest_is_seen_by_the_files_below_it(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        {
            'conftest.py': '',
            'tests/conftest.py': '',
            'tests/a/test_a.py': '',
            'tests/b/conftest.py': '',
        },
    )
    found = [t.path for t in tree.resolve_test_type('tests/a/test_a.py', 'conftest')]
    assert found == ['conftest.py', 'tests/conftest.py']
    assert tree.parse_file('tests/a/test_a.py').types[0].interfaces == ('conftest',)


def test_mixin_has_tests_if_a_class_of_another_file_derives_from_it(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        {
            'tests/common.py': (
                'class Mixin:\n  def test_a(self): pass\nclass Spare:\n  def test_b(self): pass\n'
            ),
            'tests/test_x.py': 'from common import Mixin\nclass TestX(Mixin): pass\n',
        },
    )
    assert found_in(tree) == ['tests.common$Mixin#test_a']


@pytest.mark.parametrize(
    ('name', 'text'),
    [
        ('pytest.ini', '[pytest]\npython_files = check_*.py\npython_functions = it_* test\n'),
        (
            'pyproject.toml',
            '[tool.pytest.ini_options]\npython_files = ["check_*.py"]\npython_functions = "it_ test"\n',
        ),
        ('tox.ini', '[pytest]\npython_files =\n  check_*.py\npython_functions = it_* test\n'),
        ('setup.cfg', '[tool:pytest]\npython_files=check_*.py\npython_functions=it test\n'),
    ],
)
def test_pytest_settings_decide_which_files_and_functions_are_tests(
    tmp_path: Path, name: str, text: str
) -> None:
    tree = tree_of(
        tmp_path,
        {
            name: text,
            'tests/check_a.py': 'def it_works(): pass\ndef no(): pass\n',
            'tests/test_b.py': 'def test_b(): pass\n',
        },
    )
    assert found_in(tree) == ['tests.check_a#it_works']


def test_unreadable_settings_files_are_ignored(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        {
            'pyproject.toml': 'tool = [',
            'setup.cfg': 'no section',
            'tests/test_b.py': 'def test_b(): pass\n',
        },
    )
    assert found_in(tree) == ['tests.test_b#test_b']


def test_file_named_test_py_is_a_test_file(tmp_path: Path) -> None:
    """pytest collects such files if it is told to, and so do we tell it."""
    files = {'test.py': 'def test_a(): pass\n', 'tests/tools.py': 'def test_b(): pass\n'}
    assert found_in(tree_of(tmp_path, files)) == ['test#test_a']


@pytest.mark.parametrize(
    ('path', 'text', 'expected'),
    [
        ('pkg/a.py', '"""Reads what was generated by hand."""\nx = 1\n', FileOrigin.WRITTEN),
        ('pkg/a.py', '# Generated by the protocol buffer compiler.\nx = 1\n', FileOrigin.GENERATED),
        ('pkg/a.py', '"""This file was automatically generated."""\nx = 1\n', FileOrigin.GENERATED),
        ('pkg/a.py', 'x = 1\n# Generated by hand\n', FileOrigin.WRITTEN),
        ('pkg/a_pb2.py', 'x = 1\n', FileOrigin.GENERATED),
        ('pkg/_version.py', 'x = 1\n', FileOrigin.GENERATED),
        ('pkg/_vendor/six.py', 'x = 1\n', FileOrigin.VENDORED),
        ('pkg/third_party/a.py', 'x = 1\n', FileOrigin.VENDORED),
        ('pkg/generator.py', 'x = 1\n', FileOrigin.WRITTEN),
    ],
)
def test_file_origin_is_written_generated_or_vendored(
    tmp_path: Path, path: str, text: str, expected: FileOrigin
) -> None:
    assert tree_of(tmp_path, {path: text}).find_origin(path) is expected


NEIGHBOURS = {
    'pkg/__init__.py': 'from ._impl import make\n',
    'pkg/_impl.py': 'def make(): return 1\n',
    'test_a.py': 'from pkg import make\ndef test_a(): make()\n',
}


@pytest.mark.parametrize(
    ('changed', 'taken'),
    [
        ({'pkg/_impl.py': 'def make(): return 2\n'}, 'pkg._impl.make'),
        ({'pkg/_impl.py': 'from ._other import make\n'}, 'pkg._other.make'),
        ({'pkg/__init__.py': 'def make(): return 1\n'}, 'pkg.make'),
        ({'src/pkg/__init__.py': '', 'pkg/__init__.py': ''}, 'pkg.make'),
    ],
)
def test_parsed_file_is_reused_only_if_its_imports_resolve_alike(
    tmp_path: Path, changed: dict[str, str], taken: str
) -> None:
    repo = init(tmp_path)
    revs = [commit(repo, 'old', NEIGHBOURS), commit(repo, 'new', {**NEIGHBOURS, **changed})]
    old, new = (PythonTree(Repository(repo / '.git'), rev) for rev in revs)
    assert [one.text for one in old.parse_file('test_a.py').imports] == ['pkg._impl.make']
    assert [one.text for one in new.parse_file('test_a.py').imports] == [taken]
    assert [one.text for one in old.parse_file('test_a.py').imports] == ['pkg._impl.make']
    assert (old.parse_file('test_a.py') is new.parse_file('test_a.py')) is (
        taken == 'pkg._impl.make'
    )
