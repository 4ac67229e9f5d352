"""Which file of a package a Go test file is about."""

from __future__ import annotations

from pathlib import Path

from coevo.git.repository import Repository
from miners.single_revision import list_single_revision_files
from tests.repos import commit, init

TEST = 'import "testing"\n\nfunc TestA(t *testing.T) {}\n'
FILES = {
    'go.mod': 'module a.b/c\n',
    'LICENSE': 'x',
    'route.go': 'package c\n',
    'router.go': 'package c\n',
    'route_test.go': f'package c_test\n\n{TEST}',
    'all_test.go': f'package c\n\n{TEST}',
    'cmd/main.go': 'package c\n',
    'cmd/main_test.go': f'package c\n\n{TEST}',
    'lone/lone_test.go': f'package lone\n\n{TEST}',
}


def test_go_test_file_is_about_its_namesake_or_the_whole_package(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    rev = commit(repo, 'all', FILES)
    found = list_single_revision_files(Repository(repo / '.git'), rev, 'go')
    assert {one.test_file: one.focal_files for one in found} == {
        'all_test.go': ('route.go', 'router.go'),
        'cmd/main_test.go': ('cmd/main.go',),
        'lone/lone_test.go': (),
        'route_test.go': ('route.go',),
    }
