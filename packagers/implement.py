"""Build tasks that give the new tests of a change and ask for its code.

They are made from the co-evolution tasks of a test file and from the cells of its tests: a target is
a new test that fails on the old code and passes on the new code. Nothing is run. The start state is
that of the co-evolution task with the old code. Other test files of the change lack their targets,
the siblings, which are not shown and help to grade the code.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from coevo import prompts
from coevo.evaluation.implement.patches import StartCode, find_code_refusal
from coevo.git.patches import make_tree_patch
from coevo.git.repository import Repository, load_content
from coevo.model.families import DemandedTest, Family, Scenario, StartBuilder, TestRole
from coevo.model.method_rows import MethodRow
from coevo.model.quality import SiblingState
from coevo.model.reasons import Reason
from coevo.model.records import Drop, compute_short_hash
from coevo.model.task_rows import TaskRow
from coevo.model.words import Outcome, Stage, Walk
from packagers.dating import find_earliest_if_all_known
from packagers.plan import BuiltTasks
from packagers.task_commands import (
    Environments,
    TaskDependencies,
    find_environment_to_run_targets,
    render_implement_prompt,
)

Place = tuple[str, Walk]
"""A pair and a walk."""


def build_implement_tasks(
    built: BuiltTasks,
    methods: Iterable[MethodRow],
    clones: Mapping[str, Repository],
    environments: Environments,
) -> tuple[list[TaskRow], list[Drop]]:
    """Return a task or a drop for each test file that has targets and a co-evolution task.

    built    the tasks of co-evolution, with the methods that belong to them; others are ignored
    methods  rows with their contamination dates, including those without a track
    """
    bases = _choose_base_per_test_file(built.tasks)
    wanted = {(task.pair_id, task.walk) for task in bases}
    rows: dict[Place, list[MethodRow]] = defaultdict(list)
    for row in methods:
        pair_key = row.pair_id, row.walk
        if pair_key in wanted and (row.method_id, row.walk) in built.ids and _is_fail_to_pass(row):
            rows[pair_key].append(row)
    tasks: list[TaskRow] = []
    drops: list[Drop] = []
    for base in bases:
        targets = rows[base.pair_id, base.walk]
        if not any(row.test_file == base.test_file for row in targets):
            continue
        task_or_drop = _build_task_or_drop(base, targets, clones[base.repo], environments)
        if isinstance(task_or_drop, TaskRow):
            tasks.append(task_or_drop)
        else:
            drops.append(task_or_drop)
    tasks.sort(key=lambda task: task.task_id)
    return tasks, drops


def _choose_base_per_test_file(tasks: Iterable[TaskRow]) -> list[TaskRow]:
    """Return one co-evolution task for each test file of a pair, sorted by repository."""
    by_file: dict[tuple[str, Walk, str], TaskRow] = {}
    for task in sorted(tasks, key=lambda task: (task.track, task.task_id)):
        if task.family is Family.COEVOLUTION:
            by_file.setdefault((task.pair_id, task.walk, task.test_file), task)
    return sorted(by_file.values(), key=lambda task: (task.repo, task.language, task.task_id))


def _is_fail_to_pass(row: MethodRow) -> bool:
    """Return whether the cells of a test prove that it fails on the old code and passes on the new."""
    before = row.t_new_c_old
    return row.t_new_c_new is Outcome.PASS and before is not None and before.is_broken


def compute_implement_task_id(base: TaskRow) -> str:
    """Return the id of the task for the test file of a co-evolution task."""
    return compute_short_hash(
        *(base.repo, base.language, base.old_rev, base.new_rev),
        *(Family.IMPLEMENT, base.test_file),
    )


def _build_task_or_drop(
    base: TaskRow, targets: Sequence[MethodRow], clone: Repository, environments: Environments
) -> TaskRow | Drop:
    own = [row for row in targets if row.test_file == base.test_file]
    shown = load_content(clone, base.new_rev, base.test_file)
    patch = make_code_patch(clone, base, own)
    trouble = None if shown is not None else 'the test file is not there at new'
    if trouble is None and not patch:
        trouble = 'no file of the code differs'
    refusal = None if trouble else find_code_refusal(patch.encode('utf-8', 'surrogateescape'))
    if refusal is not None:
        trouble = f'the patch of the code: {refusal.detail.clause}'
    if trouble is not None or shown is None:
        return Drop.make_drop_at_stage(
            Stage.TASK,
            base,
            compute_implement_task_id(base),
            Reason.START_STATE_INVALID,
            trouble or '',
            test_file=base.test_file,
        )
    return _build_task(base, targets, clone, environments, shown, patch)


def _build_task(
    base: TaskRow,
    targets: Sequence[MethodRow],
    clone: Repository,
    environments: Environments,
    shown: bytes,
    patch: str,
) -> TaskRow:
    own = [row for row in targets if row.test_file == base.test_file]
    listing = TaskDependencies.from_rows(own)
    environment = find_environment_to_run_targets(own, environments, clone)
    dates = [date for row in own for date in (row.contamination_date, row.code_first_seen)]
    return dataclasses.replace(
        base,
        task_id=compute_implement_task_id(base),
        family=Family.IMPLEMENT,
        scenario=Scenario.IMPLEMENT,
        start_builder=StartBuilder.OLD_CODE,
        siblings=tuple(each for each in base.siblings or () if each.test_file != base.test_file),
        demanded=(
            *_list_demanded_tests(own, TestRole.TARGET),
            *_list_demanded_tests(_select_siblings(base, own, targets), TestRole.SIBLING),
        ),
        test_methods=(),
        method_ids=(),
        contamination_date=find_earliest_if_all_known(dates),
        code_first_seen=find_earliest_if_all_known(row.code_first_seen for row in own),
        start_file_sha256=hashlib.sha256(shown).hexdigest(),
        test_patch='',
        source_patch=patch,
        dependencies=listing.dependencies,
        dependency_list=listing.which,
        focal_method=None,
        focal_source=None,
        environment=environment,
        prompt=render_implement_prompt(clone, own, listing, environment),
        prompt_version=prompts.VERSION,
        leak=None,
        nearest=None,
        coverage_gold=None,
        coverage_gold_success=None,
        code_coverage_gold=None,
        code_coverage_gold_success=None,
        mutation_score_gold=None,
        mutation_score_gold_success=None,
    )


def make_code_patch(clone: Repository, base: TaskRow, rows: Sequence[MethodRow]) -> str:
    """Return the patch of the code between both ends of a pair: gold of a task that asks for code.

    It has all files that a submission may change, at one end or the other.
    """
    named = {dependency.file for row in rows for dependency in row.dependencies}
    ends = [
        StartCode(repository=clone, language=base.language, rev=rev, gold=named)
        for rev in (base.old_rev, base.new_rev)
    ]
    changed = [change.path for change in clone.list_changes(base.old_rev, base.new_rev)]
    paths = [path for path in changed if any(end.may_be_patched(path) for end in ends)]
    return make_tree_patch(clone, base.old_rev, base.new_rev, paths)


def _select_siblings(
    base: TaskRow, own: Sequence[MethodRow], targets: Iterable[MethodRow]
) -> Iterator[MethodRow]:
    """Yield the targets of other files that the start state lacks and that code can be asked for.

    A sibling counts if it executes no changed declaration that no visible target executes: what it
    needs beyond that cannot be known. Tests of the base's own file are targets, whatever their
    track, since the agent sees the whole file.
    """
    absent = {
        (siblings.test_file, name)
        for siblings in base.siblings or ()
        if siblings.test_file != base.test_file and siblings.undone is not SiblingState.STAYS
        for name in siblings.test_methods
    }
    known = {dependency.name for row in own for dependency in row.dependencies}
    for row in targets:
        needed = {dependency.name for dependency in row.dependencies}
        if (row.test_file, _name_test(row)) in absent and needed <= known:
            yield row


def _list_demanded_tests(rows: Iterable[MethodRow], role: TestRole) -> Iterator[DemandedTest]:
    for row in sorted(rows, key=lambda row: (row.test_file, _name_test(row), row.method_id)):
        yield DemandedTest(
            method_id=row.method_id,
            test_file=row.test_file,
            test_method=_name_test(row),
            role=role,
        )


def _name_test(row: MethodRow) -> str:
    return f'{row.test_class.rpartition(".")[2]}#{row.test_method}'
