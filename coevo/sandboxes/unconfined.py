"""The back end without isolation: jobs are ordinary processes of this machine.

It is meant for machines on which no other back end works. Jobs can use the network and read all
that their user can read. Still guaranteed: a clean environment, private folders in place of /w and
/tmp, limits of time, memory and file size, and no process left behind. Sandbox paths in a job's
command and environment are replaced by the host's paths.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import psutil

from coevo.model.errors import Transient
from coevo.sandboxes import mounts
from coevo.sandboxes.job import HOME, TEMPORARY_FOLDER, WORK_FOLDER, Job
from coevo.sandboxes.mounts import check_mounts
from coevo.sandboxes.process import Process, ProcessUsage, spawn
from coevo.sandboxes.running import LaunchedJob, RunningJobs, find_program, run_trial_job
from coevo.storage.disk import find_work_root

# An environment variable that every process of a job inherits: it identifies also processes that
# left the job's session.
_MARK = 'COEVO_JOB'
_KILL_SECONDS = 60
_POLL_SECONDS = 0.02

# While a process executes another program (execve), its environment looks empty, so one look can
# miss the mark. A process with an empty environment is therefore looked at again for this long, and
# not for ever: `env -i` starts processes whose environment is really empty.
_EXEC_SECONDS = 1.0

# Patterns around a path: it starts and ends at a space, or at a delimiter of a shell or class path.
_BEFORE = r"""(?<![^\s:=,;"'(<>|&])"""
_AFTER = r"""(?![^\s:=,;"')<>|&/])"""


class Unconfined:
    """The back end without isolation; under root each job gets a free user. See `Sandbox`."""

    name = 'none'

    def __init__(self) -> None:
        """Find the programs that it needs, and run a trial job.

        Raises: Fatal if a program is missing or the job fails.
        """
        self._setpriv = find_program('setpriv', 'util-linux')
        find_program('prlimit', 'util-linux')
        self._running = RunningJobs(lend_users=True)
        run_trial_job(self)

    def start(self, job: Job) -> Process:
        """Start a job. Raises Fatal for a mount whose source cannot be read."""
        check_mounts(job.all_mounts, other_user=self._running.uses_other_user)
        return self._running.start(job, self._launch)

    def close(self) -> None:
        """Kill all running jobs. No job can be started afterwards."""
        self._running.close()

    def _launch(self, job: Job, uid: int | None) -> LaunchedJob:
        folder = _make_private_folder(uid)
        paths = _HostPaths(job, folder)
        tree = MarkedProcesses(uuid.uuid4().hex)
        command = (
            *(self._setpriv, '--pdeathsig', 'KILL', '--'),
            *mounts.build_limit_command(job.limits, processes=False),
            *map(paths.translate, job.argv),
        )
        environment = {name: paths.translate(text) for name, text in job.full_environment.items()}
        popen = spawn(
            lambda: subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**environment, _MARK: tree.mark},
                cwd=paths.translate(job.cwd),
                umask=0o022,
                start_new_session=True,
                user=uid,
                group=uid,
                extra_groups=None if uid is None else (),
            )
        )

        def remove_folder() -> None:
            """Remove the job's private folder."""
            shutil.rmtree(folder, ignore_errors=True)

        return LaunchedJob(popen=popen, tree=tree, forget=remove_folder, paths=paths)


class _HostPaths:
    """The mapping between paths of the sandbox and the host; see `JobPaths`."""

    def __init__(self, job: Job, folder: Path) -> None:
        self._places = {mount.target: str(mount.source) for mount in job.all_mounts}
        for own in (WORK_FOLDER, TEMPORARY_FOLDER):
            self._places[own] = f'{folder}{own}'
        longest_first = sorted(map(re.escape, self._places), key=len, reverse=True)
        self._pattern = re.compile(f'{_BEFORE}({"|".join(longest_first)}){_AFTER}')

    def translate(self, text: str) -> str:
        """Return the text with sandbox paths replaced by host paths.

        Only where they stand as whole words or as entries of a list of paths.
        """
        return self._pattern.sub(lambda match: self._places[match[1]], text)

    def restore(self, text: str) -> str:
        """Return the text with host paths replaced by sandbox paths.

        The longest host path is replaced first.
        """
        for target, host_path in sorted(self._places.items(), key=lambda item: -len(item[1])):
            text = text.replace(host_path, target)
        return text


class MarkedProcesses:
    """The processes whose environment contains the job's mark; see `ProcessTree`."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self._started = time.time() - _EXEC_SECONDS

    def measure_usage(self) -> ProcessUsage:
        """Return the CPU time and memory of the living processes of the job; see `ProcessTree`.

        Processes that end during the measurement are left out.
        """
        cpu_seconds, memory_bytes = 0.0, 0
        for process in self._look().marked:
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                cpu_seconds += sum(process.cpu_times()[:4])
                memory_bytes += process.memory_info().rss
        return ProcessUsage(cpu_seconds, memory_bytes)

    def kill(self) -> None:
        """Kill marked processes until none is left.

        One look is not enough: a killed process may just have started another one.

        Raises: Transient if processes are still there after 60 seconds.
        """
        start = time.monotonic()
        while True:
            look = self._look()
            waited = time.monotonic() - start
            if not look.marked and not (look.is_undecided and waited < _EXEC_SECONDS):
                return
            if waited > _KILL_SECONDS:
                raise Transient(f'a job does not end {_KILL_SECONDS} s after SIGKILL')
            for process in look.marked:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            time.sleep(_POLL_SECONDS)

    def _look(self) -> _Look:
        """Return the living processes of the job.

        Each environment is read once: a process that executes a program between two readings would
        be missed by both. A process may start another one and end before its turn; so the list of
        processes is read again until it has no new one.
        """
        seen: set[int] = set()
        marked: list[psutil.Process] = []
        is_undecided = False
        while new := set(psutil.pids()) - seen:
            seen |= new
            for number in sorted(new):
                # A zombie has no environment. A process of another user cannot belong to this job.
                with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied, OSError):
                    process = psutil.Process(number)
                    environment: Mapping[str, str] = process.environ()
                    if environment.get(_MARK) == self.mark:
                        marked.append(process)
                    elif not environment and self._is_young(process):
                        is_undecided = True
        return _Look(marked, is_undecided)

    def _is_young(self, process: psutil.Process) -> bool:
        """Return whether a process is alive and younger than the job."""
        is_alive = process.status() != psutil.STATUS_ZOMBIE
        return is_alive and process.create_time() >= self._started


class _Look(NamedTuple):
    """The processes that one look at the machine shows.

    marked        processes whose environment has the job's mark
    is_undecided  True if a process may belong to the job although no mark is seen: it is younger
                  than the job and shows an empty environment, as during an execve
    """

    marked: list[psutil.Process]
    is_undecided: bool


def _make_private_folder(uid: int | None) -> Path:
    folder = Path(tempfile.mkdtemp(prefix='coevo-job-', dir=find_work_root()))
    for own in (
        folder,
        *(Path(f'{folder}{path}') for path in (WORK_FOLDER, TEMPORARY_FOLDER, HOME)),
    ):
        own.mkdir(exist_ok=True)
        if uid is not None:
            os.chown(own, uid, uid)
    return folder
