"""Run an agent's command on one start state in the sandbox, and take over the files it leaves.

The first process in the sandbox copies the start state, starts the agent, and waits until the agent
ends or coevo sends `stop`. Then it kills all other processes and sends the project's files, so that
they cannot change while they are read. An agent might take its place and forge these files. They
would be the agent's own answer then, and are read with the same caution.

The files arrive as a tar stream, which is read but never unpacked.
"""

from __future__ import annotations

import os
import queue
import re
import tarfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO

from coevo.agents.costs import Meter
from coevo.agents.difference import EXECUTABLE, PLAIN, Ends, GitFile
from coevo.agents.endpoint import Endpoint
from coevo.agents.keeping import AnswerLog
from coevo.agents.records import Ending, Rejection
from coevo.agents.relay import Relay
from coevo.git.objects import LINK
from coevo.model.errors import Transient
from coevo.sandboxes.sandbox import Job, Limits, Mount, Process, Sandbox
from coevo.sandboxes.unpacking import END, extract_content, iterate_members

# Paths in the sandbox: the agent's working folder, its input, and its software.
PROJECT, INPUT, SOFTWARE = '/w/project', '/in', '/agent'
# A program of coevo that starts an agent's software.
DRIVER = '/driver'
PROMPT, TASK = f'{INPUT}/prompt.txt', f'{INPUT}/task.json'

_HAND_OVER_SECONDS = 300.0
_START_SECONDS = 300.0
_LINE_BYTES = 64
_DISK_BYTES = 4 << 30

# Descriptor 3 leads to coevo, descriptor 4 comes from coevo; the agent inherits neither.
_SUPERVISOR = f"""\
exec 3>&1 4<&0 1>&2 </dev/null
read -r port <&4
export COEVO_ENDPOINT="http://127.0.0.1:$port"
mkdir {PROJECT}
cp -RP --preserve=mode,timestamps {INPUT}/start/. {PROJECT}/ || exit 1
cd {PROJECT} || exit 1
mkfifo -m 600 /tmp/.coevo-ended || exit 1
echo started >&3
{{
    setsid sh -c "$COEVO_COMMAND" <{PROMPT}
    echo "$?" >/tmp/.coevo-ended
}} 3>&- 4>&- &
{{ read -r word <&4; echo "$word" >/tmp/.coevo-ended; }} 3>&- &
read -r ended </tmp/.coevo-ended
kill -9 -1
echo "$ended" >&3
cd {PROJECT} && : >{END} || exit 1
{{
    if [ -e {INPUT}/files ]; then
        cat {INPUT}/files
    else
        find . -name .git -prune -o ! -type d ! -path ./{END} -printf '%P\\0'
    fi
    printf '{END}\\0'
}} 3>&- 2>/dev/null | tar --create --file=- --format=gnu --hard-dereference \\
    --ignore-failed-read --no-recursion --null --files-from=- >&3 2>/dev/null
"""

IsCode = Callable[[str], bool]
"""Returns whether a file of this path, relative to the root, belongs to the code."""

_STARTED, _STOP = 'started', 'stop'
# An exit status of a shell. The agent may write any text there, even `²`, which Python accepts as a
# digit.
_STATUS = re.compile(r'[0-9]{1,3}')


class _Event(Enum):
    STARTED = auto()
    STOP = auto()  # the relay allows no further round
    ENDED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Limits of an attempt: elapsed seconds, and US dollars, checked before each round."""

    seconds: float
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """Settings that all attempts of a run share.

    command  a shell command, see `coevo run --help`
    mounts   more folders that the agent sees, read-only
    """

    command: str
    caps: Caps
    endpoint: Endpoint | None
    memory_bytes: int = 8 << 30
    mounts: tuple[Mount, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """The result of a run.

    files        files that differ from the start state; None if they could not be taken over
    seconds      elapsed time of the agent's command
    status       exit status of the command; None if it was stopped or reported none
    output_tail  the end of its output
    refused      reasons why calls were not forwarded
    trouble      failures of the endpoint
    cut_off      whether the endpoint failed the last call, so that the attempt must be made again
    rejection    the endpoint's refusal of the last call; None if it was not refused
    """

    ending: Ending
    files: Mapping[str, Ends] | None
    seconds: float
    status: int | None
    output_tail: str
    refused: tuple[str, ...] = ()
    trouble: tuple[str, ...] = ()
    cut_off: bool = False
    rejection: Rejection | None = None


def run_agent(
    sandbox: Sandbox,
    settings: AgentSettings,
    place: Path,
    test_file: str,
    meter: Meter,
    log: AnswerLog | None = None,
    may_be_patched: IsCode | None = None,
) -> AgentRun:
    """Run the agent on the input in `place`: the folder `start` and the file `prompt.txt`.

    test_file  the path of the task's test file, which is taken over even if it is new
    log        keeps requests to the model and its answers
    may_be_patched  for tasks that ask for code: decides by path which files are taken over, new ones
               included; None takes over the files of the start state and `test_file`

    Raises: Transient if a sandbox cannot be started, or is closed meanwhile; Fatal if the endpoint
    denies access.
    """
    if may_be_patched is None:
        wanted = sorted({*list_start_files(place / 'start'), test_file})
        listed = ''.join(f'{name}\0' for name in wanted)
        (place / 'files').write_bytes(listed.encode('utf-8', 'surrogateescape'))
        collect = partial(collect_changed_files, folder=place / 'start', wanted=wanted)
    else:
        collect = partial(collect_code_files, folder=place / 'start', may_be_patched=may_be_patched)
    with sandbox.start(_build_job(settings, place)) as process:
        watch = _AgentSupervisor(process, collect)
        if settings.endpoint is None:
            return watch.supervise(0, settings.caps)
        relay = Relay(settings.endpoint, meter, watch.stop, log)
        listening = process.listen()
        port = listening.getsockname()[1]
        with relay.serve(listening):
            ran = watch.supervise(port, settings.caps)
            if ran.ending is Ending.TIME_CAP:
                _note_unanswered_call(relay, settings.caps)
        if log is not None:
            log.write_left_out_count()
        if relay.bug is not None:
            raise relay.bug
        return replace(
            ran,
            refused=tuple(relay.refused),
            trouble=tuple(relay.trouble),
            cut_off=relay.cut_off,
            rejection=relay.rejection,
        )


def _note_unanswered_call(relay: Relay, caps: Caps) -> None:
    """Record trouble if the endpoint owes the answer for which the time of an attempt was too short.

    An agent at work is usually stopped in the middle of a call. That is its own doing, unless the
    model has not answered it once, or the call has taken half of the time.
    """
    waited = relay.measure_newest_open_call_seconds()
    if waited is None:
        return
    if not (relay.meter.rounds or relay.meter.unmetered) or waited > caps.seconds / 2:
        relay.note_trouble(f'no answer within {min(waited, caps.seconds):.0f} s')


def _build_job(settings: AgentSettings, place: Path) -> Job:
    seconds = settings.caps.seconds + _START_SECONDS + _HAND_OVER_SECONDS
    return Job(
        argv=('/bin/sh', '-c', _SUPERVISOR),
        mounts=(Mount(source=place, target=INPUT), *settings.mounts),
        environment={
            **settings.environment,
            'COEVO_COMMAND': settings.command,
            'COEVO_PROMPT': PROMPT,
            'COEVO_TASK': TASK,
        },
        limits=Limits(
            cpu_seconds=seconds * (os.cpu_count() or 1),
            wall_seconds=seconds,
            memory_bytes=settings.memory_bytes,
            bounds_addresses=False,  # JavaScript engines reserve far more addresses than they use
            processes=4096,
            file_bytes=_DISK_BYTES,
            disk_bytes=_DISK_BYTES,
        ),
    )


class _AgentSupervisor:
    """Communicates with the first process, and reads the files that it sends."""

    def __init__(self, process: Process, collect: Callable[[IO[bytes]], dict[str, Ends]]) -> None:
        self._process, self._collect = process, collect
        self._events: queue.Queue[_Event] = queue.Queue()
        self._word = ''  # what the first process reports: `stop`, or the agent's status
        self._began = self._ended = 0.0  # monotonic clock, when the reader receives the lines
        self._files: dict[str, Ends] | None = None
        self._too_large = False
        self._bug: Exception | None = None
        self._reader = threading.Thread(target=self._read_events_and_files, daemon=True)

    def stop(self) -> None:
        """End the agent. May be called from any thread, also when the agent has ended already."""
        self._events.put(_Event.STOP)

    def supervise(self, port: int, caps: Caps) -> AgentRun:
        """Start the agent, wait until it ends or exceeds a limit, and return the result.

        port  of the relay in the sandbox; 0 without one
        Raises: Transient if the agent does not start.
        """
        self._reader.start()
        self._send_line(str(port))
        if self._await_event(_START_SECONDS) is not _Event.STARTED:
            self._process.kill()
            raise Transient(
                f'the agent could not be started: {self._process.get_last_error_output().strip()}'
            )
        event = self._await_event(caps.seconds)
        if event is not _Event.ENDED:
            self._send_line(_STOP)
        self._reader.join(_HAND_OVER_SECONDS)
        self._process.kill()
        self._reader.join()
        if self._bug is not None:
            raise self._bug
        stopped = Ending.COST_CAP if event is _Event.STOP else Ending.TIME_CAP
        return AgentRun(
            ending=self._decide_ending(stopped),
            files=self._files,
            seconds=self._ended - self._began,
            status=int(self._word) if _STATUS.fullmatch(self._word) else None,
            output_tail=self._process.get_last_error_output(),
        )

    def _decide_ending(self, if_stopped: Ending) -> Ending:
        if self._process.exceeded == 'memory':
            return Ending.MEMORY
        if self._too_large:
            return Ending.TOO_LARGE
        if self._files is None:
            return Ending.LOST
        if (
            self._word == _STOP or if_stopped is Ending.COST_CAP
        ):  # a refused agent may end by itself
            return if_stopped
        return Ending.COMPLETED if self._word == '0' else Ending.FAILED

    def _send_line(self, word: str) -> None:
        with suppress(BrokenPipeError):  # the process has ended, which the reader notices
            self._process.stdin.write(f'{word}\n'.encode())
            self._process.stdin.flush()

    def _await_event(self, seconds: float) -> _Event | None:
        try:
            return self._events.get(timeout=seconds)
        except queue.Empty:
            return None

    def _read_events_and_files(self) -> None:
        stream = self._process.stdout
        try:
            if _receive_line(stream) != _STARTED:
                return
            self._began = time.monotonic()
            self._events.put(_Event.STARTED)
            self._word = _receive_line(stream)
            self._ended = time.monotonic()
            self._events.put(_Event.ENDED)
            self._files = self._collect(stream)
        except HandoverTooLarge:
            self._too_large = True
        except (tarfile.TarError, OSError):
            return  # the process ended without sending files
        except Exception as bug:  # noqa: BLE001 - `ran` raises it in the caller's thread
            self._bug = bug
        finally:
            self._events.put(_Event.ENDED)


def _receive_line(stream: BinaryIO) -> str:
    """Return the next line, cut to a few bytes; empty at the end of the stream."""
    line = bytearray()
    while (byte := stream.read(1)) not in (b'', b'\n') and len(line) < _LINE_BYTES:
        line += byte
    return line.decode('utf-8', 'replace')


# Most bytes of all files that differ. A test file has about a hundredth of that.
MOST_BYTES = 16 << 20
# Most files of code that an answer may have.
MOST_FILES = 10_000


class HandoverTooLarge(Exception):
    """An agent wrote more to the project's files than an answer may contain."""


def list_start_files(folder: Path) -> list[str]:
    """Return the paths of a start state's files as Git names them, sorted, without `.git`."""
    paths = (os.fsencode(path.relative_to(folder).as_posix()) for path in _walk_files(folder))
    return sorted(name.decode('utf-8', 'surrogateescape') for name in paths)


def collect_changed_files(
    stream: IO[bytes], folder: Path, wanted: Iterable[str]
) -> dict[str, Ends]:
    """Return the wanted files that differ from the start state, as they were and as they are.

    A wanted file that the stream lacks has been deleted.
    stream  a tar archive of files by path; files that are not wanted are ignored
    folder  the start state, as coevo wrote it
    Raises: tarfile.TarError if the stream is no archive, HandoverTooLarge.
    """
    missing = set(wanted)
    changed_files: dict[str, Ends] = {}
    size = 0
    for archive, member in iterate_members(stream):
        if member.name not in missing:
            continue
        start = load_start_file(folder, member.name)
        end = _extract_file(archive, member, max(MOST_BYTES, len(start.content) if start else 0))
        if end is None:  # a folder, a pipe or a device
            continue
        missing.discard(member.name)
        if start != end:
            size += len(end.content)
            changed_files[member.name] = start, end
        if size > MOST_BYTES:
            raise HandoverTooLarge
    return changed_files | {name: (load_start_file(folder, name), None) for name in missing}


def collect_code_files(stream: IO[bytes], folder: Path, may_be_patched: IsCode) -> dict[str, Ends]:
    """Return the files of the code that differ from the start state, as they were and as they are.

    A file that the stream lacks has been deleted. A file in whose place something else is, such as
    a link, stays as it was, and modes stay as they were, since a patch to code may change neither.
    stream  a tar archive of all files; those that are no code are ignored
    folder  the start state, as coevo wrote it
    Raises: tarfile.TarError if the stream is no archive, HandoverTooLarge.
    """
    missing = {name for name in list_start_files(folder) if may_be_patched(name)}
    changed_files: dict[str, Ends] = {}
    size = 0
    for archive, member in iterate_members(stream):
        name = member.name
        if not may_be_patched(name) or name in changed_files:
            continue
        start = load_start_file(folder, name) if name in missing else None
        missing.discard(name)
        if not member.isreg():
            continue
        end = _extract_file(archive, member, max(MOST_BYTES, len(start.content) if start else 0))
        assert end is not None, 'it is a regular file'
        end = GitFile(mode=start.mode if start else PLAIN, content=end.content)
        if start != end:
            size += len(end.content)
            changed_files[name] = start, end
        if size > MOST_BYTES or len(changed_files) > MOST_FILES:
            raise HandoverTooLarge
    return changed_files | {name: (load_start_file(folder, name), None) for name in missing}


def load_start_file(folder: Path, name: str) -> GitFile | None:
    """Return a file of the start state; None if it is absent."""
    path = folder / os.fsdecode(name.encode('utf-8', 'surrogateescape'))
    if path.is_symlink():
        return GitFile(mode=LINK, content=os.fsencode(path.readlink()))
    if not path.is_file():
        return None
    mode = EXECUTABLE if path.stat().st_mode & 0o100 else PLAIN
    return GitFile(mode=mode, content=path.read_bytes())


def _walk_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            if path.name != '.git':
                yield from _walk_files(path)
        else:
            yield path


def _extract_file(
    archive: tarfile.TarFile, member: tarfile.TarInfo, most_bytes: int
) -> GitFile | None:
    if member.issym():
        return GitFile(mode=LINK, content=member.linkname.encode('utf-8', 'surrogateescape'))
    if not member.isreg():
        return None
    if member.size > most_bytes:
        raise HandoverTooLarge
    mode = EXECUTABLE if member.mode & 0o100 else PLAIN
    return GitFile(mode=mode, content=extract_content(archive, member))
