"""Git processes: their environment, and object access through one `git cat-file --batch`."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from coevo.model.errors import Fatal, Transient

# Git's output must depend only on the clone: no configuration or attributes of the user or system,
# no replaced objects, no fetching of missing objects (no protocol is allowed), no prompts.
ENVIRONMENT = {
    'PATH': os.environ.get('PATH', '/usr/bin:/bin'),
    'HOME': '/nonexistent',
    'LC_ALL': 'C',
    'GIT_ALLOW_PROTOCOL': '',
    'GIT_ATTR_NOSYSTEM': '1',
    'GIT_CONFIG_GLOBAL': os.devnull,
    'GIT_CONFIG_NOSYSTEM': '1',
    'GIT_NO_REPLACE_OBJECTS': '1',
    'GIT_NO_LAZY_FETCH': '1',
    'GIT_TERMINAL_PROMPT': '0',
    'GIT_OPTIONAL_LOCKS': '0',
}


class CorruptObject(Fatal):
    """An object is missing or cannot be read."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f'object {name} is missing or corrupt in the clone; delete the clone and run again'
        )


# No deltas and no threads: the bytes of a pack follow from its objects.
STEADY_PACK = (
    *('pack-objects', '--quiet', '--stdout', '--no-reuse-object', '--window=0', '--threads=1'),
)


def run_git(git_dir: Path, *arguments: str, stdin: bytes = b'') -> bytes:
    """Return the output of a Git command.

    Raises: Fatal with the first line of its error output if the command fails.
    """
    return _run_checked(git_dir, arguments, stdin, good=(0,)).stdout


def ask_git(git_dir: Path, *arguments: str) -> bool:
    """Return the answer of a Git command that signals yes by status 0 and no by status 1.

    Raises: Fatal for any other status.
    """
    return _run_checked(git_dir, arguments, b'', good=(0, 1)).returncode == 0


def _run_checked(
    git_dir: Path, arguments: Sequence[str], stdin: bytes, good: Sequence[int]
) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        ['git', f'--git-dir={git_dir}', *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        env=ENVIRONMENT,
    )
    if done.returncode not in good:
        lines = done.stderr.decode('utf-8', 'replace').strip().splitlines()
        raise Fatal(
            f'git {arguments[0]} failed in {git_dir} ({lines[0] if lines else done.returncode}); '
            'if that clone is damaged, delete it and run again'
        )
    return done


def stream_ids_and_contents(git_dir: Path, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (id, content) for many objects in order, without waiting for each request.

    Raises: CorruptObject at the first object that is missing or unreadable; Transient if Git was
    killed.
    """
    with tempfile.TemporaryFile() as request_file:
        wanted = list(names)
        request_file.write(''.join(f'{name}\n' for name in wanted).encode())
        request_file.seek(0)
        with subprocess.Popen(
            ['git', f'--git-dir={git_dir}', 'cat-file', '--batch', '--buffer'],
            stdin=request_file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
        ) as batch:
            try:
                assert batch.stdout is not None
                for name in wanted:
                    yield _parse_next_id_and_content(batch, batch.stdout, name)
            finally:
                batch.kill()


def _parse_next_id_and_content(
    batch: subprocess.Popen[bytes], stdout: IO[bytes], name: str
) -> tuple[str, bytes]:
    header = stdout.readline().split()
    if header and (len(header) != 3 or not header[2].isdigit()):
        raise CorruptObject(name)
    size = int(header[2]) if header else 0
    content = stdout.read(size + 1)
    if not header or len(content) <= size:
        raise _explain_end(batch, name)
    return header[0].decode(), content[:size]


class ObjectReader:
    """Access to the objects of a clone by name; safe from several threads.

    Its Git process starts with the first read and ends on `close` or with the last reference.
    """

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._lock = threading.Lock()
        self._batch: subprocess.Popen[bytes] | None = None
        self._stop: Callable[[], object] | None = None

    def read_id_and_content(self, name: str) -> tuple[str, bytes] | None:
        """Return an object's id and content; None if there is no such object.

        Raises: CorruptObject if it cannot be read; Transient if Git was killed.
        """
        with self._lock:
            batch = self._get_or_start_process()
            assert batch.stdin is not None
            assert batch.stdout is not None
            # Git may have ended already, as in a folder that is gone; then no answer comes.
            with suppress(BrokenPipeError):
                batch.stdin.write(name.encode('utf-8', 'surrogateescape') + b'\n')
                batch.stdin.flush()
            header = batch.stdout.readline().split()
            if header and (len(header) != 3 or not header[2].isdigit()):
                return None  # missing or ambiguous
            size = int(header[2]) if header else 0
            content = batch.stdout.read(size + 1)
            if not header or len(content) <= size:
                self._batch = None
                raise _explain_end(batch, name.removesuffix('^{commit}'))
            return header[0].decode(), content[:size]

    def close(self) -> None:
        """End the process; a later read starts another one."""
        with self._lock:
            self._batch = None
            if self._stop is not None:
                self._stop()

    def _get_or_start_process(self) -> subprocess.Popen[bytes]:
        if self._batch is None:
            self._batch = subprocess.Popen(
                ['git', f'--git-dir={self._git_dir}', 'cat-file', '--batch'],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=ENVIRONMENT,
            )
            self._stop = weakref.finalize(self, _stop_process, self._batch)
        return self._batch


def _explain_end(batch: subprocess.Popen[bytes], name: str) -> RuntimeError:
    """Return the error for a `cat-file` process that ended early.

    It exits with a positive status at an unreadable object. A signal says nothing about the object,
    so that is Transient.
    """
    batch.communicate()
    if batch.returncode > 0:
        return CorruptObject(name)
    return Transient(f'git cat-file ended with status {batch.returncode}; try again')


def _stop_process(batch: subprocess.Popen[bytes]) -> None:
    batch.kill()
    batch.communicate()
