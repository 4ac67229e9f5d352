"""Files as a checkout writes them: `.gitattributes` may ask for other line ends, another encoding
or `$Id$` filled in.

Git itself converts. Filters that are programs are not run: a clone has no configuration of any.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from coevo.git.process import ENVIRONMENT
from coevo.storage.beneath import join_beneath

ATTRIBUTES = '.gitattributes'

# Attributes by which a checked-out file differs from its blob, with the values that change nothing.
_CHANGING = {
    'eol': ('unspecified', 'unset', 'lf'),
    'working-tree-encoding': ('unspecified', 'unset', 'set'),
    'ident': ('unspecified', 'unset'),
    'crlf': ('unspecified', 'unset', 'set', 'input'),
}


def load_files_changed_by_checkout(
    git_dir: Path, rev: str, paths: Collection[str]
) -> Mapping[str, bytes]:
    """Return the files of a commit whose bytes a checkout changes, with the bytes that it writes.

    A file that Git cannot convert, such as one with an unknown encoding, is left out. So are all
    files of a tree that Git refuses to check out.
    paths  the files of the commit that may be read
    """
    if not any(path.rpartition('/')[2] == ATTRIBUTES for path in paths):
        return {}
    with tempfile.TemporaryDirectory() as scratch:
        checkout = _Checkout(git_dir, Path(scratch))
        checkout.run_ignoring_failure('read-tree', rev)
        wanted = checkout.list_files_to_convert(paths)
        checkout.run_ignoring_failure(
            'checkout-index', '-q', '-z', '--stdin', stdin=_join_with_nuls(wanted)
        )
        return dict(checkout.load_files(wanted))


class _Checkout:
    """An index and a work tree of their own, for a clone that has neither."""

    def __init__(self, git_dir: Path, scratch: Path) -> None:
        self._git_dir, self._index, self._folder = git_dir, scratch / 'index', scratch / 'tree'
        self._folder.mkdir()

    def run_ignoring_failure(self, *arguments: str, stdin: bytes = b'') -> bytes:
        """Run a Git command on the index and work tree of the checkout, and return its output.

        A failure is ignored.
        """
        return subprocess.run(
            ['git', f'--git-dir={self._git_dir}', f'--work-tree={self._folder}', *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            env={**ENVIRONMENT, 'GIT_INDEX_FILE': str(self._index)},
            cwd=self._folder,
        ).stdout

    def list_files_to_convert(self, paths: Collection[str]) -> list[str]:
        """Return the files that have an attribute by which a checkout changes them."""
        names = ('check-attr', '--cached', '-z', '--stdin', *_CHANGING)
        listing = self.run_ignoring_failure(*names, stdin=_join_with_nuls(paths)).decode(
            'utf-8', 'surrogateescape'
        )
        fields = listing.split('\0')[:-1]
        rows = zip(fields[::3], fields[1::3], fields[2::3], strict=True)
        return list(dict.fromkeys(p for p, name, value in rows if value not in _CHANGING[name]))

    def load_files(self, paths: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the path and content of those files that Git wrote as regular files."""
        for path in paths:
            file = join_beneath(self._folder, path).path
            if file.is_file() and not file.is_symlink():
                yield path, file.read_bytes()


def _join_with_nuls(paths: Iterable[str]) -> bytes:
    return b''.join(path.encode('utf-8', 'surrogateescape') + b'\0' for path in paths)
