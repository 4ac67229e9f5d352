"""The patch of an agent that wrote code, made of the folder that it left.

The folder is an agent's: no link in it is followed, nothing of it is run, and what is read is
bounded. Only files that a patch may change are compared with the start state.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from coevo.agents.difference import PLAIN, Ends, GitFile, make_patch
from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.clones import open_task_repository
from coevo.evaluation.implement.patches import StartCode, open_start_code
from coevo.evaluation.judging.application import MOST_BYTES
from coevo.evaluation.judging.start_states import StartStates, restore_start_file

# Files of the folder that are looked at: a build may have left many.
_MOST_FILES = 200_000
_MOST_IN_ALL = 16 << 20


def make_folder_patch(folder: Path, snapshot: str, store: Path, task_id: str) -> bytes:
    """Return the patch from the start state of a task to the code in a folder.

    Files whose content is larger than a patch may be are left as they are at the start.
    """
    (assignment,) = load_assignments(snapshot, {task_id})
    task = assignment.task
    with (
        tempfile.TemporaryDirectory(prefix='coevo-') as scratch,
        open_task_repository([task], store) as repository,
    ):
        states = StartStates(repository, Path(scratch))
        with closing(states.repository):
            rev = states.commit(task, restore_start_file(repository, task))
            files = dict(_compare_files(folder, open_start_code(states, task, rev)))
    return make_patch(files).encode('utf-8', 'surrogateescape')


def _compare_files(folder: Path, code: StartCode) -> Iterator[tuple[str, Ends]]:
    # A checkout may have written a file with other line ends.
    checked_out = code.repository.load_converted_files(code.rev)
    size, there = 0, set()
    for number, path in enumerate(_list_files(folder)):
        if number == _MOST_FILES:
            return  # what was not looked at stays as it is at the start
        if not code.is_code(path):
            continue
        there.add(path)
        content, start = load_submission(folder / path), _load_start_file(code, path)
        if content is None or len(content) > MOST_BYTES:
            continue
        if start is not None and content in (start.content, checked_out.get(path)):
            continue
        size += len(content)
        if size > _MOST_IN_ALL:
            return
        yield path, (start, GitFile(mode=start.mode if start else PLAIN, content=content))
    for path in code.list_files():
        if path not in there:
            yield path, (_load_start_file(code, path), None)


def _load_start_file(code: StartCode, path: str) -> GitFile | None:
    """Return a file of the start state; None if it is absent there."""
    entry = code.tree.entries.get(path)
    if entry is None:
        return None
    return GitFile(mode=entry.mode, content=code.repository.blob(entry.oid))


def _list_files(folder: Path) -> Iterator[str]:
    """Yield the paths of the files of a folder, without Git's own."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != '.git')
        for name in sorted(names):
            yield Path(parent, name).relative_to(folder).as_posix()


def load_submission(path: Path) -> bytes | None:
    """Return the bytes of a regular file; None if there is none, or if it is a link.

    One byte beyond the limit is read, so that the grader refuses a larger file.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, 'rb') as file:
        return file.read(MOST_BYTES + 1)
