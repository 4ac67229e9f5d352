"""Build tasks that ask to maintain a whole test file.

The file has tests that a change broke and tests that must stay. The tasks are made from the update
tasks of the file and from the labels of its other tests. Each update task gives at most one, at the
same pair.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from coevo import prompts
from coevo.evaluation.suites.texts import TestText, load_test_texts
from coevo.git.patches import make_file_patch
from coevo.git.repository import Repository, load_content
from coevo.languages.table import get_reading
from coevo.model.dependencies import Dependency
from coevo.model.families import (
    MOST_TESTS,
    STAYING,
    ExpectedAction,
    Family,
    Focus,
    FocusKind,
    MaintainedMethod,
    Scenario,
    StartBuilder,
    find_expected_action,
)
from coevo.model.method_rows import MethodRow
from coevo.model.reasons import Reason
from coevo.model.records import Drop, compute_short_hash
from coevo.model.task_rows import TaskRow
from coevo.model.words import MethodChange, Stage, Track, Walk
from packagers.dating import find_earliest_if_all_known
from packagers.shown_answers import LeakMeter
from packagers.task_commands import (
    Environments,
    TaskDependencies,
    find_environment_to_run_file,
    render_maintenance_prompt,
)

_ANSWERS = (MethodChange.CHANGED, MethodChange.INSERTED)

Place = tuple[str, Walk, str]
"""A pair, a walk and a test file."""


def build_maintenance_tasks(
    updates: Iterable[TaskRow],
    methods: Iterable[MethodRow],
    clones: Mapping[str, Repository],
    environments: Environments,
) -> tuple[list[TaskRow], list[Drop]]:
    """Return a maintenance task or a drop for each update task.

    There is a task if the file has not moved and has a labelled test that must stay.

    updates  the tasks of a release; those of other families and tracks are ignored
    methods  rows with their contamination dates, including those without a track
    """
    wanted = {_get_file_key(task): task for task in updates if _is_coevolution_update(task)}
    rows: dict[Place, list[MethodRow]] = defaultdict(list)
    for row in methods:
        file_key = row.pair_id, row.walk, row.test_file
        if file_key in wanted:
            rows[file_key].append(row)
    tasks: list[TaskRow] = []
    drops: list[Drop] = []
    for file_key, update in sorted(wanted.items(), key=lambda item: (item[1].repo, item[0])):
        task_or_drop = _build_task_or_drop(
            update, rows[file_key], clones[update.repo], environments
        )
        if isinstance(task_or_drop, TaskRow):
            tasks.append(task_or_drop)
        else:
            drops.append(task_or_drop)
    tasks.sort(key=lambda task: task.task_id)
    return tasks, drops


def _is_coevolution_update(task: TaskRow) -> bool:
    """Return whether a task is an update of co-evolution; suites have such a track, too."""
    return task.track is Track.UPDATE and task.family in (None, Family.COEVOLUTION)


def _get_file_key(task: TaskRow) -> Place:
    return task.pair_id, task.walk, task.test_file


def compute_maintenance_task_id(update: TaskRow) -> str:
    """Return the id of the maintenance task for an update task."""
    return compute_short_hash(
        *(update.repo, update.language, update.old_rev, update.new_rev),
        *(Family.MAINTENANCE, update.test_file),
    )


def _build_task_or_drop(
    update: TaskRow, rows: Sequence[MethodRow], clone: Repository, environments: Environments
) -> TaskRow | Drop:
    path = update.test_file
    old, new = (load_content(clone, rev, path) for rev in (update.old_rev, update.new_rev))
    if old is None or new is None:
        return _make_drop(update, Reason.START_STATE_INVALID, 'the file has moved')
    maintained = list_maintained_methods(rows, clone, old, new)
    if not any(method.expected_action is ExpectedAction.UPDATE for method in maintained):
        return _make_drop(update, Reason.START_STATE_INVALID, 'its tests come from another file')
    if len(maintained) > MOST_TESTS:
        return _make_drop(update, Reason.START_STATE_INVALID, f'more than {MOST_TESTS} tests')
    if not any(
        method.label is not None and method.expected_action in STAYING for method in maintained
    ):
        return _make_drop(update, Reason.NOTHING_TO_KEEP)
    return _build_task(update, rows, clone, environments, maintained, old, new)


def _build_task(
    update: TaskRow,
    rows: Sequence[MethodRow],
    clone: Repository,
    environments: Environments,
    maintained: tuple[MaintainedMethod, ...],
    old: bytes,
    new: bytes,
) -> TaskRow:
    path, listing = update.test_file, TaskDependencies.from_rows(rows)
    answers = [row for row in rows if row.change in _ANSWERS]
    leaks = LeakMeter(clone, update.language)
    environment = find_environment_to_run_file(update, environments, clone)
    return dataclasses.replace(
        update,
        task_id=compute_maintenance_task_id(update),
        family=Family.MAINTENANCE,
        scenario=Scenario.UPDATE,
        start_builder=StartBuilder.OLD,
        maintained=maintained,
        focus=tuple(_list_focus(clone, update, listing.listed_dependencies)),
        test_methods=(),
        method_ids=(),
        contamination_date=find_earliest_if_all_known(row.contamination_date for row in answers),
        code_first_seen=find_earliest_if_all_known(row.code_first_seen for row in answers),
        start_file_sha256=hashlib.sha256(old).hexdigest(),
        test_patch=make_file_patch(path, old, new, clone.tree(update.new_rev)[path].mode),
        dependencies=listing.dependencies,
        dependency_list=listing.which,
        environment=environment,
        prompt=render_maintenance_prompt(clone, rows, update.module, listing, environment),
        prompt_version=prompts.VERSION,
        leak=leaks.compute_largest_leaked_share(answers, {path: old}),
        nearest=leaks.compute_largest_share_at_old(answers),
        siblings=(),
        sibling_patch='',
        focal_method=None,
        focal_source=None,
        coverage_gold=None,
        coverage_gold_success=None,
        code_coverage_gold=None,
        code_coverage_gold_success=None,
        mutation_score_gold=None,
        mutation_score_gold_success=None,
    )


def _list_focus(
    clone: Repository, update: TaskRow, dependencies: Sequence[Dependency]
) -> Iterator[Focus]:
    """Yield the source files, at new, with a changed dependency of a test of the file."""
    read = get_reading(update.language)
    for path in sorted(
        {dependency.file for dependency in dependencies if not dependency.is_resource}
    ):
        source = load_content(clone, update.new_rev, path)
        types = read.parse(source, path).types if source is not None else ()
        if source is not None and types:
            yield Focus(
                file=path,
                declaration=types[0].canonical_name,
                kind=FocusKind.FILE,
                start_line=1,
                end_line=len(source.splitlines()),
            )


def _make_drop(update: TaskRow, reason: Reason, detail: str = '') -> Drop:
    return Drop.make_drop_at_stage(
        Stage.TASK,
        update,
        compute_maintenance_task_id(update),
        reason,
        detail,
        test_file=update.test_file,
    )


# The rest pairs the tests of both ends of a file and derives from the labels what to do with each.

Texts = Mapping[str, TestText]


def list_maintained_methods(
    rows: Sequence[MethodRow], clone: Repository, old: bytes, new: bytes
) -> tuple[MaintainedMethod, ...]:
    """Return the tests of the new file in its order, then those that only the old file has.

    Each has its label and the action that is expected.

    rows  those of the file, at one pair and walk; a test without a row is the same test if its name
          is the same
    """
    first = rows[0]
    olds = load_test_texts(clone, first.language, first.old_rev, first.module, first.test_file, old)
    news = load_test_texts(clone, first.language, first.new_rev, first.module, first.test_file, new)
    return tuple(_pair_methods(rows, olds, news))


def _pair_methods(
    rows: Sequence[MethodRow], olds: Texts, news: Texts
) -> Iterator[MaintainedMethod]:
    at_new = {
        _find_new_name(row, news): row for row in rows if row.change is not MethodChange.DELETED
    }
    at_old = {
        _find_old_name(row, olds): row for row in rows if row.change is not MethodChange.INSERTED
    }
    known = {id(row): name for name, row in at_old.items()}
    used: set[str | None] = set()
    for name in news:
        row = at_new.get(name)
        before = known.get(id(row)) if row else name if _is_unclaimed(name, olds, at_old) else None
        used.add(before)
        yield _make_maintained_method(row, before, name, olds, news)
    for name in olds:
        if name not in used:
            yield _make_maintained_method(at_old.get(name), name, None, olds, news)


def _is_unclaimed(name: str, olds: Texts, at_old: Mapping[str | None, MethodRow]) -> bool:
    return name in olds and name not in at_old


def _make_maintained_method(
    row: MethodRow | None, before: str | None, after: str | None, olds: Texts, news: Texts
) -> MaintainedMethod:
    label = row.label if row else None
    same = before is not None and after is not None and olds[before].hash == news[after].hash
    return MaintainedMethod(
        old_method=before,
        new_method=after,
        label=label,
        expected_action=find_expected_action(label, same_text=same, was_there=before is not None),
    )


def _find_new_name(row: MethodRow, news: Texts) -> str | None:
    wanted = row.test_class, row.test_method, row.parameters
    return next(
        (
            name
            for name, text in news.items()
            if (text.method.test_class, text.method.test_method, text.method.parameters) == wanted
        ),
        None,
    )


def _find_old_name(row: MethodRow, olds: Texts) -> str | None:
    """Return the name of a row's test in the old file; None if it is not there.

    Among overloads it is the one with the row's source, since rows lack old parameters.
    """
    wanted = row.old_test_class or row.test_class, row.old_test_method or row.test_method
    candidates = {
        name: text
        for name, text in olds.items()
        if (text.method.test_class, text.method.test_method) == wanted
    }
    exact = [name for name, text in candidates.items() if text.source == row.old_source] or list(
        candidates
    )
    return exact[0] if exact else None
