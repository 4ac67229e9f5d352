from __future__ import annotations

from pathlib import Path

from coevo.git.repository import Repository
from miners.cloning.mirror_git import count_source_files_and_lines
from tests.repos import commit, init


def test_java_files_and_lines_are_counted(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    files = {
        'A.java': 'class A {\n\n  // a comment\n}\n',
        'src/test/java/BTest.java': 'class BTest {\n}',
        'empty/package-info.java': '',
        'README.md': 'A.java\n',
        'A.javac': 'x\n',
    }
    (repo / 'link.java').symlink_to('A.java')
    head = commit(repo, 'all', files)
    assert 'link.java' in Repository(repo / '.git').tree(head)
    assert count_source_files_and_lines(Repository(repo / '.git'), head, 'java') == (3, 6)


def test_revision_without_java_has_code_size_zero(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    assert count_source_files_and_lines(
        Repository(repo / '.git'), commit(repo, 'x', {'a': ''}), 'java'
    ) == (
        0,
        0,
    )


def test_code_size_is_unknown_if_a_file_or_revision_is_unreadable(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    head = commit(repo, 'all', {'A.java': 'class A {}\n', 'B.java': 'class B {}\n'})
    oid = Repository(repo / '.git').tree(head)['B.java'].oid
    (repo / '.git/objects' / oid[:2] / oid[2:]).unlink()
    assert count_source_files_and_lines(Repository(repo / '.git'), head, 'java') is None
    assert count_source_files_and_lines(Repository(repo / '.git'), 'f' * 40, 'java') is None
