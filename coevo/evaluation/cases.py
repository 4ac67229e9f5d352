"""The grading of one prediction for one task, from the submission to the results of its targets."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from coevo.evaluation.assignments import Assignment, TaskAttempt
from coevo.evaluation.implement.context import CodeContext
from coevo.evaluation.implement.grading import grade_code
from coevo.evaluation.implement.patches import (
    NO_FILE,
    apply_code_patch,
    find_code_refusal,
    open_start_code,
)
from coevo.evaluation.judging.application import (
    AppliedFile,
    Refusal,
    apply_patch,
    find_file_refusal,
    find_refusal,
    refuse_by_language,
    replace_file,
)
from coevo.evaluation.judging.outcomes import (
    GradingResult,
    TargetResult,
    make_refused_result,
    make_trouble_result,
)
from coevo.evaluation.judging.protocol import (
    BuildFailure,
    TaskChecks,
    find_submitted_targets,
    grade_targets,
)
from coevo.evaluation.judging.start_states import StartStateLost, StartStates, restore_start_file
from coevo.evaluation.judging.task_context import GradingCase, TaskContext
from coevo.evaluation.measuring.judged_adequacy import AdequacySettings, add_adequacy
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.suites.judging import find_submitted_tests, grade_fixed_suite, grade_suite
from coevo.evaluation.suites.maintenance import grade_maintenance
from coevo.evaluation.suites.outcomes import SuiteRunResult
from coevo.git.repository import CorruptObject, load_content
from coevo.languages.engine import Builder
from coevo.languages.verdicts import RunConditions
from coevo.model.records import Pair
from coevo.model.task_rows import TaskRow


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryContext:
    """The data that all gradings in one repository share.

    measures      what to measure of submissions that pass; None: verdicts only
    test_seconds  CPU seconds for a test; None is the usual limit
    fixes         whether whole test files get mechanical fixes before they are graded
    known         results of checks that several gradings of a task share
    """

    states: StartStates
    measures: AdequacySettings | None = None
    test_seconds: float | None = None
    fixes: bool = False
    known: TaskChecks = field(default_factory=TaskChecks)


def grade_if_refused(attempt: TaskAttempt) -> GradingResult | None:
    """Return the grading of a submission that is refused whatever the start file is; else None.

    It is also None for maintenance, where a refused submission leaves the file as it is in the
    start state and each test still gets its outcome.
    """
    assignment, prediction = attempt.assignment, attempt.prediction
    if assignment.is_maintenance:
        return None
    path = assignment.task.test_file
    if assignment.asks_for_code:
        refusal = find_code_refusal(prediction.patch) if prediction.file is None else NO_FILE
    elif prediction.file is not None:
        refusal = find_file_refusal(prediction.file, path)
    else:
        refusal = find_refusal(prediction.patch, path, _list_dependency_and_focus_files(assignment))
    return None if refusal is None else make_refused_result(assignment, refusal)


def prepare_case(shared: RepositoryContext, attempt: TaskAttempt) -> GradingCase | GradingResult:
    """Return the case to run, or a grading if there is nothing to run.

    There is nothing to run if the submission is refused, or if the start state or an object of the
    repository is missing.
    """
    try:
        return _make_case(shared, attempt)
    except StartStateLost as error:
        return make_trouble_result(attempt.assignment, Detail.START_STATE, str(error))
    except CorruptObject as error:
        return make_trouble_result(attempt.assignment, Detail.NO_REPOSITORY, str(error))


def _make_case(shared: RepositoryContext, attempt: TaskAttempt) -> GradingCase | GradingResult:
    assignment, prediction = attempt.assignment, attempt.prediction
    task, states = assignment.task, shared.states
    start = restore_start_file(states.source, task)
    if assignment.asks_for_code:
        return _make_code_case(shared, attempt, start)
    if prediction.file is not None:
        applied = replace_file(prediction.file, task.test_file, start)
    else:
        applied = apply_patch(
            prediction.patch, task.test_file, start, _list_dependency_and_focus_files(assignment)
        )
    gold = load_content(states.source, task.new_rev, task.test_file)
    applied = refuse_by_language(applied, task.test_file, (start, gold))
    refusal = None if isinstance(applied, AppliedFile) else applied
    if refusal is not None and not assignment.is_maintenance:
        return make_refused_result(assignment, refusal)
    patched = applied.content if isinstance(applied, AppliedFile) else start
    return GradingCase(
        attempt=attempt,
        pair=_make_pair(shared, assignment, states.commit(task, start)),
        start=start,
        patched=patched,
        tests_rev=states.commit(task, patched) if assignment.asks_for_suite else '',
        refusal=refusal,
    )


def _make_code_case(
    shared: RepositoryContext, attempt: TaskAttempt, start: bytes | None
) -> GradingCase | GradingResult:
    task, states = attempt.assignment.task, shared.states
    start_rev = states.commit(task, start)
    code = open_start_code(states, task, start_rev)
    applied = apply_code_patch(attempt.prediction.patch, code)
    if isinstance(applied, Refusal):
        return make_refused_result(attempt.assignment, applied)
    digest = attempt.prediction.digest[:16]
    tests_rev = states.commit_code(task, f'submitted/{digest}', start_rev, applied.files)
    if states.repository.header(tests_rev).tree == states.repository.header(start_rev).tree:
        return make_refused_result(attempt.assignment, Refusal(detail=Detail.EMPTY))
    return GradingCase(
        attempt=attempt,
        pair=states.make_pair(task, start_rev, tests_rev),
        start=start,
        patched=start,
        tests_rev=tests_rev,
        left_out=applied.left_out,
        gold_rev=_commit_start_with_gold_code(states, task, start_rev, code.gold),
    )


def _commit_start_with_gold_code(
    states: StartStates, task: TaskRow, start_rev: str, paths: Iterable[str]
) -> str:
    """Write the start state with gold's code as a commit, and return its hash."""
    code = ((path, load_content(states.source, task.new_rev, path)) for path in paths)
    return states.commit_code(task, 'gold', start_rev, tuple(code))


def _make_pair(shared: RepositoryContext, assignment: Assignment, start_rev: str) -> Pair:
    """Return the pair to build: the start state as its new end, the old revision as its old end.

    If nothing runs on old code, the start state is the old end as well, so that only one end is
    built.
    """
    task = assignment.task
    needs_old = assignment.must_fail_on_old_code or shared.measures is not None
    needs_old = needs_old and not assignment.asks_for_suite
    return shared.states.make_pair(task, task.old_rev if needs_old else start_rev, start_rev)


def grade_case(shared: RepositoryContext, case: GradingCase, builder: Builder) -> GradingResult:
    """Run a case and return its grading.

    If a revision does not build, or an object is missing, the grading says that (`infra`).
    Raises: Transient for trouble that another try may not have.
    """
    assignment = case.attempt.assignment
    if assignment.asks_for_code:
        return _grade_code_case(shared, case, builder)
    if assignment.asks_for_suite:
        return _grade_suite_case(shared, case, builder)
    methods = find_submitted_targets(assignment, case.start, case.patched)
    if case.patched is None or not methods:
        return GradingResult(seen={target.name: TargetResult() for target in assignment.targets})
    began = time.monotonic()
    try:
        context = _make_context(shared, case, builder)
        building = time.monotonic() - began
        judgement = grade_targets(context, case.patched, methods, shared.known)
    except (BuildFailure, CorruptObject) as error:
        return _make_build_trouble_result(assignment, error)
    judgement.seconds += building
    if shared.measures is None:
        return judgement
    return add_adequacy(shared.measures, context, judgement, case.patched, shared.known.placebos)


def _grade_suite_case(
    shared: RepositoryContext, case: GradingCase, builder: Builder
) -> GradingResult:
    assignment, ledger = case.attempt.assignment, shared.known.preconditions.ledger
    repository = shared.states.repository
    methods = None if assignment.is_maintenance else find_submitted_tests(case, repository)
    if isinstance(methods, SuiteRunResult):
        return GradingResult(suite=methods)
    try:
        context = _make_context(shared, case, builder)
        if methods is None:
            return grade_maintenance(context, case, ledger)
        assert case.patched is not None, 'a file with tests is there'
        if shared.fixes:
            return grade_fixed_suite(context, case, methods, ledger)
        return grade_suite(context, case.patched, methods, ledger)
    except (BuildFailure, CorruptObject) as error:
        return _make_build_trouble_result(assignment, error)


def _grade_code_case(
    shared: RepositoryContext, case: GradingCase, builder: Builder
) -> GradingResult:
    assignment = case.attempt.assignment
    context = CodeContext(
        assignment=assignment,
        states=shared.states,
        builder=builder,
        start=case.start or b'',
        start_rev=case.pair.old.rev,
        gold_rev=case.gold_rev,
        conditions=RunConditions(override=assignment.override, cpu_limit=shared.test_seconds),
    )
    try:
        ledger = shared.known.preconditions.ledger
        return grade_code(context, case.tests_rev, case.left_out, ledger)
    except (BuildFailure, CorruptObject) as error:
        return _make_build_trouble_result(assignment, error)


def _make_build_trouble_result(
    assignment: Assignment, error: BuildFailure | CorruptObject
) -> GradingResult:
    detail = Detail.NO_REPOSITORY if isinstance(error, CorruptObject) else Detail.NOT_BUILT
    return make_trouble_result(assignment, detail, str(error))


def _make_context(shared: RepositoryContext, case: GradingCase, builder: Builder) -> TaskContext:
    return TaskContext(
        assignment=case.attempt.assignment,
        built=builder.build(case.pair),
        repository=shared.states.repository,
        source=shared.states.source,
        start=case.start,
        conditions=RunConditions(
            override=case.attempt.assignment.override, cpu_limit=shared.test_seconds
        ),
        measured=shared.measures is not None,
    )


def _list_dependency_and_focus_files(assignment: Assignment) -> frozenset[str]:
    task = assignment.task
    focus = {entry.file for entry in task.focus or ()}
    return frozenset({entry.file for entry in task.dependencies} | focus)
