"""What other files of a tree have to do with a test file: it may not be cut without them."""

from __future__ import annotations

import pytest

from coevo.git.repository import Repository
from coevo.languages.python import surgery
from tests.repos import commit, init

FILES = {
    'pyproject.toml': '[project]\nname = "till"\n',
    'till.py': 'from tests.test_base import hidden_from_tests\n',
    'tests/conftest.py': 'import pytest\n\n\n@pytest.fixture\ndef price():\n    return 1\n',
    'tests/__init__.py': '',
    'tests/test_base.py': (
        'from tests.mixins import Mixin\n\n\n'
        'class TestBase(Mixin):\n    def test_a(self):\n        pass\n'
    ),
    'tests/mixins.py': 'class Mixin:\n    def run(self):\n        self.called_by_mixin()\n',
    'tests/test_heirs.py': (
        'from tests.test_base import TestBase\n\n\n'
        'class TestHeir(TestBase):\n    used_by_heir = 1\n\n    class TestInner(TestBase):\n        pass\n'
    ),
    'tests/test_late.py': 'from tests.test_heirs import TestHeir\n\n\nclass TestLate(TestHeir):\n    pass\n',
    'tests/sub/test_price.py': 'def test_price(price):\n    assert price == seen_below\n',
    'tests/test_other.py': '# test_base is no name here\nunrelated = 1\n',
    'tests/suite.txt': 'tests/test_base.py\n',
}


@pytest.fixture(scope='module')
def revision(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, str]:
    repo = init(tmp_path_factory.mktemp('reach') / 'repo')
    return Repository(repo / '.git'), commit(repo, 'all', FILES)


def test_names_used_elsewhere_come_from_mentioning_files_and_base_classes(
    revision: tuple[Repository, str],
) -> None:
    found = surgery.list_names_in_related_files(*revision, 'tests/test_base.py')
    assert {'used_by_heir', 'called_by_mixin'} <= found
    assert not {'hidden_from_tests', 'seen_below'} & found


def test_names_used_elsewhere_come_from_all_files_below_a_conftest(
    revision: tuple[Repository, str],
) -> None:
    found = surgery.list_names_in_related_files(*revision, 'tests/conftest.py')
    assert {'price', 'seen_below', 'unrelated'} <= found


def test_derived_classes_are_found_at_any_depth(revision: tuple[Repository, str]) -> None:
    found = [
        (path, names)
        for path, _, names in surgery.find_derived_classes(
            *revision, 'tests/test_base.py', ['TestBase']
        )
    ]
    assert found == [
        (
            'tests/test_heirs.py',
            {'tests.test_heirs$TestHeir', 'tests.test_heirs$TestHeir$TestInner'},
        ),
        ('tests/test_late.py', {'tests.test_late$TestLate'}),
    ]


def test_files_that_mention_a_test_file_or_its_fixtures_are_found(
    revision: tuple[Repository, str],
) -> None:
    namers = surgery.make_mention_finder(*revision)
    assert namers.find_mentioning_files('tests/test_base.py') == (
        'tests/suite.txt',
        'tests/test_heirs.py',
    )
    assert namers.find_mentioning_files('tests/conftest.py') == ('tests/sub/test_price.py',)
