"""Lines that a pair added, on repositories written here."""

from __future__ import annotations

from pathlib import Path

from coevo.git.repository import Repository
from coevo.measures.added_lines import find_added_lines, find_unchanged_lines
from tests.repos import commit, init

OLD = ''.join(f'line {number};\n' for number in range(1, 21))


def added(
    folder: Path, before: dict[str, str | None], after: dict[str, str | None]
) -> frozenset[int]:
    repo = init(folder)
    old = commit(repo, 'old', before)
    new = commit(repo, 'new', after)
    return find_added_lines(Repository(repo / '.git'), old, new, 'src/New.java')


def test_changed_and_inserted_lines_count_as_added(tmp_path: Path) -> None:
    text = OLD.replace('line 3;\n', 'line three;\n').replace('line 9;\n', 'line 9;\n@@ -1 +7 @@\n')
    text = text.replace('line 12;\n', '')

    assert added(tmp_path, {'src/New.java': OLD}, {'src/New.java': text}) == {3, 10}


def test_every_line_of_a_new_file_counts_as_added(tmp_path: Path) -> None:
    assert added(tmp_path, {'a': 'b'}, {'src/New.java': 'one\ntwo'}) == {1, 2}


def test_a_renamed_file_is_compared_with_its_old_content(tmp_path: Path) -> None:
    text = OLD.replace('line 3;', 'line three;')
    after: dict[str, str | None] = {'src/Old.java': None, 'src/New.java': text}

    assert added(tmp_path, {'src/Old.java': OLD}, after) == {3}


def test_an_unchanged_or_deleted_file_has_no_added_lines(tmp_path: Path) -> None:
    assert added(tmp_path / 'same', {'src/New.java': OLD}, {'a': 'b'}) == frozenset()
    gone = added(tmp_path / 'gone', {'src/New.java': OLD}, {'a': 'b', 'src/New.java': None})
    assert gone == frozenset()


def test_unchanged_lines_are_all_lines_not_added_with_their_old_numbers(tmp_path: Path) -> None:
    text = OLD.replace('line 3;\n', 'line three;\nand more;\n').replace('line 9;\nline 10;\n', '')
    repo = init(tmp_path)
    old = commit(repo, 'old', {'src/Old.java': OLD, 'src/Same.java': OLD})
    after: dict[str, str | None] = {'src/Old.java': None, 'src/New.java': text}
    new = commit(repo, 'new', {**after, 'src/Other.java': 'other'})
    repository = Repository(repo / '.git')

    left = find_unchanged_lines(repository, old, new, 'src/New.java')

    assert left is not None
    assert left.old_path == 'src/Old.java'
    olds, news = OLD.split('\n'), text.split('\n')
    assert all(olds[o - 1] == news[n - 1] for n, o in left.old_lines.items())
    added = find_added_lines(repository, old, new, 'src/New.java')
    assert set(left.old_lines) == set(range(1, len(news) + 1)) - added
    assert left.old_lines[len(news)] == len(olds)
    same = find_unchanged_lines(repository, old, new, 'src/Same.java')
    assert same is not None
    assert set(same.old_lines.items()) == {(n, n) for n in range(1, len(olds) + 1)}
    assert find_unchanged_lines(repository, old, new, 'src/Other.java') is None
    assert find_unchanged_lines(repository, old, new, 'src/Old.java') is None
