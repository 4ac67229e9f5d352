"""Fix for a release of which methods and tasks strict success can be asked: those where gold has it.

The mutants and undone changes of gold are in the segments, from the one run of mining.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TypeVar

from coevo.evaluation.measuring.askable import is_strict_askable
from coevo.model.method_rows import MethodRow
from coevo.model.quality import MutantRow, ReversalRow
from coevo.model.task_rows import TaskRow
from coevo.model.words import Walk
from packagers.rows import Rows, list_rows_of_repo

Key = tuple[str, Walk]
Row = TypeVar('Row', MethodRow, MutantRow, ReversalRow)


def find_askable(rows: Rows, repos: Iterable[str]) -> dict[Key, bool | None]:
    """Return whether strict success can be asked of each method with a track, by its key.

    None for a method whose gold test was run with neither mutants nor undone changes.
    """
    return {key: answer for repo in repos for key, answer in _find_askable_in(rows, repo)}


def _find_askable_in(rows: Rows, repo: str) -> Iterator[tuple[Key, bool | None]]:
    """Yield the answers of one repository, with the rows of one method in memory at a time.

    All tables are sorted by method and walk within a repository.
    """
    mutants = _group_by_method(list_rows_of_repo(rows.mutants, repo))
    reversals = _group_by_method(list_rows_of_repo(rows.reversals, repo))
    edits, undone = next(mutants, None), next(reversals, None)
    for row in list_rows_of_repo(rows.methods, repo):
        key = row.method_id, str(row.walk)
        while edits is not None and edits[0] < key:
            edits = next(mutants, None)
        while undone is not None and undone[0] < key:
            undone = next(reversals, None)
        if row.track is not None:
            answer = is_strict_askable(
                row,
                edits[1] if edits is not None and edits[0] == key else (),
                undone[1] if undone is not None and undone[0] == key else (),
            )
            yield (row.method_id, row.walk), answer


def _group_by_method(rows: Iterable[Row]) -> Iterator[tuple[tuple[str, str], tuple[Row, ...]]]:
    for key, group in groupby(rows, key=lambda row: (row.method_id, str(row.walk))):
        yield key, tuple(group)


def mark_task(task: TaskRow, askable: Mapping[Key, bool | None]) -> TaskRow:
    """Return a task with `strict_askable`: True if it is true of all of its targets.

    None for suites, and if it is unknown of a target and false of none.
    """
    answers = [askable.get((method_id, task.walk)) for method_id in task.method_ids]
    if not answers or (None in answers and False not in answers):
        return task
    return dataclasses.replace(task, strict_askable=False not in answers)
