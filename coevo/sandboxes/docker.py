"""The Docker back end: one container of this machine's Docker daemon for each job.

The image contains only links, account files and the first program. System folders are mounted from
the host, as for bubblewrap. Control groups limit memory and the number of processes. Jobs run under
a fixed numeric user that no account should have.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import math
import os
import signal
import subprocess
import tarfile
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import docker
import docker.errors
import docker.types
import requests

from coevo.model.errors import Fatal, Transient
from coevo.sandboxes import mounts
from coevo.sandboxes.job import HOME, TEMPORARY_FOLDER, WORK_FOLDER, Job
from coevo.sandboxes.mounts import check_mounts
from coevo.sandboxes.process import Process, ProcessUsage, spawn
from coevo.sandboxes.running import LaunchedJob, RunningJobs, find_program, run_trial_job
from coevo.storage.disk import find_work_root

_USER = 64999
_IMAGE = 'coevo-sandbox'
_LIFELINE = '/lifeline'
_PREFIX = 'coevo-lifeline-'
_LABEL = 'coevo.lifeline'
_WALL_MARGIN_SECONDS = 60
_KILL_SECONDS = 60
_START_SECONDS = 60
_POLL_SECONDS = 0.02

# The parent of a container is the daemon, not coevo, so a container would survive a killed coevo.
# coevo therefore holds an exclusive lock on the lifeline file while it runs. A watcher in each
# container waits for that lock, at most 60 seconds longer than the job may take. When it gets the
# lock, or that time is over, it kills the container. If a job kills the watcher, the next coevo
# removes the container.
_FIRST_PROCESS = f"""\
(flock --shared --timeout "$1" 9; kill -9 -1) 9<{_LIFELINE} >&- 2>&- &
shift; mkdir -p {HOME}; "$@"; exit $?
"""
_OWN_PROCESSES = 6


class Docker:
    """The back end that runs each job in a Docker container of its own; see `Sandbox`.

    Its methods may be called from several threads.
    """

    name = 'docker'

    def __init__(self) -> None:
        """Connect to the daemon, prepare the image and run a trial job.

        Raises: Fatal if the daemon cannot be used; the message says what to do.
        """
        self._command = find_program('docker', 'docker.io')
        for program in ('prlimit', 'flock'):
            find_program(program, 'util-linux')
        try:
            self._client = docker.from_env()
            self.api = self._client.api
            self._image = _import_image_if_missing(self._client)
        except docker.errors.DockerException as error:
            raise Fatal(
                f'the Docker daemon cannot be used ({error}); start it, or set DOCKER_HOST'
            ) from error
        _remove_orphaned_containers(self._client)
        self._lifeline = _make_lifeline()
        find_program('tar', 'tar')  # jobs unpack their files with it
        self._running = RunningJobs(lend_users=False)
        run_trial_job(self)

    def start(self, job: Job) -> Process:
        """Start a job. Raises Fatal for a mount that cannot be made, Transient if Docker fails."""
        check_mounts(job.all_mounts, other_user=True)
        return self._running.start(job, self._launch)

    def close(self) -> None:
        """Kill all running jobs. No job can be started afterwards."""
        self._running.close()
        self._lifeline.close()
        self._client.close()

    def _launch(self, job: Job, _: int | None) -> LaunchedJob:
        try:
            container = self._client.containers.create(
                self._image, _build_command(job), **_build_settings(job, self._lifeline.name)
            )
        except docker.errors.DockerException as error:
            raise Transient(f'a container could not be made: {error}') from error
        popen = spawn(
            lambda: subprocess.Popen(
                [self._command, 'start', '--attach', '--interactive', container.id],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        )
        tree = _Container(self, container.id, popen.pid)
        return LaunchedJob(
            popen=popen, tree=tree, forget=tree.close_client_handle, network=tree.find_first_process
        )


class _Container:
    """The processes of a container, and the `docker start` client that is attached to it."""

    def __init__(self, daemon: Docker, name: str, client: int) -> None:
        # keeps the daemon object, and so its lifeline's lock, for as long as this container is used
        self._daemon = daemon
        self._api, self._name = daemon.api, name
        self._guard = threading.Lock()
        self._client: int | None = os.pidfd_open(client)

    def measure_usage(self) -> ProcessUsage:
        """Return the CPU time and memory of the container; see `ProcessTree`.

        Both are zero for a container that has ended.
        """
        try:
            stats = self._api.stats(self._name, stream=False, one_shot=True)
        except (docker.errors.APIError, requests.JSONDecodeError):
            return ProcessUsage()  # it has ended, or is ending: the daemon then sends no JSON
        memory = stats.get('memory_stats', {}).get('stats', {})
        return ProcessUsage(
            stats['cpu_stats']['cpu_usage']['total_usage'] / 1e9,
            memory.get('anon', memory.get('total_rss', 0)),
        )

    def kill(self) -> None:
        """Kill the client, then remove the container, whether it is created, running or ended.

        The client must be killed first: if its output is not read, it blocks the daemon. It also
        does not always notice that its container has been removed.
        """
        with self._guard, suppress(ProcessLookupError):
            if self._client is not None:
                signal.pidfd_send_signal(self._client, signal.SIGKILL)
        self._remove_container()

    def find_first_process(self) -> int:
        """Return the process id of the container's first process, as the host sees it.

        coevo and the daemon must share the host's process ids. Waits up to 60 seconds.

        Raises: Transient if the container has ended or does not start.
        """
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            try:
                state = self._api.inspect_container(self._name)['State']
            except docker.errors.NotFound:
                break
            if state['Running'] and state['Pid']:
                return int(state['Pid'])
            time.sleep(_POLL_SECONDS)
        raise Transient('a container does not start, or has ended already')

    def close_client_handle(self) -> None:
        """Close the handle of the client; called once the container has ended."""
        with self._guard:
            if self._client is not None:
                os.close(self._client)
                self._client = None

    def _remove_container(self) -> None:
        """Remove the container and wait until the daemon has removed it.

        Raises: Transient if that takes more than 60 seconds.
        """
        deadline = time.monotonic() + _KILL_SECONDS
        while time.monotonic() < deadline:
            try:
                self._api.remove_container(self._name, force=True)
            except docker.errors.NotFound:
                return
            except docker.errors.APIError as error:
                if error.status_code != 409:  # 409: it is being removed
                    raise
            except requests.ReadTimeout:
                break
            time.sleep(_POLL_SECONDS)
        raise Transient(f'a container does not end {_KILL_SECONDS} s after SIGKILL')


def _make_lifeline() -> IO[bytes]:
    """Create the locked lifeline file in the work root; it is deleted when it is closed.

    As long as it is locked, the containers that name it are known to belong to a living coevo.
    """
    file = tempfile.NamedTemporaryFile(prefix=_PREFIX, dir=find_work_root())  # noqa: SIM115
    fcntl.flock(file, fcntl.LOCK_EX)
    os.fchmod(file.fileno(), 0o644)
    return file


def _remove_orphaned_containers(client: Any) -> None:
    """Remove the containers and lifeline files of killed coevos: those whose lifeline is unlocked.

    Lifeline files of other users stay.
    """
    for container in client.containers.list(all=True, filters={'label': _LABEL}):
        if not _is_lifeline_locked(Path(container.labels[_LABEL])):
            with suppress(docker.errors.APIError):  # it is already being removed
                container.remove(force=True)
    for lifeline in find_work_root().glob(f'{_PREFIX}*'):
        if lifeline.stat().st_uid == os.geteuid() and not _is_lifeline_locked(lifeline):
            lifeline.unlink(missing_ok=True)


def _is_lifeline_locked(lifeline: Path) -> bool:
    """Return whether another process holds the lock of a lifeline; False if the file is gone.

    True also for a file that this user may not read.
    """
    try:
        with lifeline.open('rb') as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except (BlockingIOError, PermissionError):  # another user's file is not yet readable
        return True
    return False


def _build_command(job: Job) -> list[str]:
    seconds = math.ceil(job.limits.wall_seconds) + _WALL_MARGIN_SECONDS
    limits = mounts.build_limit_command(job.limits, processes=False)
    shell = mounts.FIRST_PROGRAM
    return [shell, '-c', _FIRST_PROCESS, 'sh', str(seconds), *limits, *job.argv]


def _build_settings(job: Job, lifeline: str) -> dict[str, Any]:
    limits = job.limits
    memory_bytes = limits.memory_bytes + 2 * limits.disk_bytes + mounts.SHARED_MEMORY_BYTES
    owner = f'uid={_USER},gid={_USER},mode=1777'
    options = f'rw,exec,nosuid,nodev,{owner},size={limits.disk_bytes}'
    return {
        'mounts': _list_mounts(job, lifeline),
        'tmpfs': {
            **dict.fromkeys((WORK_FOLDER, TEMPORARY_FOLDER), options),
            **dict.fromkeys((*mounts.HIDDEN, '/sys'), 'ro,nosuid,nodev,size=64k'),
        },
        'environment': job.full_environment,
        'working_dir': job.cwd,
        'user': f'{_USER}:{_USER}',
        'hostname': mounts.HOST_NAME,
        'extra_hosts': {mounts.HOST_NAME: '127.0.0.1'},
        'network_mode': 'none',
        'ipc_mode': 'private',
        'read_only': True,
        'cap_drop': ['ALL'],
        'security_opt': ['no-new-privileges'],
        'pids_limit': limits.processes + _OWN_PROCESSES,
        'mem_limit': memory_bytes,
        'memswap_limit': memory_bytes,
        'shm_size': mounts.SHARED_MEMORY_BYTES,
        'log_config': docker.types.LogConfig(type='none'),
        'stdin_open': True,
        'auto_remove': True,
        'labels': {_LABEL: lifeline},
    }


def _list_mounts(job: Job, lifeline: str) -> list[Any]:
    places = {folder: folder for folder in mounts.list_system_mount_paths()}
    places |= {mount.target: str(mount.source) for mount in job.all_mounts}
    # An empty file (the lifeline) hides resolv.conf; Docker would otherwise show the host's.
    places |= dict.fromkeys((_LIFELINE, '/etc/resolv.conf'), lifeline)
    return [
        docker.types.Mount(target, source, type='bind', read_only=True)
        for target, source in places.items()
    ]


def _import_image_if_missing(client: Any) -> str:
    """Return the name of the sandbox image, after importing the image if the daemon lacks it.

    The tag in the name is a hash of the image's content.
    """
    archive = _make_image_archive()
    tag = hashlib.sha256(archive).hexdigest()[:16]
    name = f'{_IMAGE}:{tag}'
    try:
        client.images.get(name)
    except docker.errors.ImageNotFound:
        answer = client.api.import_image_from_data(archive, repository=_IMAGE, tag=tag)
        imported = json.loads(answer.splitlines()[-1])['status']
        client.api.tag(imported, _IMAGE, tag)  # Podman's import ignores the tag
    return name


def _make_image_archive() -> bytes:
    """Return a tar file with the image's links, account files and first program.

    It needs no folders: Docker creates those at which something is mounted.
    """
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode='w') as archive:
        for path, target in mounts.list_system_links().items():
            link = tarfile.TarInfo(path.lstrip('/'))
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
        for path, text in mounts.make_account_files(_USER).items():
            _add_file(archive, path, text.encode(), 0o644)
        _add_file(archive, mounts.FIRST_PROGRAM, Path(mounts.SHELL).read_bytes(), mounts.FIRST_MODE)
    return stream.getvalue()


def _add_file(archive: tarfile.TarFile, path: str, content: bytes, mode: int) -> None:
    """Add a file that is owned by root and dated 1970, so that equal images have equal bytes."""
    file = tarfile.TarInfo(path.lstrip('/'))
    file.size, file.mode = len(content), mode
    archive.addfile(file, io.BytesIO(content))
