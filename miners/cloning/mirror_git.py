"""Run Git on mirrors, independent of user settings, and record when a mirror was brought up to
date.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Set as AbstractSet
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from coevo.git.objects import LINK
from coevo.git.repository import ENVIRONMENT, CorruptObject, Repository
from coevo.languages.table import get_reading
from coevo.model.errors import Fatal, Transient
from coevo.storage.durable import write_durably

# Run Git on mirrors, independent of user settings, and remove the leftovers of killed runs.

# Git's last words about an error of this machine; lines that begin with `remote: ` come from the
# server.
NO_SPACE = re.compile(
    r'^(?!remote: ).*: (No space left on device|Disk quota exceeded|Cannot allocate memory)$',
    re.MULTILINE,
)

ORIGIN = 'remote.origin.url'

_OPTIONS = (
    *('-c', 'gc.auto=0', '-c', 'core.hooksPath=/dev/null', '-c', 'fetch.unpackLimit=1'),
    *('-c', 'fetch.recurseSubmodules=false'),
)

# `setpriv` is part of util-linux. Git's own children end once their pipes to Git are closed.
_LEASH = ('setpriv', '--pdeathsig=KILL', '--') if shutil.which('setpriv') else ()


class DamagedMirror(Fatal):
    """Git failed on the content of a mirror."""


def run_checked_git(
    git_dir: Path,
    *arguments: str,
    environment: Mapping[str, str] = ENVIRONMENT,
    stdin: str = '',
    lock: int | None = None,
) -> str:
    """Run a command on the mirror and return its output.

    Raises: Transient if the disk or memory is full; DamagedMirror for every other failure.
    """
    done = run_git(git_dir, *arguments, environment=environment, stdin=stdin, lock=lock)
    if done.returncode:
        raise _make_error(git_dir, arguments[0], done.stderr)
    return done.stdout


def stream_git(
    git_dir: Path, *arguments: str, stdin: IO[bytes], stdout: IO[bytes] | None = None
) -> None:
    """Run a Git command on the mirror with files as its input and output.

    Without `stdout` the output is discarded. Raises: as `git` does.
    """
    done = subprocess.run(
        ['git', f'--git-dir={git_dir}', *arguments],
        stdin=stdin,
        stdout=stdout or subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        check=False,
    )
    if done.returncode:
        raise _make_error(git_dir, arguments[0], done.stderr.decode('utf-8', 'replace'))


def _make_error(git_dir: Path, command: str, complaint: str) -> RuntimeError:
    if NO_SPACE.search(complaint):
        return Transient(
            f'{git_dir} cannot be written (git {command}: {complaint.strip()}); make room there'
        )
    return DamagedMirror(f'{git_dir} is damaged ({complaint.strip()}); delete it and run again')


def run_git(
    git_dir: Path | None,
    *arguments: str,
    environment: Mapping[str, str],
    stdin: str = '',
    lock: int | None = None,
    file_bytes: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run Git to its end and return the process, whatever its status.

    Git is killed if this process is.

    lock        a descriptor that Git inherits, so that a lock is held until the last holder has
                ended
    file_bytes  the maximal size of one file; a process that writes more is ended
    """
    where = [f'--git-dir={git_dir}'] if git_dir else []
    limit = [] if file_bytes is None else ['prlimit', f'--fsize={file_bytes}', '--']
    with subprocess.Popen(
        [*_LEASH, *limit, 'git', *where, *_OPTIONS, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding='utf-8',
        errors='surrogateescape',
        env=environment,
        cwd='/',
        pass_fds=() if lock is None else (lock,),
        start_new_session=True,
    ) as process:
        try:
            output, complaint = process.communicate(stdin)
        except BaseException:
            with suppress(ProcessLookupError):  # the process may have ended already
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, output, complaint)


def load_origin(git_dir: Path) -> str:
    """Return the address from which a mirror was fetched."""
    return run_checked_git(git_dir, 'config', ORIGIN).strip()


def list_refs(git_dir: Path) -> dict[str, str]:
    """Return all refs of a mirror with the ids of their objects, those of coevo included."""
    listing = run_checked_git(git_dir, 'for-each-ref', '--format=%(refname) %(objectname)')
    # Not `splitlines`: names of refs may contain characters that Unicode counts as line ends.
    lines = (line.rpartition(' ') for line in listing.split('\n')[:-1])
    return {ref: oid for ref, _, oid in lines}


def find_missing_objects(
    git_dir: Path, oids: AbstractSet[str], environment: Mapping[str, str] = ENVIRONMENT
) -> set[str]:
    """Return those of the objects that the mirror lacks."""
    oid_lines = ''.join(f'{oid}\n' for oid in sorted(oids))
    asking = ('cat-file', '--batch-check=%(objectname)')
    answer = run_checked_git(git_dir, *asking, environment=environment, stdin=oid_lines)
    return {line.split()[0] for line in answer.splitlines() if line.endswith(' missing')}


def remove_stale_files(git_dir: Path) -> None:
    """Remove what a killed fetch left; the caller must hold the lock of the mirror."""
    stale = [*git_dir.glob('*.lock'), *(git_dir / 'refs').rglob('*.lock')]
    for path in (*stale, *(git_dir / 'objects' / 'pack').glob('tmp_*')):
        path.unlink(missing_ok=True)


def count_bytes(folder: Path) -> int:
    """Return the total size of the files in a folder, in bytes."""
    return sum(path.lstat().st_size for path in folder.rglob('*') if not path.is_dir())


# Record when a clone was last brought to the state of its refs, and measure its code.

CRAWL = 'coevo-crawl.json'

# coevo's own refs to commits that the clone has anyway: a release is no crawl.
_RELEASED = b'\trefs/coevo/released/'


def record_clone_refs(repository: Repository) -> None:
    """Record the present time and the refs of a clone, unless its last record has the same refs."""
    listing = repository.run_command('for-each-ref').splitlines(keepends=True)
    refs = hashlib.sha256(b''.join(x for x in listing if _RELEASED not in x)).hexdigest()
    file = repository.git_dir / CRAWL
    if file.exists() and _load_record(file)['refs'] == refs:
        return
    now = datetime.now(tz=UTC).replace(microsecond=0)
    write_durably(file, [json.dumps({'crawled_at': now.isoformat(), 'refs': refs}).encode()])


def load_crawl_time(git_dir: Path) -> datetime:
    """Return the time at which the refs of a clone were last recorded.

    Raises: Fatal if they never were.
    """
    file = git_dir / CRAWL
    if not file.exists():
        raise Fatal(f'{git_dir} has no record of its crawl: mine its repository again')
    return datetime.fromisoformat(_load_record(file)['crawled_at'])


def list_clone_refs(repository: Repository) -> tuple[tuple[str, str], ...]:
    """Return the refs of a clone as (name, object id), in the order of names."""
    listing = repository.run_command('for-each-ref', '--format=%(objectname) %(refname)')
    lines = (os.fsdecode(line).partition(' ') for line in listing.splitlines())
    return tuple(sorted((name, oid) for oid, _, name in lines))


def _load_record(file: Path) -> dict[str, str]:
    record: dict[str, str] = json.loads(os.fsdecode(file.read_bytes()))
    return record


def count_source_files_and_lines(
    repository: Repository, rev: str, language: str
) -> tuple[int, int] | None:
    """Return the number of source files and of their lines; None if an object cannot be read.

    Lines include blank ones and comments. TestEvo-Bench, Table 5, has the means of both.
    """
    suffixes = get_reading(language).SUFFIXES
    files = lines = 0
    try:
        for path, entry in repository.tree(rev).items():
            if path.endswith(suffixes) and entry.mode != LINK:
                content = repository.blob(entry.oid)
                files += 1
                lines += content.count(b'\n') + (content[-1:] not in (b'', b'\n'))
    except CorruptObject:
        return None
    return files, lines
