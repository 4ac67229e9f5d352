"""The columns and the tasks that only all rows together give.

What is known of a row when others have been looked at waits as a mark, in order, until the rows pass by.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from coevo.model.drops import Drop
from coevo.model.reasons import Reason
from coevo.model.repository_rows import RepositoryRow
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.task_rows import TaskRow
from coevo.model.words import Stage, Walk
from coevo.storage.withdrawals import Withdrawal, WithdrawnKind
from packagers.built import BuiltTasks
from packagers.duplicates import mark_duplicates
from packagers.licensing import fill_licences, withhold_unpublishable_rows
from packagers.marks import Mark, apply_marks
from packagers.near_duplicates import mark_near_duplicates
from packagers.plan import ReleasePlan
from packagers.reverified import apply_reverification
from packagers.row_files import Sorter
from packagers.rows import Rows, list_rows_of_repo

Row = TypeVar('Row')


def assemble_release_rows(rows: Rows, plan: ReleasePlan) -> Rows:
    """The rows with all that a release adds but what an earlier snapshot makes of them."""
    rows = apply_reverification(rows)
    families = plan.families(sorted({row.repo for row in rows.repositories}))
    rows = rows.replace_tables(
        repositories=(
            _complete_repository_row(row, families[row.repo], plan) for row in rows.repositories
        ),
    )
    rows = withhold_unpublishable_rows(fill_licences(rows, plan.licence), plan.accepted)
    rows = rows.replace_tables(methods=plan.date(rows))
    rows = rows.replace_tables(single_revision=plan.date_single_revision(rows))
    tasks, drops = Sorter(TaskRow, rows.space), Sorter(Drop, rows.space)
    suites: dict[tuple[str, Walk], str] = {}
    alike = chain(mark_duplicates(rows), mark_near_duplicates(rows.methods, rows.space))
    of_tasks = _build_tasks(rows, plan, tasks, drops, suites)
    methods = apply_marks(rows.methods, chain(alike, of_tasks), rows.space)
    rows = rows.replace_tables(methods=methods)
    rows = rows.replace_tables(single_revision=_add_task_ids(rows.single_revision, suites))
    return rows.replace_tables(tasks=tasks.finish(), drops=chain(rows.drops, drops.finish()))


def _complete_repository_row(row: RepositoryRow, family: str, plan: ReleasePlan) -> RepositoryRow:
    files, lines = plan.size(row.repo, row.head, row.language) or (None, None)
    return dataclasses.replace(
        row,
        family=family,
        url=plan.urls.get(row.repo, row.url),
        source_files=files,
        source_lines=lines,
    )


def _add_task_ids(
    rows: Iterable[SingleRevisionRow], ids: Mapping[tuple[str, Walk], str]
) -> Iterator[SingleRevisionRow]:
    return (dataclasses.replace(row, task_id=ids.get((row.suite_id, row.walk))) for row in rows)


def _build_tasks(
    rows: Rows,
    plan: ReleasePlan,
    tasks: Sorter[TaskRow],
    drops: Sorter[Drop],
    suites: dict[tuple[str, Walk], str],
) -> Iterator[Mark]:
    """The marks of methods that have a task; tasks and drops, and the tasks of suites, are added to
    those that are there."""
    families: dict[str, set[str]] = defaultdict(set)
    for row in rows.repositories:
        families[row.family or row.repo].add(row.repo)
    for _, repos in sorted(families.items()):
        some = _select_repositories(rows, sorted(repos))
        built = _drop_withdrawn_tasks(plan.build(some), rows.withdrawals)
        suites |= built.single_revision
        for task in built.tasks:
            tasks.add((), task)
        for drop in built.drops:
            drops.add((), drop)
        yield from _mark_methods(some, built)


def _drop_withdrawn_tasks(built: BuiltTasks, withdrawals: Sequence[Withdrawal]) -> BuiltTasks:
    """Tasks that nobody took back, with a drop for each of the others."""
    taken_back = {
        withdrawal.id: withdrawal.reason
        for withdrawal in withdrawals
        if withdrawal.kind is WithdrawnKind.TASK
    }
    withdrawn_tasks = [task for task in built.tasks if task.task_id in taken_back]
    if not withdrawn_tasks:
        return built
    drops = [
        Drop.make_at_stage(
            Stage.TASK, task, task.task_id, Reason.TASK_WITHDRAWN, taken_back[task.task_id]
        )
        for task in withdrawn_tasks
    ]
    return dataclasses.replace(
        built,
        tasks=[task for task in built.tasks if task.task_id not in taken_back],
        ids={key: id_ for key, id_ in built.ids.items() if id_ not in taken_back},
        single_revision={
            key: id_ for key, id_ in built.single_revision.items() if id_ not in taken_back
        },
        drops=(*built.drops, *drops),
    )


def _select_repositories(rows: Rows, repos: Collection[str]) -> Rows:
    """What tasks of some repositories are made of; other tables are as they were."""

    def select_rows(found: Sequence[Row]) -> tuple[Row, ...]:
        return tuple(row for repo in repos for row in list_rows_of_repo(found, repo))

    return dataclasses.replace(
        rows,
        repositories=select_rows(rows.repositories),
        pairs=select_rows(rows.pairs),
        methods=select_rows(rows.methods),
        environments=select_rows(rows.environments),
        starts=select_rows(rows.starts),
        single_revision=select_rows(rows.single_revision),
    )


def _mark_methods(rows: Rows, built: BuiltTasks) -> Iterator[Mark]:
    leak = {task.task_id: task.leak for task in built.tasks}
    for row in rows.methods:
        key = row.method_id, row.walk
        task_id, coverage = built.ids.get(key), built.coverage.get(key)
        if task_id is not None or coverage is not None:
            yield Mark(
                repo=row.repo,
                method_id=row.method_id,
                walk=row.walk,
                task_id=task_id,
                task_coverage=coverage,
                leak=leak.get(task_id or ''),
            )
