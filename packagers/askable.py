"""Fix for a release what gold notices: where it is strict, and which changes its assertions reach.

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
from packagers.reached_changes import find_reached, mark_reached
from packagers.rows import Rows, list_rows_of_repo

Key = tuple[str, Walk]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """The changes of the code that a gold test notices.

    askable  whether strict success can be asked; None if neither mutants nor undone changes were run
    reached  the dependencies that its assertions reach; None likewise
    """

    askable: bool | None
    reached: frozenset[str] | None


Row = TypeVar('Row', MethodRow, MutantRow, ReversalRow)


def find_noticed(rows: Rows, repos: Iterable[str]) -> dict[Key, Noticed]:
    """Return what each gold test of a method with a track notices, by the method's key."""
    return {key: answer for repo in repos for key, answer in _find_noticed_in(rows, repo)}


def _find_noticed_in(rows: Rows, repo: str) -> Iterator[tuple[Key, Noticed]]:
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
            own_edits = edits[1] if edits is not None and edits[0] == key else ()
            own_undone = undone[1] if undone is not None and undone[0] == key else ()
            yield (
                (row.method_id, row.walk),
                Noticed(
                    askable=is_strict_askable(row, own_edits, own_undone),
                    reached=find_reached(row, own_edits, own_undone),
                ),
            )


def _group_by_method(rows: Iterable[Row]) -> Iterator[tuple[tuple[str, str], tuple[Row, ...]]]:
    for key, group in groupby(rows, key=lambda row: (row.method_id, str(row.walk))):
        yield key, tuple(group)


def mark_task(task: TaskRow, noticed: Mapping[Key, Noticed]) -> TaskRow:
    """Return a task with what its gold tests notice.

    `strict_askable` is True if it is true of all targets; None for suites, and if it is unknown of a
    target and false of none.
    """
    found = [noticed.get((method_id, task.walk)) for method_id in task.method_ids]
    task = mark_reached(task, [None if each is None else each.reached for each in found])
    answers = [None if each is None else each.askable for each in found]
    if not answers or (None in answers and False not in answers):
        return task
    return dataclasses.replace(task, strict_askable=False not in answers)
