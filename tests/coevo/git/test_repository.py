from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.git.process import ObjectReader
from coevo.git.repository import CorruptObject, FileChange, Repository
from coevo.model.errors import Fatal
from tests.repos import commit, commit_tree, damage, git, init, write_object


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return init(tmp_path / 'repo')


def read(repo: Path) -> Repository:
    return Repository(repo / '.git')


def raw_commit(repo: Path, author: str, committer: str, *parents: str) -> str:
    """A commit object with the dates as they are given, good or bad."""
    lines = [f'tree {write_object(repo, "tree", b"")}', *(f'parent {p}' for p in parents)]
    lines += [f'author Ada <a@b> {author}', f'committer Ada <a@b> {committer}', '', 'message', '']
    return write_object(repo, 'commit', '\n'.join(lines).encode())


def test_commits_of_the_test_helper_have_constant_ids(repo: Path) -> None:
    rev = commit(repo, 'first', {'A.java': 'class A {}'})
    assert rev == '18a850d8c7a8e6c71bb07c7549c190eac7ef7f10'


def test_repository_resolves_branches_tags_and_short_hashes(repo: Path) -> None:
    rev = commit(repo, 'first', {'a': 'a'})
    git(repo, 'tag', '-a', '-m', 'one', 'v1')
    repository = read(repo)
    for ref in ('HEAD', 'main', 'refs/heads/main', 'v1', rev[:8]):
        assert repository.resolve(ref) == rev


@pytest.mark.parametrize('ref', ['', '--all', 'none', 'HEAD\nHEAD', 'HEAD:a', 'HEAD~5'])
def test_repository_refuses_a_name_that_is_no_commit(repo: Path, ref: str) -> None:
    commit(repo, 'first', {'a': 'a'})
    with pytest.raises(Fatal, match='name'):
        read(repo).resolve(ref)


def test_commit_has_its_parents_and_its_dates_in_utc(repo: Path) -> None:
    first = commit(repo, 'first', {'a': 'a'})
    second = commit(
        repo,
        'second',
        {'b': 'b'},
        date='2021-02-03T04:05:06+02:00',
        author_date='2020-12-31T23:00:00Z',
    )
    found = read(repo).get_commit(second)
    assert found.rev == second
    assert found.parents == (first,)
    assert found.committer_date == datetime(2021, 2, 3, 2, 5, 6, tzinfo=UTC)
    assert found.author_date == datetime(2020, 12, 31, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    ('seconds', 'expected'),
    [
        ('-1 +0000', datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ('253402300799 +0000', datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ('253402300800 +0000', None),
        ('99999999999999999999 +0000', None),
        ('yesterday +0000', None),
        ('', None),
    ],
)
def test_commit_date_is_none_if_it_cannot_be_represented(
    repo: Path, seconds: str, expected: datetime | None
) -> None:
    found = read(repo).get_commit(raw_commit(repo, seconds, seconds))
    assert (found.author_date, found.committer_date) == (expected, expected)


def test_a_tree_has_files_with_modes_and_no_submodules(repo: Path) -> None:
    first = commit(repo, 'first', {'run.sh': '#!/bin/sh\n', 'a/b/C.java': 'class C {}'})
    (repo / 'run.sh').chmod(0o755)
    (repo / 'link').symlink_to('run.sh')
    git(repo, 'update-index', '--add', '--cacheinfo', f'160000,{first},vendor/sub')
    second = commit(repo, 'second', {})
    tree = read(repo).tree(second)
    modes = {path: entry.mode for path, entry in tree.items()}
    expected = {'a/b/C.java': '100644', 'link': '120000', 'run.sh': '100755'}
    assert {k: v for k, v in modes.items() if not k.startswith('vendor')} == expected
    assert 'vendor/sub' not in tree


def test_file_name_that_is_not_utf8_is_read_and_written_unchanged(
    repo: Path, tmp_path: Path
) -> None:
    name = b'caf\xe9.java'
    blob = write_object(repo, 'blob', b'class C {}')
    tree = git(repo, 'mktree', '-z', stdin=b'100644 blob ' + blob.encode() + b'\t' + name + b'\0')
    rev = git(repo, 'commit-tree', tree, '-m', 'x')
    (path,) = read(repo).tree(rev)
    assert path.encode('utf-8', 'surrogateescape') == name
    read(repo).materialise(rev, tmp_path / 'out')
    assert [os.fsencode(path.name) for path in (tmp_path / 'out').iterdir()] == [name]


def test_load_text_replaces_bytes_that_are_not_utf8(repo: Path) -> None:
    rev = commit(repo, 'first', {'a': b'caf\xe9'})
    assert read(repo).load_text(rev, 'a') == 'caf�'
    assert read(repo).load_text(rev, 'b') is None


def test_list_changes_returns_every_file_that_differs_between_two_trees(repo: Path) -> None:
    old = commit(repo, 'old', {'same/a': 'a', 'x/edit': '1', 'x/gone': 'g', 'turns': 'file'})
    new = commit(repo, 'new', {'x/edit': '2', 'x/gone': None, 'turns': None, 'turns/into': 'f'})
    repository = read(repo)
    before, after = repository.tree(old), repository.tree(new)
    expected = (
        FileChange(path='turns', old_oid=before['turns'].oid, new_oid=None),
        FileChange(path='turns/into', old_oid=None, new_oid=after['turns/into'].oid),
        FileChange(path='x/edit', old_oid=before['x/edit'].oid, new_oid=after['x/edit'].oid),
        FileChange(path='x/gone', old_oid=before['x/gone'].oid, new_oid=None),
    )
    assert repository.list_changes(old, new) == expected
    assert repository.list_changes(new, new) == ()


def test_log_has_the_order_of_git_for_merges_and_wrong_clocks(repo: Path) -> None:
    root = commit(repo, 'root', {'a': '1'}, date='2020-01-01T00:00:00Z')
    ahead = commit(repo, 'ahead', {'a': '2'}, date='2030-01-01T00:00:00Z')
    left = commit(repo, 'left', {'a': '3'}, date='2020-01-03T00:00:00Z', parents=[ahead])
    right = commit(repo, 'right', {'b': '1'}, date='2020-01-03T00:00:00Z', parents=[root])
    behind = commit(repo, 'behind', {'b': '2'}, date='2001-01-01T00:00:00Z', parents=[right])
    head = commit(repo, 'merge', {'b': '2'}, date='2020-01-05T00:00:00Z', parents=[left, behind])
    for options in ([], ['--first-parent']):
        expected = git(repo, 'log', '--format=%H', *options, head).split()
        found = [rev for rev, _ in read(repo).iterate_log(head, first_parent=bool(options))]
        assert found == expected


def test_is_ancestor_follows_parents_and_holds_for_the_commit_itself(repo: Path) -> None:
    first = commit(repo, 'first', {'a': '1'})
    left = commit(repo, 'left', {'a': '2'})
    right = commit(repo, 'right', {'a': '3'}, parents=[first])
    repository = read(repo)
    assert repository.is_ancestor(first, left)
    assert repository.is_ancestor(left, left)
    assert not repository.is_ancestor(left, first)
    assert not repository.is_ancestor(left, right)


def test_remerge_differences_list_files_that_a_merge_changes_beyond_git(repo: Path) -> None:
    base = commit(repo, 'base', {'a': '1\n', 'b': '1\n', 'c': '1\n'})
    left = commit(repo, 'left', {'a': '2\n'})
    right = commit(repo, 'right', {'b': '2\n'}, parents=[base])
    other = commit(repo, 'other', {'a': '3\n'}, parents=[base])
    clean = commit(repo, 'clean', {'b': '2\n'}, parents=[left, right])
    evil = commit(repo, 'evil', {'b': '2\n', 'c': 'evil\n'}, parents=[left, right])
    resolved = commit(repo, 'resolved', {'a': '2 and 3\n'}, parents=[left, other])
    expected = {clean: (), evil: ('c',), resolved: ('a',)}
    assert read(repo).list_remerge_differences([clean, evil, resolved]) == expected
    assert read(repo).list_remerge_differences([]) == {}
    assert read(repo).list_remerge_differences([evil, '1' * 40]) == {evil: ('c',)}


def test_combined_changes_list_files_that_equal_no_parent(repo: Path) -> None:
    base = commit(repo, 'base', {'a': '1', 'b': '1', 'c': '1'})
    heads = [commit(repo, n, {n: '2'}, parents=[base]) for n in ('a', 'b', 'c')]
    merge = commit(repo, 'octopus', {'b': '2', 'c': 'evil'}, parents=heads)
    assert read(repo).list_combined_changes(merge) == ('c',)


def test_tree_size_is_the_sum_of_its_file_sizes(repo: Path) -> None:
    rev = commit(repo, 'files', {'a': 'x' * 10, 'b/c': 'x' * 10, 'b/d': b'\0' * 5000})
    others = read(repo).tree(rev).keys() - {'a', 'b/c', 'b/d'}
    rest = sum(len(read(repo).load_text(rev, path) or '') for path in others)
    assert read(repo).measure_size(rev) - rest == 5020


def test_materialise_writes_all_files_of_a_commit_with_their_modes(
    repo: Path, tmp_path: Path
) -> None:
    files = {
        '.gitattributes': '*.txt text eol=crlf ident export-subst\nsecret export-ignore\n',
        'a.txt': 'line\n$Id$ $Format:%H$\n',
        'secret': 's',
        'deep/er/run.sh': 'x',
    }
    commit(repo, 'first', files)
    (repo / 'deep/er/run.sh').chmod(0o755)
    rev = commit(repo, 'second', {})
    out = tmp_path / 'out'
    before = os.umask(0o077)
    try:
        read(repo).materialise(rev, out)
    finally:
        os.umask(before)
    oid = git(repo, 'rev-parse', f'{rev}:a.txt')
    assert {str(p.relative_to(out)): p.read_bytes() for p in out.rglob('*') if p.is_file()} == {
        **{name: text.encode() for name, text in files.items()},
        'a.txt': f'line\r\n$Id: {oid} $ $Format:%H$\r\n'.encode(),
    }
    assert (out / 'deep/er/run.sh').stat().st_mode & 0o777 == 0o755
    assert (out / 'a.txt').stat().st_mode & 0o777 == 0o644
    assert (out / 'deep/er').stat().st_mode & 0o777 == 0o755


ATTRIBUTES = """\
*.bat text eol=crlf
wide.txt working-tree-encoding=UTF-16LE-BOM text
odd.txt working-tree-encoding=unknown-encoding text
*.id ident
*.java text
"""


def test_materialise_writes_what_a_checkout_would_write(repo: Path, tmp_path: Path) -> None:
    wide = '\ufeffa\n'.encode('utf-16-le')
    files = {'.gitattributes': ATTRIBUTES, 'a b.bat': 'x\n', 'wide.txt': wide, 'c.id': '$Id$\n'}
    commit(repo, 'first', {**files, 'sub/[x]\u00e9.bat': 'y\n', 'plain.txt': 'x\r\n'})
    (repo / 'odd.txt').write_bytes(b'odd\n')
    odd = git(repo, 'hash-object', '-w', '--no-filters', 'odd.txt')
    git(repo, 'update-index', '--add', '--cacheinfo', f'100644,{odd},odd.txt')
    parent = git(repo, 'rev-parse', 'HEAD')
    rev = commit_tree(repo, 'odd', git(repo, 'write-tree'), parents=[parent])
    read(repo).materialise(rev, tmp_path / 'out')
    oid = git(repo, 'rev-parse', f'{rev}:c.id')
    assert {
        path.relative_to(tmp_path / 'out').as_posix(): path.read_bytes()
        for path in (tmp_path / 'out').rglob('*')
        if path.is_file() and path.name != '.gitattributes'
    } == {
        'a b.bat': b'x\r\n',
        'sub/[x]\u00e9.bat': b'y\r\n',
        'wide.txt': wide,
        'c.id': f'$Id: {oid} $\n'.encode(),
        'odd.txt': b'odd\n',
        'plain.txt': b'x\r\n',
    }


ATTRIBUTES_OF_A_HOST = """\
import sys
from pathlib import Path
from coevo.git.repository import Repository
Path('/etc/gitattributes').write_text('* eol=crlf')
Repository(Path(sys.argv[1])).materialise(sys.argv[2], Path(sys.argv[3]))
"""


@pytest.mark.skipif(shutil.which('bwrap') is None, reason='another /etc needs bubblewrap')
def test_attributes_of_the_host_change_no_file(repo: Path, tmp_path: Path) -> None:
    rev = commit(repo, 'first', {'.gitattributes': '*.bat text\n', 'a.txt': 'a\n'})
    words = ('bwrap', '--dev-bind', '/', '/', '--tmpfs', '/etc', sys.executable, '-c')
    places = (str(repo / '.git'), rev, str(tmp_path / 'out'))
    subprocess.run([*words, ATTRIBUTES_OF_A_HOST, *places], check=True)
    assert (tmp_path / 'out/a.txt').read_bytes() == b'a\n'


def test_materialise_omits_links_that_leave_the_tree(repo: Path, tmp_path: Path) -> None:
    links = {
        'a/file': '../kept',
        'a/dangling': 'nothing',
        'a/folder': 'b',
        'absolute': '/etc/passwd',
        'a/escapes': '../../kept',
        'a/up': '..',
        'a/b/through': '../up/../outside',  # inside by its letters, outside by way of `up`
        'circle': 'circle',
    }
    commit(repo, 'first', {'kept': 'k', 'a/b/x': 'x'})
    for path, target in links.items():
        (repo / path).symlink_to(target)
    rev = commit(repo, 'second', {})
    (tmp_path / 'kept').write_text('never')
    out = tmp_path / 'out'
    read(repo).materialise(rev, out)
    found = {str(path.relative_to(out)) for path in out.rglob('*') if path.is_symlink()}
    assert found == {'a/file', 'a/dangling', 'a/folder', 'a/up', 'circle'}
    assert (out / 'a/file').read_text() == 'k'


def test_materialise_omits_a_link_with_a_too_long_target(repo: Path, tmp_path: Path) -> None:
    rows = b''
    for name, target in ((b'longest', b'x/' * 511 + b'x'), (b'too_long', b'x' * 5000)):
        rows += b'120000 %b\0' % name + bytes.fromhex(write_object(repo, 'blob', target))
    rev = git(repo, 'commit-tree', write_object(repo, 'tree', rows), '-m', 'x')
    read(repo).materialise(rev, tmp_path / 'out')
    assert [path.name for path in (tmp_path / 'out').iterdir()] == ['longest']


@pytest.mark.parametrize('name', ['..', '.git', '.GIT', 'a/b', ''])
def test_a_tree_with_a_forbidden_name_is_corrupt(repo: Path, name: str) -> None:
    blob = write_object(repo, 'blob', b'x')
    entry = b'100644 ' + name.encode() + b'\0' + bytes.fromhex(blob)
    tree = write_object(repo, 'tree', entry)
    rev = git(repo, 'commit-tree', tree, '-m', 'x')
    with pytest.raises(CorruptObject, match=tree):
        read(repo).tree(rev)


def test_tree_with_a_duplicate_name_is_corrupt(repo: Path) -> None:
    blob, folder = write_object(repo, 'blob', b'/etc'), write_object(repo, 'tree', b'')
    link = b'120000 a\0' + bytes.fromhex(blob)
    tree = write_object(repo, 'tree', link + b'40000 a\0' + bytes.fromhex(folder))
    with pytest.raises(CorruptObject):
        read(repo).tree(git(repo, 'commit-tree', tree, '-m', 'x'))


def test_a_corrupt_object_is_named_and_the_rest_can_be_read(repo: Path) -> None:
    rev = commit(repo, 'first', {'bad': 'bad' * 100, 'good': 'good'})
    repository = read(repo)
    tree = repository.tree(rev)
    damage(repo, tree['bad'].oid)
    with pytest.raises(CorruptObject, match=tree['bad'].oid):
        repository.blob(tree['bad'].oid)
    assert repository.blob(tree['good'].oid) == b'good'
    with pytest.raises(CorruptObject, match='1' * 40):
        repository.blob('1' * 40)
    assert repository.load_text(rev, 'good') == 'good'


def test_repository_ignores_replaced_objects_and_user_configuration(
    repo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = commit(repo, 'first', {'a': '1'})
    second = commit(repo, 'second', {'a': '2'})
    git(repo, 'replace', second, first)
    bad = tmp_path / 'config'
    bad.write_text('[core\n')
    monkeypatch.setenv('GIT_CONFIG_GLOBAL', str(bad))
    monkeypatch.setenv('GIT_DIR', str(tmp_path / 'elsewhere'))
    repository = read(repo)
    assert repository.load_text(second, 'a') == '2'
    assert repository.is_ancestor(first, second)
    assert repository.list_remerge_differences([]) == {}


def test_is_ancestor_does_not_depend_on_commit_dates(repo: Path) -> None:
    """Git's own walk from both ends stops where dates let it expect no more."""
    days = [22, 19, 4, 6, 17, 19, 3, 23, 11, 20, 13]
    revs = [
        commit(repo, f'{number}', {'a': f'{number}'}, date=f'2020-01-{day:02d}T00:00:00Z')
        for number, day in enumerate(days)
    ]
    repository = read(repo)
    for number, rev in enumerate(revs):
        assert all(repository.is_ancestor(rev, later) for later in revs[number:])
        assert not any(repository.is_ancestor(rev, earlier) for earlier in revs[:number])


def test_many_threads_share_one_object_reader(repo: Path) -> None:
    rev = commit(repo, 'first', {f'f{number}': f'{number}' * 999 for number in range(50)})
    repository = read(repo)
    tree, reader = repository.tree(rev), ObjectReader(repository.git_dir)
    with ThreadPoolExecutor(8) as pool:
        read_all = pool.map(
            lambda n: reader.read_id_and_content(tree[f'f{n % 50}'].oid), range(400)
        )
        found = [content for _, content in filter(None, read_all)]
    assert found == [(f'{n % 50}' * 999).encode() for n in range(400)]


def test_log_goes_past_a_damaged_commit_by_its_other_branches(repo: Path) -> None:
    root = commit(repo, 'root', {'a': '1'})
    lost = commit(repo, 'lost', {'a': '2'})
    other = commit(repo, 'other', {'b': '1'}, parents=[root])
    head = commit_tree(repo, 'merge', git(repo, 'write-tree'), parents=[lost, other])
    damage(repo, lost)
    found = dict(read(repo).iterate_log(head))
    assert set(found) == {head, lost, other, root}
    assert [rev for rev, header in found.items() if header is None] == [lost]


def test_clone_that_is_gone_gives_an_error_that_names_the_object(tmp_path: Path) -> None:
    """Git ends before it is asked, sometimes before the request is written."""
    for number in range(20):
        with pytest.raises(CorruptObject), closing(Repository(tmp_path / str(number))) as gone:
            gone.header('f' * 40)
