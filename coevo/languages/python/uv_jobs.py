"""Run uv in a sandbox, to resolve requirements to exact versions and to install these.

Requirements, index pages and packages are untrusted. uv reads them in a sandbox without files of
the host and without any network but `index_proxy.py`. It never builds anything (`--no-build`):
packages without a wheel are handled by `wheels.py`. Whether coevo itself prevented an answer is
known from the proxy; uv's messages do not decide that.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

from coevo.languages.python import uv
from coevo.languages.python.index_proxy import IndexProxy
from coevo.languages.python.interpreters import (
    PACKAGES,
    Interpreter,
    fingerprint_program,
    get_library_variables,
    get_sandbox_program,
    is_open_to_all,
    list_interpreter_mounts,
)
from coevo.languages.python.package_index import get_machine_index
from coevo.languages.python.site_folder import DATE, SiteFault, unpack_packages
from coevo.model.errors import Transient
from coevo.sandboxes.job import WORK_FOLDER
from coevo.sandboxes.process import Process
from coevo.sandboxes.read_only_proxy import serve_job
from coevo.sandboxes.sandbox import Job, Limits, Mount, Sandbox
from coevo.storage.disk import find_cache_folder
from coevo.storage.durable import UNFINISHED

_UV, _WHEELS, _LINKS = '/in/uv', '/in/wheels', '/in/links'
_LIST, _PINS = 'requirements.txt', 'pins.txt'

# The proxy answers only when it has a whole file. Failed requests are repeated.
_SETTINGS = {
    'UV_HTTP_TIMEOUT': '1800',
    'UV_PYTHON_DOWNLOADS': 'never',
    'PYTHONHASHSEED': '0',  # it fixes the order of sets in byte code
}
# The machine's own setting for which index counts if several have a package.
_KEPT = ('UV_INDEX_STRATEGY',)

# A job first prints uv's exit status, and the sizes in bytes of the two texts that follow.
_HEAD = re.compile(rb'(\d{1,3}) (\d{1,9}) (\d{1,9})\n')
_HEAD_BYTES = 32
_SAID_BYTES = 8 << 20
# The exit status of a uv that was killed, but not by one of coevo's limits: the machine ran out of
# memory.
_KILLED = 128 + signal.SIGKILL
_LOCKED = re.compile(r'([A-Za-z0-9][\w.-]*==[\w.+!-]+|    --hash=\w+:[0-9a-f]+)( \\)?', re.ASCII)

RESOLVING = Limits(
    cpu_seconds=300.0,
    wall_seconds=1800.0,
    memory_bytes=4 << 30,
    processes=256,
    file_bytes=1 << 30,
    disk_bytes=2 << 30,
    bounds_addresses=False,
)
_INSTALLING = Limits(
    cpu_seconds=1800.0,
    wall_seconds=5400.0,
    memory_bytes=4 << 30,
    processes=256,
    file_bytes=4 << 30,
    disk_bytes=8 << 30,
    bounds_addresses=False,
)

_READ = """\
while read -r line && [ -n "$line" ]; do export "$line"; done
mkdir in site
touch .coevo-end
tar -x -f - -C in
cd in
status=0
"""
_ASK = f"""\
"$@" < {_LIST} > ../out 2> ../err || status=$?
"""
_TELL = f"""\
tail -c {_SAID_BYTES} ../err > ../said
echo $status $(wc -c < ../out) $(wc -c < ../said)
cat ../out ../said
"""
# A file that does not compile is left to its importer. uv could compile, too, but not for Python
# 3.6, and it fails at files of Python 2.
_HAND_OVER = f"""\
[ $status = 0 ] || exit 0
find ../site -exec touch -h -d @{DATE} {{}} +
"$PYTHON" -I -S -m compileall -q -d {PACKAGES} ../site > ../compiled 2>&1 || true
tar -c -f - --hard-dereference -C ../site . -C .. .coevo-end
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class UvFailure:
    """Why uv failed, for a reason that lies in the requirements or packages.

    output    uv's messages
    exceeded  the limit that it was killed for: 'cpu', 'wall', 'memory'; None if it ended by itself
    """

    output: str = ''
    exceeded: str | None = None


def compile_requirements(
    sandbox: Sandbox,
    requirements: Sequence[str],
    interpreter: Interpreter,
    before: datetime,
    *,
    apart: Mapping[str, datetime] | None = None,
    wheels: Path | None = None,
    pins: Sequence[str] = (),
    limits: Limits = RESOLVING,
) -> str | UvFailure:
    """Resolve requirements by uv in a sandbox; return lines of NAME==VERSION with hashes, sorted.

    A UvFailure is returned if there is no solution, if a limit is exceeded, or if a package would
    not come from an index.

    before  later uploads are ignored; some names have a date of their own (`apart`)
    wheels  a folder of wheels to use beside the index
    pins    versions of packages, if anything requires these

    Raises:
        Transient: the index cannot be reached
    """
    words = ['pip', 'compile', '-', *_list_common_options(interpreter)]
    words += ['--generate-hashes', '--no-annotate', '--no-header']
    words += ['--exclude-newer', _format_date(before)]
    for name, date in sorted((apart or {}).items()):
        words += ['--exclude-newer-package', f'{name}={_format_date(date)}']
    if pins:
        words += ['--constraints', _PINS]
    job = _make_job(words, interpreter, wheels, _READ + _ASK + _TELL, limits)
    files = {_LIST: '\n'.join(requirements), _PINS: '\n'.join(pins)}
    done = _run_uv(sandbox, job, files)
    if isinstance(done, str) and not all(map(_LOCKED.fullmatch, done.splitlines())):
        return UvFailure(output='a requirement has no version of an index')  # but a URL or a path
    return done


def install_packages(
    sandbox: Sandbox,
    locked: str,
    interpreter: Interpreter,
    target: Path,
    wheels: Path | None = None,
) -> UvFailure | None:
    """Install a list into an empty folder by uv in a sandbox, with hashes and byte code.

    The hashes are checked, and all files are compiled. Return None, or why uv failed.

    wheels  a folder of wheels to use beside the index

    Raises:
        Transient: the index cannot be reached
    """
    words = [
        'pip',
        'install',
        '-r',
        '-',
        '--target',
        '../site',
        '--no-deps',
        *_list_common_options(interpreter),
    ]
    words += ['--require-hashes', '--link-mode', 'hardlink']
    job = _make_job(words, interpreter, wheels, _READ + _ASK + _TELL + _HAND_OVER, _INSTALLING)
    shared = find_cache_folder() / 'pythons/files'
    done = _run_uv(
        sandbox, job, {_LIST: locked}, lambda stream: unpack_packages(stream, target, shared)
    )
    return done if isinstance(done, UvFailure) else None


def _make_job(
    words: Sequence[str], interpreter: Interpreter, wheels: Path | None, script: str, limits: Limits
) -> Job:
    folders = {_WHEELS: wheels} if wheels is not None else {}
    folders |= _map_link_folders(get_machine_index().sources)
    mounts = [
        Mount(source=_ensure_uv_for_any_user(), target=_UV),
        *list_interpreter_mounts(interpreter),
    ]
    return Job(
        argv=('/bin/sh', '-c', script, 'sh', _UV, *words),
        limits=limits,
        mounts=(*mounts, *(Mount(source=folder, target=name) for name, folder in folders.items())),
        environment={
            **get_library_variables(interpreter),
            **_SETTINGS,
            **{name: os.environ[name] for name in _KEPT if name in os.environ},
            'PYTHON': get_sandbox_program(interpreter),
        },
        cwd=WORK_FOLDER,
    )


def _map_link_folders(sources: uv.IndexSources) -> dict[str, Path]:
    return {f'{_LINKS}{number}': folder for number, folder in enumerate(sources.folders)}


def _list_common_options(interpreter: Interpreter) -> Iterator[str]:
    yield from ('--python', get_sandbox_program(interpreter), '--no-build', '--no-config')
    yield from ('--no-progress', '--color', 'never', '--cache-dir', '../cache')


def _format_date(date: datetime) -> str:
    return date.strftime('%Y-%m-%dT%H:%M:%SZ')


def _run_uv(
    sandbox: Sandbox,
    job: Job,
    files: Mapping[str, str],
    take: Callable[[IO[bytes]], None] | None = None,
) -> str | UvFailure:
    """Run uv in a sandbox with the proxy; return what it prints, or why it failed.

    take  reads the further output of a successful job; it may raise SiteFault and TarError

    Raises:
        Transient: a request could not be answered, or the job ended abnormally
    """
    proxy = IndexProxy(get_machine_index())
    answer: _UvAnswer | None = None
    fault: str | None = None
    with sandbox.start(job) as process:
        with serve_job(
            process, proxy.answer_get, proxy.answer_head, ends_at_trouble=True
        ) as served:
            folders = [
                mount.target for mount in job.mounts if mount.target.startswith((_WHEELS, _LINKS))
            ]
            _send_input(process, proxy.make_uv_variables(served.url, folders), files)
            try:
                answer = _receive_answer(process.stdout)
                if answer is not None and not answer.status and take is not None:
                    take(process.stdout)
            except SiteFault as error:
                fault = str(error)
            except tarfile.TarError:
                answer = None
            waits = proxy.is_waiting
            process.kill()
        served.raise_trouble_if_any()
        if process.exceeded == 'wall' and waits:
            raise Transient('the package index does not answer in time')
        if process.exceeded is not None or fault is not None:
            return UvFailure(output=fault or '', exceeded=process.exceeded)
        if answer is None or answer.status == _KILLED:
            raise Transient(
                f'uv ended without an answer: {process.get_last_error_output().strip()[-500:]}'
            )
    if answer.status:
        return UvFailure(output=answer.errors.replace(served.url, ''))
    return answer.printed


@dataclass(frozen=True, slots=True, kw_only=True)
class _UvAnswer:
    status: int
    printed: str
    errors: str


def _send_input(process: Process, variables: Mapping[str, str], files: Mapping[str, str]) -> None:
    """Send a job the variables and files for its script, unless it has already ended."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode='w') as packed:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode(errors='replace'))
            packed.addfile(member, io.BytesIO(text.encode(errors='replace')))
    lines = ''.join(f'{name}={text}\n' for name, text in variables.items())
    with suppress(BrokenPipeError):
        process.stdin.write(
            process.translate_paths_for_job(lines).encode() + b'\n' + archive.getvalue()
        )
        process.stdin.close()


def _receive_answer(stream: IO[bytes]) -> _UvAnswer | None:
    """Return uv's answer; None if it is incomplete. Raises: SiteFault."""
    head = b''
    while not head.endswith(b'\n') and len(head) < _HEAD_BYTES:
        byte = stream.read(1)
        if not byte:
            return None
        head += byte
    match = _HEAD.fullmatch(head)
    if match is None:
        return None
    texts = [_receive_exactly(stream, int(size)) for size in match.groups()[1:]]
    if None in texts:
        return None
    printed, errors = (text.decode(errors='replace') for text in texts if text is not None)
    return _UvAnswer(status=int(match[1]), printed=printed, errors=errors)


def _receive_exactly(stream: IO[bytes], size: int) -> bytes | None:
    """Return `size` bytes; None if fewer come.

    Raises:
        SiteFault: the size is above the limit for uv's output
    """
    if size > _SAID_BYTES:
        raise SiteFault(f'uv prints more than {_SAID_BYTES >> 20} MiB')
    parts: list[bytes] = []
    while size:
        part = stream.read(size)
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b''.join(parts)


def _ensure_uv_for_any_user() -> Path:
    """Return a uv that any user can run: that of this machine, or a copy in the tool cache."""
    program = Path(uv.find_program()).resolve()  # own name: of this machine
    if is_open_to_all(program):
        return program
    copy = find_cache_folder() / 'pythons/uv' / fingerprint_program(program)  # own name: numbers
    if not copy.is_file():
        copy.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        new = copy.with_name(f'{UNFINISHED}{os.getpid()}')  # own name: a number
        shutil.copyfile(program, new)
        new.chmod(0o755)
        new.replace(copy)
    return copy
