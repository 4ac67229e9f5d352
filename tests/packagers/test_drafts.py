"""Start files of tasks over packages of Go that the tests write."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.surgery import StartStateInvalid
from coevo.model.words import Track
from packagers.drafts import group_by_task, make_draft
from tests.packagers.test_tasks import row
from tests.repos import commit, init

MODULE = {'go.mod': 'module example.org/shop\n\ngo 1.21\n'}
SHOP = 'package shop\n\nfunc Sell() int { return 1 }\n'
NEW_FILE = """\
package shop

import "testing"

type coin struct{ worth int }

func TestSell(t *testing.T) {
	if Sell() != (coin{2}).worth {
		t.Fatal()
	}
}
"""
NEEDS_IT = """\
package shop

import "testing"

func TestCoin(t *testing.T) {
	if (coin{1}).worth != 1 {
		t.Fatal()
	}
}
"""


def _start(repo: Path, others: dict[str, str]) -> bytes | None:
    old = commit(repo, 'old', {**MODULE, 'shop.go': SHOP}, date='2020-01-01T00:00:00Z')
    files = {'shop.go': SHOP.replace('1', '2'), 'sell_test.go': NEW_FILE, **others}
    new = commit(repo, 'new', files, date='2020-01-02T00:00:00Z')
    target = row(
        *(old, new, 'TestSell', Track.GENERATION),
        language='go',
        test_file='sell_test.go',
        test_class='shop',
    )
    (group,) = group_by_task([target])
    return make_draft(group, Repository(repo / '.git')).start


def test_new_test_file_whose_declarations_no_other_file_uses_is_absent(tmp_path: Path) -> None:
    assert _start(init(tmp_path / 'repo'), {}) is None


def test_new_test_file_that_other_files_need_to_compile_gives_no_task(tmp_path: Path) -> None:
    with pytest.raises(StartStateInvalid, match='need coin, which only this one declares'):
        _start(init(tmp_path / 'repo'), {'coin_test.go': NEEDS_IT})
