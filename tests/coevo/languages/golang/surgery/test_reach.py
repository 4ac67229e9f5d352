"""What other files of a tree have to do with a test file: it may not be cut without them."""

from __future__ import annotations

import pytest

from coevo.git.repository import Repository
from coevo.languages.golang import surgery
from tests.repos import commit, init

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


def test_names_used_by_test_files_that_see_the_package_are_listed(
    revision: tuple[Repository, str],
) -> None:
    found = surgery.list_names_in_related_files(*revision, 'a_test.go')
    assert {'helper', 'fake', 'Run', 'outside', 'Shown'} <= found
    assert not {'seenByCode', 'unseen', 'other'} & found


def test_names_declared_in_other_files_of_the_package_are_marked(
    revision: tuple[Repository, str],
) -> None:
    found = surgery.list_names_in_related_files(*revision, 'a_test.go')
    declared = {name for name in found if name.startswith('=')}
    assert declared == {'=fromCode', '=fake', '=fake.Run'}


def test_files_that_mention_declarations_of_a_test_file_are_found(
    revision: tuple[Repository, str],
) -> None:
    namers = surgery.make_mention_finder(*revision)
    assert namers.find_mentioning_files('a_test.go') == ('b_test.go',)
    assert namers.find_mentioning_files('b_test.go') == ()
    assert namers.read_text('c.go') == FILES['c.go'].encode()
    assert namers.mentions('d_test.go', b'package c_test\n\nvar x = c.helper\n', 'a_test.go')
    assert not namers.mentions('e_test.go', b'package c_test\n\nvar x = c.helper\n', 'a_test.go')
    assert not namers.mentions('b_test.go', None, 'a_test.go')


def test_go_type_has_no_derived_classes(revision: tuple[Repository, str]) -> None:
    assert list(surgery.find_derived_classes(*revision, 'a_test.go', ['fake'])) == []
