"""What all back ends have in common: users that are lent to jobs, and the jobs that run."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field

from coevo.model.errors import Transient
from coevo.sandboxes.job import Job
from coevo.sandboxes.process import JobPaths, JobView, Process, ProcessTree, SamePaths
from coevo.sandboxes.spawning import Popen
from coevo.sandboxes.users import UserPool


def _do_nothing() -> None:
    return


def _get_no_process() -> int | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchedJob:
    """A job's outer process and its tree.

    forget   called once, when nothing of the job is left
    paths    see `Process.inside`
    network  a process in the job's network, None where that is the host's
    """

    popen: Popen
    tree: ProcessTree
    forget: Callable[[], None] = _do_nothing
    paths: JobPaths = field(default_factory=SamePaths)
    network: Callable[[], int | None] = _get_no_process


Launch = Callable[[Job, int | None], LaunchedJob]


class RunningJobs:
    """The jobs of one opened back end; safe from several threads."""

    def __init__(self, *, lend_users: bool) -> None:
        self._users = UserPool() if lend_users and os.geteuid() == 0 else None
        self._processes: weakref.WeakSet[Process] = weakref.WeakSet()
        self._guard = threading.Lock()
        self._closed = False

    @property
    def uses_other_user(self) -> bool:
        """Whether jobs run under another user than coevo."""
        return self._users is not None

    def start(self, job: Job, launch: Launch) -> Process:
        """Launch under a user that nothing else runs under, if we are root; else under ours."""
        with self._guard:
            if self._closed:
                raise Transient('the sandbox was closed while it was in use')
            process = self._launch_job(job, launch)
            self._processes.add(process)
        return process

    def close(self) -> None:
        """Kill what runs; nothing can be started any more."""
        with self._guard:
            self._closed = True
            for process in list(self._processes):
                process.kill()
            if self._users is not None:
                self._users.close()

    def _launch_job(self, job: Job, launch: Launch) -> Process:
        user = self._users.take() if self._users is not None else None

        def give_user_back() -> None:
            if self._users is not None and user is not None:
                self._users.give_back(user)

        try:
            launched = launch(job, user.uid if user is not None else None)
        except OSError as error:
            give_user_back()
            raise Transient(f'a sandbox could not be started: {error}') from error

        def clean_up() -> None:
            launched.forget()
            give_user_back()

        places = JobView(launched.paths, launched.network)
        return Process(launched.popen, launched.tree, job.limits, clean_up, places)
