"""Start states as commits: everything at the new revision with the start file, and nothing else.

The tree of the new revision contains gold, so it is never built or checked out. Instead, a commit
in a repository of coevo's own is built. That repository borrows the objects of a clone and is never
mounted into a sandbox.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from coevo.evaluation.judging.application import apply_released_patch, undo_patch
from coevo.evaluation.judging.unified_diffs import list_patched_files
from coevo.git.patches import quote_path
from coevo.git.process import ask_git, run_git
from coevo.git.repository import Repository, load_content
from coevo.model.quality import SiblingState, SiblingTargets
from coevo.model.records import Pair
from coevo.model.task_rows import TaskRow
from coevo.starts.isolated_cells import Files, add_file
from coevo.storage.beneath import join_beneath
from coevo.storage.bounded_reading import UnreadableContent, parse_json

_BYTES = 'base64'
_MOST_VALUES = 100_000


def encode_files_as_json(files: Iterable[tuple[str, bytes | None]]) -> str:
    """Return files as JSON: the text of each path, null for an absent file, or its bytes."""
    return json.dumps({path: _encode(content) for path, content in files}, sort_keys=True)


def _encode(content: bytes | None) -> object:
    if content is None:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {_BYTES: base64.b64encode(content).decode()}


def decode_files_from_json(text: str) -> Files:
    """Return the files that `encode_files_as_json` encoded, sorted by path; None is an absent file.

    Raises: ValueError if the text is not in that form.
    """
    try:
        parsed = parse_json(text.encode(), most_values=_MOST_VALUES)
    except UnreadableContent:
        parsed = None
    if not isinstance(parsed, dict):
        raise ValueError('they are no JSON object')  # noqa: TRY004  of the form, not of a type
    return tuple(sorted((path, _decode(value)) for path, value in parsed.items()))


def _decode(value: object) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict) and set(value) == {_BYTES} and isinstance(value[_BYTES], str):
        try:
            return base64.b64decode(value[_BYTES], validate=True)
        except binascii.Error:
            pass
    raise ValueError('a file is neither text nor base64')


def restore_sibling_files(
    repository: Repository, new_rev: str, own: str, siblings: Iterable[SiblingTargets], patch: str
) -> Files:
    """Return the test files in which a start state differs from the new revision, without its own.

    They are made from the files at new by the snapshot's sibling patch. Files whose siblings stay
    are left out. Snapshots of a schema before 1.2 have none.
    own  the path of the task's own test file
    Raises: ValueError if the patch does not fit.
    """
    paths = {
        sibling.test_file for sibling in siblings if sibling.undone is not SiblingState.STAYS
    } - {own}
    contents = {path: load_content(repository, new_rev, path) for path in paths}
    return tuple(sorted(apply_released_patch(patch, contents).items()))


_NOBODY = 'coevo <coevo@localhost>'
# What has a meaning in a pattern of `.gitattributes`.
_GLOB = re.compile(r'[][*?\\]')

_PLAIN_FILE = '100644'


class StartStateLost(ValueError):
    """The start file cannot be made from the snapshot and the clone."""


def restore_start_file(repository: Repository, task: TaskRow) -> bytes | None:
    """Return the test file of the start state (None if absent) by undoing gold's patch.

    An edition that withholds gold has the file itself.

    Raises: StartStateLost if that fails or the checksum differs.
    """
    new = load_content(repository, task.new_rev, task.test_file)
    if task.start_files is not None:
        start = dict(_decode_start_files(task)).get(task.test_file, new)
    else:
        try:
            start = undo_patch(task.test_patch, task.test_file, new)
        except ValueError as error:
            raise StartStateLost(f'the gold patch cannot be undone: {error}') from None
    digest = None if start is None else hashlib.sha256(start).hexdigest()
    if digest != task.start_file_sha256:
        raise StartStateLost(f'the start file has the checksum {digest}')
    return start


def collect_files_differing_at_start(
    repository: Repository, task: TaskRow, start: bytes | None
) -> Files:
    """Return all test files that differ from the new revision; the task's own file is `start`.

    Raises: StartStateLost if the siblings cannot be undone.
    """
    if task.start_files is not None:
        others = tuple(each for each in _decode_start_files(task) if each[0] != task.test_file)
        return add_file(others, task.test_file, start)
    siblings, patch = task.siblings or (), task.sibling_patch or ''
    try:
        others = restore_sibling_files(repository, task.new_rev, task.test_file, siblings, patch)
    except ValueError as error:
        raise StartStateLost(f'siblings cannot be undone: {error}') from None
    files = add_file(others, task.test_file, start)
    code = (
        (path, load_content(repository, task.old_rev, path))
        for path in list_code_files_changed_by_gold(task)
    )
    return tuple(sorted((*files, *code))) if task.asks_for_code else files


def _decode_start_files(task: TaskRow) -> Files:
    try:
        return decode_files_from_json(task.start_files or '')
    except ValueError as error:
        raise StartStateLost(f'the files of the start state are damaged: {error}') from None


def list_code_files_changed_by_gold(task: TaskRow) -> tuple[str, ...]:
    """Return the files of the code that gold changes, sorted; () unless the task asks for code.

    In an edition that withholds gold, they are the files of the start state that are no tests.

    Raises: StartStateLost if these are damaged.
    """
    if not task.asks_for_code:
        return ()
    if task.start_files is None:
        return list_patched_files(task.source_patch)
    tests = {task.test_file, *(sibling.test_file for sibling in task.siblings or ())}
    return tuple(path for path, _ in _decode_start_files(task) if path not in tests)


class StartStates:
    """A bare repository with a root commit for each start state; for one thread at a time."""

    def __init__(self, source: Repository, folder: Path) -> None:
        """Create the repository below `folder`, borrowing the objects of `source`."""
        self.source = source
        git_dir = folder / 'start.git'
        run_git(git_dir, 'init', '--quiet', '--bare', '--template=', str(git_dir))
        borrowed = git_dir / 'objects' / 'info' / 'alternates'
        borrowed.parent.mkdir(exist_ok=True)
        borrowed.write_text(f'{(source.git_dir / "objects").absolute()}\n')
        self.repository = Repository(git_dir)

    def commit(self, task: TaskRow, start: bytes | None) -> str:
        """Write the start state of a task as a commit without parents, and return its hash.

        The commit has the dates of the new revision.
        Raises: StartStateLost if its siblings cannot be undone.
        """
        files = collect_files_differing_at_start(self.source, task, start)
        tree = self.source.header(task.new_rev).tree
        return self._import_commit(f'refs/start/{task.task_id}', task, tree, files)

    def commit_code(self, task: TaskRow, name: str, start_rev: str, code: Files) -> str:
        """Write the start state of a task with other files of the code, and return its hash.

        name       of the ref; a later commit of the same name replaces the ref
        start_rev  what `commit` returned for the start state
        code       the files by path; None is an absent file
        """
        tree = self.repository.header(start_rev).tree
        return self._import_commit(f'refs/{name}/{task.task_id}', task, tree, code)

    def make_pair(self, task: TaskRow, old: str, new: str) -> Pair:
        """Return two commits of a task as a pair to build."""
        commit = self.repository.get_commit
        return Pair(
            repo=task.repo,
            language=task.language,
            walk=task.walk,
            old=commit(old),
            new=commit(new),
            old_is_ancestor=False,
        )

    def _import_commit(self, ref: str, task: TaskRow, tree: str, files: Files) -> str:
        stream = b''.join(self._make_import_stream(ref, task, tree, files))
        self.repository.run_command('fast-import', '--quiet', '--force', stdin=stream)
        return self.repository.run_command('rev-parse', '--verify', ref).decode().strip()

    def _make_import_stream(
        self, ref: str, task: TaskRow, tree: str, files: Files
    ) -> Iterator[bytes]:
        header = self.source.header(task.new_rev)
        dates = (header.author_seconds, header.committer_seconds)
        author, committer = (max(0, seconds or 0) for seconds in dates)
        yield (
            f'commit {ref}\nauthor {_NOBODY} {author} +0000\n'
            f'committer {_NOBODY} {committer} +0000\ndata 0\nM 040000 {tree} \n'
        ).encode()
        trees = [self.source.tree(rev) for rev in (task.new_rev, task.old_rev)]
        for name, text in files:
            path = quote_path(name, always=True).encode()
            if text is None:
                yield b'D %b\n' % path
                continue
            entry = next((entries[name] for entries in trees if name in entries), None)
            mode = entry.mode if entry else _PLAIN_FILE
            yield b'M %b inline %b\ndata %d\n%b\n' % (mode.encode(), path, len(text), text)


def create_fresh_repository(
    repository: Repository, rev: str, folder: Path, *, plain: Collection[str] = ()
) -> None:
    """Check a commit out as a repository that has nothing else: no history, no other refs.

    Its `git status` is clean, so that `git diff` prints what is edited and nothing else. Files that
    Git would see as edited at once, because their blobs are not what `.gitattributes` says, have
    the bytes of their blobs and no attributes.

    folder  a folder that does not exist yet, at a place where nothing untrusted may have run
    plain   further files that get the bytes of their blobs and no attributes
    """
    repository.materialise(rev, folder)
    for path in repository.list_submodules(rev):
        join_beneath(folder, path).make_folder()
    objects = repository.run_command('rev-list', '--objects', '--no-object-names', rev)
    git_dir = folder / '.git'
    run_git(git_dir, 'init', '--quiet', '--template=', '--initial-branch=main', str(folder))
    run_git(git_dir, 'config', 'core.autocrlf', 'false')
    pack = repository.run_command('pack-objects', '--quiet', '--stdout', stdin=objects)
    run_git(git_dir, 'index-pack', '--stdin', stdin=pack)
    (git_dir / 'refs' / 'heads' / 'main').write_text(f'{rev}\n')
    run_git(git_dir, f'--work-tree={folder}', 'read-tree', 'HEAD')
    edited = _list_edited_files(git_dir, folder)
    edited += [path for path in plain if path in repository.tree(rev) and path not in edited]
    if edited:
        _write_without_attributes(repository, rev, folder, edited)
        left = b''.join(
            path.encode('utf-8', 'surrogateescape') + b'\0'
            for path in _list_edited_files(git_dir, folder)
        )
        # What is still missing are links that lead out of the folder.
        hide = ('update-index', '--skip-worktree', '-z', '--stdin')
        run_git(git_dir, f'--work-tree={folder}', *hide, stdin=left)


def _list_edited_files(git_dir: Path, folder: Path) -> list[str]:
    """Return the files of a work tree that Git sees as edited or missing."""
    work_tree_option = f'--work-tree={folder}'
    ask_git(git_dir, work_tree_option, 'update-index', '-q', '--refresh')
    listing = run_git(git_dir, work_tree_option, 'diff-files', '-z', '--name-only')
    return listing.decode('utf-8', 'surrogateescape').split('\0')[:-1]


def _write_without_attributes(
    repository: Repository, rev: str, folder: Path, paths: Sequence[str]
) -> None:
    """Write files as their blobs, and take all attributes that convert them away."""
    patterns = []
    for path in paths:
        entry = repository.tree(rev)[path]
        if stat.S_ISREG(int(entry.mode, 8)):
            mode = 0o755 if int(entry.mode, 8) & 0o100 else 0o644
            join_beneath(folder, path).replace_file(repository.blob(entry.oid), mode)
            pattern = quote_path(_GLOB.sub(r'\\\g<0>', f'/{path}'), always=True)
            patterns.append(f'{pattern} -text -eol -crlf -ident -working-tree-encoding -filter\n')
    info = folder / '.git' / 'info'
    info.mkdir(exist_ok=True)
    (info / 'attributes').write_text(''.join(patterns), errors='surrogateescape')
