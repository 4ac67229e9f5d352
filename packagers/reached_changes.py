"""Find the changes of the code that gold's assertions reach, by what gold notices.

Gold reaches a change if it runs and fails when that change is undone. Where it cannot be undone, a
mutant of its lines decides. A declaration that is new is also reached if gold does not compile without it. What a test
merely has to name, such as a constructor with another parameter, is not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from coevo.model.dependencies import Dependency, Revised, select_dependencies
from coevo.model.method_rows import MethodRow
from coevo.model.quality import MutantRow, ReversalRow, ReversalStatus
from coevo.model.task_rows import TaskRow
from coevo.model.words import Outcome

_FAILED = (Outcome.FAIL, Outcome.ERROR, Outcome.TIMEOUT)
_UNASKED = (ReversalStatus.NOT_RUN, ReversalStatus.NOT_OFFERED)


def find_reached(
    row: MethodRow, mutants: Sequence[MutantRow], reversals: Sequence[ReversalRow]
) -> frozenset[str] | None:
    """Return the names of the dependencies of a gold test that its assertions reach.

    None if no mutant and no undone change was run.
    """
    undone = [each for each in reversals if each.status not in _UNASKED]
    run = [each for each in mutants if each.outcome is not None]
    if not undone and not run:
        return None
    found = [_find_undone(row, each) for each in undone if _is_noticed(each)]
    decided = {
        _find_undone(row, each)
        for each in undone
        if each.status is not ReversalStatus.DOES_NOT_COMPILE
    }
    killed = [
        _find_innermost(row.dependencies, each.file, each.line, None)
        for each in run
        if each.killed and each.outcome in _FAILED
    ]
    found += [each for each in killed if each not in decided]
    return frozenset(each.name for each in found if each is not None)


def _find_undone(row: MethodRow, undone: ReversalRow) -> Dependency | None:
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

    revised  what the pair did to the line's part; lines of what was removed are those at old
    """
    around = [
        each
        for each in dependencies
        if each.file == file
        and each.start_line <= line <= each.end_line
        and (each.revised is Revised.REMOVED) == (revised is Revised.REMOVED)
    ]
    return min(around, key=lambda each: (each.end_line - each.start_line, each.rank), default=None)


def mark_reached(task: TaskRow, reached: Iterable[frozenset[str] | None]) -> TaskRow:
    """Return a task with `reached` and `focus_agreed`.

    The focus is agreed if half of the targets reach a change that the prompt names. Targets of which
    nothing is known do not count; both are None if nothing is known of any.

    reached  for each target what it reaches, as `find_reached` returns it
    """
    known = [names for names in reached if names is not None]
    if not known:
        return task
    named = {each.name for each in select_dependencies(task.dependencies, task.dependency_list)}
    union = frozenset[str]().union(*known)
    return dataclasses.replace(
        task,
        reached=tuple(each.name for each in task.dependencies if each.name in union),
        focus_agreed=2 * sum(bool(names & named) for names in known) >= len(known),
    )
