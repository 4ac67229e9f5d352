"""Archives of loaded classes (AppCDS), for test JVMs and for the builder.

An archive contains only classes of libraries, as the JVM reads them from their jars; no code of a
project takes part in making it. Only the list of class names may come from a process that ran
tests, and it is filtered to valid names. The JVM itself checks that the jars, their order and its
own version match the archive; if not, it runs without the archive (`-Xshare:auto`).
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coevo.languages.java.building import settings
from coevo.languages.java.places import ARCHIVES, BUILD_TREE, HEAD, WORKSPACE
from coevo.languages.java.tools.toolchain import Toolchain
from coevo.languages.java.tools.wire import encode_strings
from coevo.model.records import compute_short_hash
from coevo.sandboxes.sandbox import Job, Limits, Mount, Sandbox
from coevo.storage import durable

# Archives of loaded classes (AppCDS), which save new JVMs the parsing of their libraries.

# An archive has about 25 MB; the least recently used one is removed first.
ARCHIVES_KEPT = 40

# Option and shell script of a process that lists the classes it loads within a short time.
LISTING = '-XX:DumpLoadedClassList=/tmp/coevo-classes'
LIST = '(ulimit -t 10; timeout -s KILL 60 "$@" 3>/dev/null 1>&2) || true\ncat /tmp/coevo-classes'

# Limits of both processes that make an archive.
LIMITS = Limits(
    cpu_seconds=120,
    wall_seconds=600,
    memory_bytes=6 << 30,
    processes=512,
    file_bytes=1 << 30,
    disk_bytes=2 << 30,
)
_DUMP_BYTES = 64 << 30  # address space, which the JVM reserves generously while it makes an archive

_LIST_BYTES = 8 << 20
_ARCHIVE_BYTES = 1 << 29
_NAME = re.compile(rb'(@lambda-(proxy|form-invoker) )?[\w$/;.<>()\[: -]+')


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveRehearsal:
    """The two jobs that make an archive: one lists classes that it loads, one archives them.

    request  what the first job reads from its standard input
    listing  the first job; handles the request and writes class names to its standard output
    dumping  the second job; reads the list at `ClassArchives.locate_class_list` and the jars, and
             writes the archive to its standard output
    """

    request: bytes
    listing: Job
    dumping: Job


class ClassArchives:
    """The class archives of a machine, in a folder that sandboxes can read; thread-safe."""

    def __init__(self, sandbox: Sandbox, folder: Path, lists: Path) -> None:
        self._sandbox, self._folder, self._lists = sandbox, folder, lists
        self._tried: set[str] = set()
        self._guard = threading.Lock()
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def find_archive(self, key: str) -> str | None:
        """Return the path of an archive as a sandbox sees it; None if it has not been made."""
        return f'{ARCHIVES}/{key}.jsa' if self._locate_archive(key).is_file() else None

    @contextlib.contextmanager
    def lock_for_making(self, key: str) -> Iterator[bool]:
        """Hold the lock of an archive and yield whether the caller should make it now.

        Other callers wait until the archive exists or has failed; each archive is tried once. A
        process can read which archive it runs with, so all processes of a class path must use the
        same one. Making an archive costs as much CPU time as about six processes save with it.
        """
        with self._guard:
            lock = self._locks[key]
        with lock:
            yield self.find_archive(key) is None and key not in self._tried
            self._tried.add(key)

    def locate_class_list(self, key: str) -> Path:
        """Return the path, on the host, of an archive's list of classes; it need not exist."""
        return self._lists / f'{key}.classes'  # own name: a digest

    def make_archive_counting_cpu_seconds(self, key: str, rehearsal: ArchiveRehearsal) -> float:
        """Run the two jobs that make an archive, store it, and return the CPU seconds used.

        May remove the archives that were not used for longest. If a job fails, no archive is stored
        and nothing is raised.
        """
        listed, used = self._run_for_output_and_cpu_seconds(
            rehearsal.listing, rehearsal.request, _LIST_BYTES
        )
        names = [line for line in listed.splitlines() if _NAME.fullmatch(line)]
        if not names:
            return used
        durable.write_durably(self.locate_class_list(key), [b'\n'.join(names) + b'\n'])
        self.locate_class_list(key).chmod(0o644)
        archive, more = self._run_for_output_and_cpu_seconds(rehearsal.dumping, b'', _ARCHIVE_BYTES)
        self.locate_class_list(key).unlink()
        if archive:
            self._remove_oldest_archives()
            durable.write_durably(self._locate_archive(key), [archive])
            self._locate_archive(key).chmod(0o644)
        return used + more

    def _locate_archive(self, key: str) -> Path:
        return self._folder / f'{key}.jsa'  # own name: a digest

    def _remove_oldest_archives(self) -> None:
        archives = sorted(self._folder.glob('*.jsa'), key=_get_last_use, reverse=True)
        for old in archives[ARCHIVES_KEPT - 1 :]:
            old.unlink(missing_ok=True)

    def _run_for_output_and_cpu_seconds(
        self, job: Job, request: bytes, limit: int
    ) -> tuple[bytes, float]:
        """Run a job with a request on its standard input; return its output and CPU seconds.

        The output is empty if the job fails or writes more than `limit` bytes.
        """
        with self._sandbox.start(job) as process:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(request)
                process.stdin.close()
            parts, left = [], limit
            while left > 0 and (part := process.stdout.read(min(left, 1 << 20))):
                parts.append(part)
                left -= len(part)
            if left <= 0:
                process.kill()
            status = process.wait()
            used = process.get_cpu_seconds()
        return b''.join(parts) if status == 0 and left > 0 else b'', used


def make_dump_job(job: Job, java: Path, class_list: str, class_path: Sequence[str]) -> Job:
    """Return `job` with the command that writes a class archive to its standard output.

    The command reads only the class list and the jars of the class path.
    """
    command = (
        *(str(java), '-Xshare:dump', '-XX:+UseG1GC', '-Xmx1g'),
        f'-XX:SharedClassListFile={class_list}',
        '-XX:SharedArchiveFile=/tmp/coevo.jsa',
        *('-cp', ':'.join(class_path)),
    )
    return replace(
        job,
        argv=('/bin/sh', '-c', '"$@" >&2 && cat /tmp/coevo.jsa', 'sh', *command),
        limits=replace(LIMITS, memory_bytes=_DUMP_BYTES),
    )


def make_archive_key(
    java: str, jdk: str, sandbox: str, libraries: Sequence[tuple[str, Path]]
) -> str:
    """Return a short hash of all that the JVM checks before it uses an archive.

    That is the JVM itself, the sandbox, and path, size and time of each jar.
    """
    states = ((sandbox_path, file.stat()) for sandbox_path, file in libraries)
    jars = (f'{sandbox_path} {state.st_size} {state.st_mtime_ns}' for sandbox_path, state in states)
    return compute_short_hash(java, jdk, sandbox, *jars)


def _get_last_use(file: Path) -> float:
    try:
        state = file.stat()
    except FileNotFoundError:
        return 0.0
    return max(state.st_atime, state.st_mtime)


# A class archive of what the builder loads before it reads a project: Maven and the compiler.
#
# Loading these classes is half of the cost of a JVM's first build. They are listed by a builder
# that builds a small project of coevo's, without plugins and without network.

_FOLDER = 'rehearsal'
_FILES = {
    'pom.xml': """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>coevo</groupId><artifactId>rehearsal</artifactId><version>1</version>
  <packaging>pom</packaging>
</project>
""",
    'src/Till.java': 'class Till { int sum(int a, int b) { return a + b; } }\n',
}


def prepare_archive_jobs(
    toolchain: Toolchain, mounts: Sequence[Mount], root: Path, list_file: Path
) -> ArchiveRehearsal:
    """Return the jobs that make the builder's class archive; write the project that they build.

    The project is written below `root`, the workspace. No process is started.
    """
    for name, text in _FILES.items():
        file = root / _FOLDER / name  # own name: a file of coevo's own
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    job = Job(
        argv=('/bin/sh', '-c', LIST, 'sh', *settings.make_builder_command(toolchain, LISTING)),
        mounts=tuple(mounts),
        limits=LIMITS,
        environment={'JAVA_HOME': str(toolchain.java_home)},
    )
    listed = f'{WORKSPACE}/{list_file.relative_to(root)}'
    return ArchiveRehearsal(
        request=_encode_requests(),
        listing=job,
        dumping=make_dump_job(
            job, toolchain.java, listed, settings.list_builder_class_path(toolchain)
        ),
    )


def _encode_requests() -> bytes:
    project_folder = f'{WORKSPACE}/{_FOLDER}'
    build = ['build', f'source={project_folder}', f'work={BUILD_TREE}']
    alone = [f'settings={WORKSPACE}/{settings.SETTINGS}', f'head={HEAD}', 'offline=true']
    return encode_strings([*build, *alone]) + encode_strings(
        ['compile', f'root={project_folder}/src']
    )
