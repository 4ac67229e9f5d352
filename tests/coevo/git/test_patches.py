"""Patches are applied by Git itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from coevo.git.patches import make_file_patch, make_tree_patch
from coevo.git.repository import Repository
from tests.repos import commit, git, init

LINES = ''.join(f'line {number}\n' for number in range(40))
LATIN = 'caf\u00e9\n'.encode('latin-1')
BINARY = bytes(range(256)) * 300  # more than one stored block


def applied(folder: Path, path: str, old: bytes | None, patch: str) -> bytes | None:
    """What `git apply` makes of a file."""
    init(folder)
    commit(
        folder, 'old', {path: old, 'other': b'other'} if old is not None else {'other': b'other'}
    )
    git(folder, 'apply', '--index', '--whitespace=nowarn', '-', stdin=patch.encode())
    found = folder / path
    return found.read_bytes() if found.exists() else None


@pytest.mark.sampled(15)
@pytest.mark.parametrize('path', ['A.java', 'a b/\u00e9"\\.java', 'a*[b].java'])
@pytest.mark.parametrize(
    ('old', 'new'),
    [
        (LINES.encode(), LINES.replace('line 7\n', 'seven\n').encode()),
        (b'one\ntwo\n', b'one\ntwo'),
        (b'one', b'one\n'),
        (b'one\r\ntwo\r\n', b'one\r\n2\r\n'),
        (None, b'new\nfile\n'),
        (None, b'no newline'),
        (None, b''),
        (b'gone\n', None),
        (b'', None),
        (b'', b'full\n'),
        (b'text\n', LATIN),
        (LATIN, LATIN * 2),
        (None, BINARY),
        (BINARY, b''),
        (BINARY, None),
    ],
)
def test_git_applies_the_patch_of_a_file(
    tmp_path: Path, path: str, old: bytes | None, new: bytes | None
) -> None:
    patch = make_file_patch(path, old, new)
    assert applied(tmp_path / 'repo', path, old, patch) == new


def test_patch_text_has_the_format_of_git() -> None:
    assert make_file_patch('src/A.java', 'a\nb\n', 'a\nc') == (
        'diff --git a/src/A.java b/src/A.java\n'
        'index 422c2b7ab3b3c668038da977e4e93a5fc623169c..'
        '817f660e4423f7df2dfc7d4bff0e01b2092a8ce9 100644\n'
        '--- a/src/A.java\n'
        '+++ b/src/A.java\n'
        '@@ -1,2 +1,2 @@\n'
        ' a\n'
        '-b\n'
        '+c\n'
        '\\ No newline at end of file\n'
    )


def test_patch_of_a_new_file_names_no_old_file() -> None:
    lines = make_file_patch('A.java', None, 'a\n').splitlines()
    assert lines[1] == 'new file mode 100644'
    assert lines[3:5] == ['--- /dev/null', '+++ b/A.java']


@pytest.mark.parametrize('new', [b'two\n', BINARY])
def test_patch_keeps_the_executable_mode_of_a_file(tmp_path: Path, new: bytes) -> None:
    init(tmp_path)
    commit(tmp_path, 'old', {'A.java': b'one\n'})
    git(tmp_path, 'update-index', '--chmod=+x', 'A.java')
    patch = make_file_patch('A.java', b'one\n', new, '100755')
    assert '100755' in patch
    assert '100644' not in patch
    git(tmp_path, 'apply', '--cached', '-', stdin=patch.encode())
    assert git(tmp_path, 'ls-files', '--stage').startswith('100755 ')
    gone = make_file_patch('A.java', new, None, '100755')
    git(tmp_path, 'apply', '--cached', '-', stdin=gone.encode())
    assert git(tmp_path, 'ls-files') == ''


def test_patch_of_equal_contents_is_empty() -> None:
    assert make_file_patch('A.java', 'a\n', b'a\n') == ''


def test_binary_patch_contains_the_blob_id_that_git_computes(tmp_path: Path) -> None:
    """The blob ids in the header are those that Git gives the content."""
    init(tmp_path)
    patch = make_file_patch('blob', b'text', BINARY)
    (tmp_path / 'blob').write_bytes(BINARY)
    assert git(tmp_path, 'hash-object', 'blob') in patch


def test_tree_patch_contains_only_the_named_files(tmp_path: Path) -> None:
    old = commit(init(tmp_path), 'old', {'a.java': 'a\n', 'b.java': 'b\n', 'c': LATIN, 'd': 'd\n'})
    new = commit(tmp_path, 'new', {'a.java': 'A\n', 'b.java': 'B\n', 'c': None, 'e': 'e\n'})
    patch = make_tree_patch(Repository(tmp_path / '.git'), old, new, ['a.java', 'c', 'e', 'd'])
    assert patch.count('diff --git') == 3
    git(tmp_path, 'reset', '-q', '--hard', old)
    git(tmp_path, 'apply', '--index', '-', stdin=patch.encode())
    changed = git(tmp_path, 'diff', '--cached', '--name-status', '--no-renames', old)
    assert changed.split() == ['M', 'a.java', 'D', 'c', 'A', 'e']


def test_patch_does_not_depend_on_git_settings_or_attributes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_text, new_text = LINES, LINES.replace('line 7\n', 'seven\n')
    plain, odd = init(tmp_path / 'plain'), init(tmp_path / 'odd')
    expected = patch_of_two(plain, {'A.java': old_text}, {'A.java': new_text})
    for name, value in (('diff.noprefix', 'true'), ('diff.context', '9'), ('color.ui', 'always')):
        git(odd, 'config', name, value)
    (odd / '.git' / 'info').mkdir(exist_ok=True)
    (odd / '.git' / 'info' / 'attributes').write_text('*.java binary\n')
    settings = tmp_path / 'settings'
    settings.write_text('[diff]\n\tmnemonicPrefix = true\n\texternal = false\n')
    monkeypatch.setenv('GIT_CONFIG_GLOBAL', os.fspath(settings))
    attributes = {'.gitattributes': '*.java -diff\n'}
    found = patch_of_two(odd, {'A.java': old_text} | attributes, {'A.java': new_text})
    assert found == expected
    assert make_file_patch('A.java', old_text, new_text) == expected


def patch_of_two(repo: Path, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    revs = commit(repo, 'old', old), commit(repo, 'new', new)
    return make_tree_patch(Repository(repo / '.git'), revs[0], revs[1], ['A.java'])
