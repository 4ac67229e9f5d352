"""What each baseline answers to a task: a patch against its start state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.baselines.calls import CALLS
from benchmarks.baselines.copying import copy_sibling, find_nearest_model, list_models, put_test
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


def answer_gold(repository: Repository, assignment: Assignment) -> str:
    """Take the developers' own patch."""
    return assignment.task.test_patch


def answer_nothing(repository: Repository, assignment: Assignment) -> str:
    """Hand in an empty patch."""
    return ''


def add_blank_line(repository: Repository, assignment: Assignment) -> str:
    """Add a blank line at the end, so that there is something to judge."""
    start = restore_start_file(repository, assignment.task)
    return '' if start is None else make_file_patch(assignment.task.test_file, start, start + b'\n')


def delete_others(repository: Repository, assignment: Assignment) -> str:
    """Take gold, and delete every other test of the file, with what they alone use."""
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
    targets_gone = [StartTarget(method=method) for method in others]
    try:
        cut = (
            get_surgery(task.language).make_start_file(new, new, targets_gone)
            if targets_gone
            else new
        )
    except StartStateInvalid:
        return task.test_patch  # they cannot go
    return make_file_patch(task.test_file, restore_start_file(repository, task), cut)


def call_named(repository: Repository, assignment: Assignment) -> str:
    """Write for each target a test that calls the methods which the prompt names."""
    task = assignment.task
    write = CALLS.get(task.language)
    named = [each for each in task.dependencies if each.is_method]
    if write is None or not named:
        return ''
    start = text = restore_start_file(repository, task)
    models = list_models(repository, assignment, start)
    for target in assignment.targets:
        model = find_nearest_model(target, text, models)
        if model is not None:
            text = put_test(text, target, model, write(target.method.test_method, named, model))
    return make_file_patch(task.test_file, start, text)


ANSWERS: Mapping[str, BaselineAnswer] = {
    'gold': BaselineAnswer(make=answer_gold, clause="the developers' own patch"),
    'empty': BaselineAnswer(make=answer_nothing, clause='an empty patch'),
    'no-change': BaselineAnswer(make=add_blank_line, clause='the start file and a blank line'),
    'copy-sibling': BaselineAnswer(
        make=copy_sibling, clause='the most similar test of the start state, names replaced'
    ),
    'delete-others': BaselineAnswer(
        make=delete_others, clause="the developers' patch, and every other test of the file deleted"
    ),
    'call-named': BaselineAnswer(
        make=call_named,
        clause='a call of each named method with default arguments, asserted to be non-null',
    ),
}
"""By the name of the submission."""
