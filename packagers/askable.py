"""Find which changes of the code gold tests notice, which decides what strict success can be asked of."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeVar

from coevo.evaluation.measuring.strict import is_strict_askable
from coevo.model.dependencies import Dependency, Revised, select_called_or_all_dependencies
from coevo.model.method_rows import MethodRow
from coevo.model.quality import MutantRow, ReversalRow, ReversalStatus
from coevo.model.task_rows import TaskRow
from coevo.model.words import Outcome, Walk
from packagers.rows import Rows, list_rows_of_repo

# Find the changes of the code that gold's assertions reach, by what gold notices.
#
# Gold reaches a change if it runs and fails when that change is undone. Where it cannot be undone,
# a mutant of its lines decides. A declaration that is new is also reached if gold does not compile
# without it. What a test merely has to name, such as a constructor with another parameter, is not.

_FAILED = (Outcome.FAIL, Outcome.ERROR, Outcome.TIMEOUT)
_UNASKED = (ReversalStatus.NOT_RUN, ReversalStatus.NOT_OFFERED)


def find_reached_dependencies(
    row: MethodRow, mutants: Sequence[MutantRow], reversals: Sequence[ReversalRow]
) -> frozenset[str] | None:
    """Return the names of the dependencies of a gold test that its assertions reach.

    None if no mutant and no undone change was run.
    """
    undone = [each for each in reversals if each.status not in _UNASKED]
    run = [each for each in mutants if each.outcome is not None]
    if not undone and not run:
        return None
    reached = [_find_undone_dependency(row, each) for each in undone if _is_noticed(each)]
    decided = {
        _find_undone_dependency(row, each)
        for each in undone
        if each.status is not ReversalStatus.DOES_NOT_COMPILE
    }
    killed = [
        _find_innermost(row.dependencies, each.file, each.line, None)
        for each in run
        if each.killed and each.outcome in _FAILED
    ]
    reached += [each for each in killed if each not in decided]
    return frozenset(each.name for each in reached if each is not None)


def _find_undone_dependency(row: MethodRow, undone: ReversalRow) -> Dependency | None:
    """Return the dependency whose part was undone; None if there is none at its place."""
    return _find_innermost(row.dependencies, undone.file, undone.start_line, undone.revised)


def _is_noticed(undone: ReversalRow) -> bool:
    if undone.status is not ReversalStatus.DETECTED:
        return False
    return undone.outcome in _FAILED or undone.revised is Revised.INSERTED


def _find_innermost(
    dependencies: Iterable[Dependency], file: str, line: int, revised: Revised | None
) -> Dependency | None:
    """Return the smallest dependency around a line; None if there is none.

    revised  what the pair did to the line's part; lines of removed parts are those at old
    """
    around = [
        each
        for each in dependencies
        if each.file == file
        and each.start_line <= line <= each.end_line
        and (each.revised is Revised.REMOVED) == (revised is Revised.REMOVED)
    ]
    return min(around, key=lambda each: (each.end_line - each.start_line, each.rank), default=None)


def add_reached_dependencies(task: TaskRow, reached: Iterable[frozenset[str] | None]) -> TaskRow:
    """Return a task with `reached` and `focus_agreed`.

    The focus is agreed if half of the targets reach a change that the prompt names. Targets of which
    nothing is known do not count; both are None if nothing is known of any.

    reached  the reached dependencies of each target (`find_reached_dependencies`)
    """
    known = [names for names in reached if names is not None]
    if not known:
        return task
    named = {
        each.name
        for each in select_called_or_all_dependencies(task.dependencies, task.dependency_list)
    }
    union = frozenset[str]().union(*known)
    return dataclasses.replace(
        task,
        reached=tuple(each.name for each in task.dependencies if each.name in union),
        focus_agreed=2 * sum(bool(names & named) for names in known) >= len(known),
    )


Key = tuple[str, Walk]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """The changes of the code that a gold test notices.

    askable  whether strict success can be asked; None if neither mutants nor undone changes were run
    reached  the dependencies that its assertions reach; None in the same case
    """

    askable: bool | None
    reached: frozenset[str] | None


Row = TypeVar('Row', MethodRow, MutantRow, ReversalRow)


def find_noticed_changes(rows: Rows, repos: Iterable[str]) -> dict[Key, Noticed]:
    """Return what each gold test of a method with a track notices, by the method's key."""
    return {
        key: answer
        for repo in repos
        for key, answer in _find_noticed_changes_in_repository(rows, repo)
    }


def _find_noticed_changes_in_repository(rows: Rows, repo: str) -> Iterator[tuple[Key, Noticed]]:
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
                    reached=find_reached_dependencies(row, own_edits, own_undone),
                ),
            )


def _group_by_method(rows: Iterable[Row]) -> Iterator[tuple[tuple[str, str], tuple[Row, ...]]]:
    for key, group in groupby(rows, key=lambda row: (row.method_id, str(row.walk))):
        yield key, tuple(group)


def add_noticed_changes(task: TaskRow, noticed: Mapping[Key, Noticed]) -> TaskRow:
    """Return a task with what its gold tests notice.

    `strict_askable` is True if it is true for all targets. It is None for suites, and if it is
    unknown for a target and false for none.
    """
    noticed_changes = [noticed.get((method_id, task.walk)) for method_id in task.method_ids]
    task = add_reached_dependencies(
        task, [None if each is None else each.reached for each in noticed_changes]
    )
    answers = [None if each is None else each.askable for each in noticed_changes]
    if not answers or (None in answers and False not in answers):
        return task
    return dataclasses.replace(task, strict_askable=False not in answers)
