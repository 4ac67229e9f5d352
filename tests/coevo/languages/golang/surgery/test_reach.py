"""What other files of a tree have to do with a test file: it may not be cut without them."""

from __future__ import annotations

import pytest

from coevo.git.repository import Repository
from coevo.languages.golang import surgery
from tests.repos import commit
from tests.repos import init

FILES = {
    'go.mod': 'module a.b/c\n',
    'c.go': 'package c\n\nvar fromCode = seenByCode\n',
    'a_test.go': 'package c\n\nfunc helper() {}\n\nfunc TestA(t *testing.T) { helper() }\n',
    'b_test.go': 'package c\n\nfunc (f *fake) Run() { helper() }\n\ntype fake struct{}\n',
    'd_test.go': 'package c_test\n\nimport "a.b/c"\n\nvar outside = c.Shown\n',
    'e_test.go': 'package c_test\n\nvar unseen = 1\n',
    'sub/s_test.go': 'package c\n\nfunc other() { helper() }\n',
}


@pytest.fixture(scope='module')
def revision(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, str]:
    repo = init(tmp_path_factory.mktemp('reach') / 'repo')
    return Repository(repo / '.git'), commit(repo, 'all', FILES)


def test_names_of_test_files_that_see_its_package(revision: tuple[Repository, str]) -> None:
    found = surgery.names_used_elsewhere(*revision, 'a_test.go')
    assert {'helper', 'fake', 'Run', 'outside', 'Shown'} <= found
    assert not {'seenByCode', 'unseen', 'other'} & found


def test_names_that_its_package_declares_elsewhere(revision: tuple[Repository, str]) -> None:
    found = surgery.names_used_elsewhere(*revision, 'a_test.go')
    declared = {name for name in found if name.startswith('=')}
    assert declared == {'=fromCode', '=fake', '=fake.Run'}


def test_who_names_a_file(revision: tuple[Repository, str]) -> None:
    namers = surgery.namers(*revision)
    assert namers.of('a_test.go') == ('b_test.go',)
    assert namers.of('b_test.go') == ()
    assert namers.text('c.go') == FILES['c.go'].encode()
    assert namers.names('d_test.go', b'package c_test\n\nvar x = c.helper\n', 'a_test.go')
    assert not namers.names('e_test.go', b'package c_test\n\nvar x = c.helper\n', 'a_test.go')
    assert not namers.names('b_test.go', None, 'a_test.go')


def test_nothing_derives(revision: tuple[Repository, str]) -> None:
    assert list(surgery.derived(*revision, 'a_test.go', ['fake'])) == []
