"""Make the environment of a task, with the commands that run its tests.

They are written at release, since only then it is known which tests of a file form one task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coevo.git.repository import Repository
from coevo.languages.table import LANGUAGES
from coevo.model.environments import Environment
from coevo.model.method_rows import MethodRow
from coevo.model.records import TestMethod
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.task_rows import TaskRow

Environments = Mapping[tuple[str, str], Environment]
"""Environments by pair_id and module."""


def find_environment(
    rows: Sequence[MethodRow], known: Environments, clone: Repository
) -> Environment | None:
    """Return the environment of a task with the commands that run its targets.

    Targets have their names at the new revision. None if mining recorded no environment.
    """
    methods = [row.method for row in rows]
    return _fill_commands(rows[0], methods, known, clone)


def find_suite_environment(
    row: SingleRevisionRow, known: Environments, clone: Repository
) -> Environment | None:
    """Return the environment of a row with the commands that run its whole test file.

    None if mining recorded no environment.
    """
    return _fill_commands(row, (), known, clone)


def find_file_environment(
    task: TaskRow, known: Environments, clone: Repository
) -> Environment | None:
    """Return the environment of a task with the commands that run its whole test file.

    None if mining recorded no environment.
    """
    return _fill_commands(task, (), known, clone)


def _fill_commands(
    row: MethodRow | SingleRevisionRow | TaskRow,
    methods: Sequence[TestMethod],
    known: Environments,
    clone: Repository,
) -> Environment | None:
    environment = known.get((row.pair_id, row.module))
    if environment is None:
        return None
    language = LANGUAGES[row.language]
    tree = language.READING.open_tree(clone, row.new_rev)
    return language.add_commands(environment, row.module, row.test_file, methods, tree)
