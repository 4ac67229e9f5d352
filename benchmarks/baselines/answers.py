"""What each baseline answers to a task: a patch against its start state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.baselines.calls import CALLS
from benchmarks.copying import copied, models_of, nearest, put
from coevo.evaluation.assignments import Assignment
from coevo.evaluation.judging.start_states import restore_start_file
from coevo.git.patches import make_file_patch
from coevo.git.repository import Repository, load_content
from coevo.languages.surgery import StartStateInvalid, StartTarget
from coevo.languages.table import get_reading, get_surgery
from coevo.model.records import TestMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineAnswer:
    """How a baseline answers, and what it is in a clause."""

    make: Callable[[Repository, Assignment], str]
    clause: str


def gold(repository: Repository, assignment: Assignment) -> str:
    return assignment.task.test_patch


def nothing(repository: Repository, assignment: Assignment) -> str:
    return ''


def unchanged(repository: Repository, assignment: Assignment) -> str:
    """A blank line at the end, so that there is something to judge."""
    start = restore_start_file(repository, assignment.task)
    return '' if start is None else make_file_patch(assignment.task.test_file, start, start + b'\n')


def only_targets(repository: Repository, assignment: Assignment) -> str:
    """Gold, and every other test of the file deleted, with what they alone use."""
    task = assignment.task
    new = load_content(repository, task.new_rev, task.test_file)
    if new is None:
        return task.test_patch
    of = get_reading(task.language)
    targets = {
        (target.method.test_class, target.method.test_method, target.method.parameters)
        for target in assignment.targets
    }
    others = [
        TestMethod(
            module=task.module,
            test_file=task.test_file,
            test_class=type_.name,
            test_method=member.name,
            parameters=member.parameters,
        )
        for type_, member in of.find_tests(of.parse(new, task.test_file), lambda name: ())
        if (type_.name, member.name, member.parameters) not in targets
    ]
    gone = [StartTarget(method=one) for one in others]
    try:
        cut = get_surgery(task.language).make_start_file(new, new, gone) if gone else new
    except StartStateInvalid:
        return task.test_patch  # they cannot go
    return make_file_patch(task.test_file, restore_start_file(repository, task), cut)


def calling(repository: Repository, assignment: Assignment) -> str:
    """Each target a test that calls the methods which the prompt names."""
    task = assignment.task
    written = CALLS.get(task.language)
    named = [one for one in task.dependencies if one.is_method]
    if written is None or not named:
        return ''
    start = made = restore_start_file(repository, task)
    models = models_of(repository, assignment, start)
    for target in assignment.targets:
        model = nearest(target, made, models)
        if model is not None:
            made = put(made, target, model, written(target.method.test_method, named, model))
    return make_file_patch(task.test_file, start, made)


ANSWERS: Mapping[str, BaselineAnswer] = {
    'gold': BaselineAnswer(make=gold, clause="the developers' own patch"),
    'empty': BaselineAnswer(make=nothing, clause='an empty patch'),
    'no-change': BaselineAnswer(make=unchanged, clause='the start file and a blank line'),
    'copy-sibling': BaselineAnswer(
        make=copied, clause='the most similar test of the start state, names replaced'
    ),
    'delete-others': BaselineAnswer(
        make=only_targets, clause="the developers' patch, and every other test of the file deleted"
    ),
    'call-named': BaselineAnswer(
        make=calling,
        clause='a call of each named method with default arguments, asserted to be non-null',
    ),
}
"""By the name of the submission."""
