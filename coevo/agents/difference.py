"""Make the patch from a start state to the files that an agent left, from their contents alone.

Git compares two trees that coevo writes, never a folder that the agent could write to. So Git
attributes and settings of the agent have no effect.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from coevo.git.patches import make_tree_patch, quote_path
from coevo.git.repository import Repository

PLAIN, EXECUTABLE = '100644', '100755'
"""Git's modes of regular files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitFile:
    """A file as Git stores it.

    The mode is 100644, 100755, or 120000 for a link, whose content is its target.
    """

    mode: str
    content: bytes


Ends = tuple[GitFile | None, GitFile | None]
"""A file at the start and at the end; None if it is absent."""


def make_patch(files: Mapping[str, Ends]) -> str:
    """Return a patch for `git apply`, given files by path; empty if none differs."""
    changed = {path: ends for path, ends in sorted(files.items()) if ends[0] != ends[1]}
    if not changed:
        return ''
    with (
        tempfile.TemporaryDirectory(prefix='coevo-') as folder,
        closing(Repository(Path(folder))) as scratch,
    ):
        scratch.run_command('init', '--quiet', '--bare', '--template=', '--object-format=sha1')
        scratch.run_command('fast-import', '--quiet', stdin=b''.join(_format_commits(changed)))
        return make_tree_patch(scratch, 'refs/heads/0', 'refs/heads/1', changed.keys())


def _format_commits(files: Mapping[str, Ends]) -> Iterator[bytes]:
    """Yield input for `git fast-import`: a branch with the files at the start, one with the end."""
    for branch in (0, 1):
        yield f'commit refs/heads/{branch}\ncommitter a <a> 0 +0000\ndata 0\n'.encode()
        for path, ends in files.items():
            end = ends[branch]
            if end is not None:
                yield f'M {end.mode} inline {quote_path(path, always=True)}\n'.encode()
                yield b'data %d\n%b\n' % (len(end.content), end.content)
