"""Build the tasks of a release, of several families of repositories at the same time.

A family is a repository with its forks and copies. No task depends on the rows of another family.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

from coevo.model.families import Family
from coevo.storage.place import Root
from coevo.storage.store import Store
from flows.clones import ReleaseClones
from flows.processes import open_process_pool, raise_plain_fatal
from miners.cloning.remotes import protect_commits_from_removal
from packagers.implement import build_implement_tasks
from packagers.maintenance import build_maintenance_tasks
from packagers.plan import BuiltTasks
from packagers.rows import Rows
from packagers.single_revision import build_suite_tasks
from packagers.tasks import build_tasks

# Families that wait for a process, for each process. One with many tasks holds up all behind it,
# since the results are wanted in order.
_AHEAD = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBuilding:
    """A way to build the tasks of a release, in this process or in several others.

    wanted     families of tasks that are made from labels, beside those of the tracks
    processes  how many processes build at the same time
    """

    clones: ReleaseClones
    wanted: Collection[Family]
    processes: int

    def build_families(self, rows_of_families: Iterable[Rows]) -> Iterator[tuple[Rows, BuiltTasks]]:
        """Yield the rows and the tasks of each family of repositories, in the given order.

        With one process the families are built in this one, one after another. An error or an
        interruption ends all processes at once; they write nothing but missing clones.

        Raises: Fatal if a clone is missing or unreadable; Transient if a process was killed.
        """
        built_families = (
            (
                (rows, build_family_tasks(self.clones, self.wanted, rows))
                for rows in rows_of_families
            )
            if self.processes <= 1
            else self._build_in_processes(rows_of_families)
        )
        for rows, built in built_families:
            self._protect_commits(built)
            yield rows, built

    def _build_in_processes(
        self, rows_of_families: Iterable[Rows]
    ) -> Iterator[tuple[Rows, BuiltTasks]]:
        clones = self.clones
        arguments = clones.folder, clones.store.root, tuple(self.wanted)
        with open_process_pool(self.processes, _begin_worker, arguments, 'made tasks') as pool:
            yield from _build_in_order(
                rows_of_families,
                lambda rows: pool.submit(_build_family, rows),
                _AHEAD * self.processes,
            )

    def _protect_commits(self, built: BuiltTasks) -> None:
        """Protect the commits that tasks name from Git's clean-up of their clones."""
        revs: dict[str, set[str]] = defaultdict(set)
        for task in built.tasks:
            revs[task.repo] |= {task.old_rev, task.new_rev}
        for repo, named in sorted(revs.items()):
            protect_commits_from_removal(self.clones.get_repository(repo).git_dir, named)


def build_family_tasks(clones: ReleaseClones, wanted: Collection[Family], rows: Rows) -> BuiltTasks:
    """Build the tasks of a family of repositories from its rows.

    wanted  families of tasks that are made from labels, beside those of the tracks
    """
    pairs = {(row.pair_id, row.walk): row for row in rows.pairs}
    environments = {(row.pair_id, row.module): row.environment for row in rows.environments}
    theirs = clones.get_repositories(
        {row.repo for kind in (rows.methods, rows.single_revision) for row in kind}
    )
    built = build_tasks(rows.methods, pairs, rows.repositories, theirs, environments, rows.starts)
    suites, suite_ids = build_suite_tasks(
        rows.single_revision, pairs, rows.repositories, theirs, environments
    )
    built = replace(built, tasks=(*built.tasks, *suites), single_revision=suite_ids)
    if Family.MAINTENANCE in wanted:
        tasks, drops = build_maintenance_tasks(built.tasks, rows.methods, theirs, environments)
        built = replace(built, tasks=(*built.tasks, *tasks), drops=(*built.drops, *drops))
    if Family.IMPLEMENT in wanted:
        tasks, drops = build_implement_tasks(built, rows.methods, theirs, environments)
        built = replace(built, tasks=(*built.tasks, *tasks), drops=(*built.drops, *drops))
    return built


def _build_in_order(
    rows_of_families: Iterable[Rows], submit: Callable[[Rows], Future[BuiltTasks]], ahead: int
) -> Iterator[tuple[Rows, BuiltTasks]]:
    """Yield families in their order, while at most `ahead` of them wait or are being built."""
    waiting = deque[tuple[Rows, Future[BuiltTasks]]]()
    for rows in rows_of_families:
        waiting.append((rows, submit(rows)))
        if len(waiting) >= ahead:
            first, future = waiting.popleft()
            yield first, future.result()
    for first, future in waiting:
        yield first, future.result()


# The rest runs in the other processes.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Worker:
    clones: ReleaseClones
    wanted: Collection[Family]


_worker: _Worker | None = None


def _begin_worker(folder: Path, root: Root, wanted: Collection[Family]) -> None:
    global _worker
    _worker = _Worker(clones=ReleaseClones(folder, Store(root)), wanted=wanted)


def _build_family(rows: Rows) -> BuiltTasks:
    if _worker is None:
        raise AssertionError('the process was not prepared')
    with raise_plain_fatal():
        return build_family_tasks(_worker.clones, _worker.wanted, rows)
