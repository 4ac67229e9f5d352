"""One prediction for one task, from what was submitted to what is seen of its targets."""

from __future__ import annotations

import time
from dataclasses import dataclass
from dataclasses import field

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.judging.application import Applied
from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.application import accepted
from coevo.evaluation.judging.application import apply
from coevo.evaluation.judging.application import replaced
from coevo.evaluation.judging.application import unacceptable
from coevo.evaluation.judging.application import unacceptable_file
from coevo.evaluation.judging.judgement import Judgement
from coevo.evaluation.judging.judgement import in_trouble
from coevo.evaluation.judging.judgement import refused
from coevo.evaluation.judging.outcomes import Seen
from coevo.evaluation.judging.protocol import KnownAnswers
from coevo.evaluation.judging.protocol import NotBuilt
from coevo.evaluation.judging.protocol import judge
from coevo.evaluation.judging.protocol import submitted
from coevo.evaluation.judging.start_states import StartStateLost
from coevo.evaluation.judging.start_states import StartStates
from coevo.evaluation.judging.start_states import start_file
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.measuring.judged_adequacy import AdequacySettings
from coevo.evaluation.measuring.judged_adequacy import with_adequacy
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.records import Prediction
from coevo.evaluation.suites.judging import Submission
from coevo.evaluation.suites.judging import judge_suite
from coevo.evaluation.suites.judging import submitted_tests
from coevo.evaluation.suites.maintenance import judge_maintenance
from coevo.evaluation.suites.outcomes import JudgedSuite
from coevo.evaluation.suites.outcomes import SuiteSeen
from coevo.git.contents import content
from coevo.git.repository import CorruptObject
from coevo.languages.conditions import Conditions
from coevo.languages.engine import Builder
from coevo.model.records import Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is to be run: the start state as a commit, and the patched file, None if deleted.

    tests_rev  of a suite, a commit with the patched file, which is read and never laid out
    refusal    of maintenance, why what was handed in leaves the file as it is
    """

    assignment: Assignment
    prediction: Prediction
    pair: Pair
    start: bytes | None
    patched: bytes | None
    tests_rev: str = ''
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryContext:
    """What the cases of one repository have in common; `measures` is None for verdicts alone."""

    states: StartStates
    measures: AdequacySettings | None = None
    test_seconds: float | None = None
    known: KnownAnswers = field(default_factory=KnownAnswers)


def settled(assignment: Assignment, prediction: Prediction) -> Judgement | None:
    """The judgement of an answer that is refused as it stands, whatever the start file is.

    Of maintenance it is said of each test what becomes of it where nothing is done.
    """
    if assignment.is_maintenance:
        return None
    path = assignment.task.test_file
    if prediction.file is not None:
        refusal = unacceptable_file(prediction.file, path)
    else:
        refusal = unacceptable(prediction.patch, path, _production(assignment))
    return None if refusal is None else refused(assignment, refusal)


def prepared(
    shared: RepositoryContext, assignment: Assignment, prediction: Prediction
) -> Case | Judgement:
    """What is to be run, or why nothing is."""
    try:
        return _prepared(shared, assignment, prediction)
    except StartStateLost as error:
        return in_trouble(assignment, Detail.START_STATE, str(error))
    except CorruptObject as error:
        return in_trouble(assignment, Detail.NO_REPOSITORY, str(error))


def _prepared(
    shared: RepositoryContext, assignment: Assignment, prediction: Prediction
) -> Case | Judgement:
    task, states = assignment.task, shared.states
    start = start_file(states.source, task)
    if prediction.file is not None:
        made = replaced(prediction.file, task.test_file, start)
    else:
        made = apply(prediction.patch, task.test_file, start, _production(assignment))
    gold = content(states.source, task.new_rev, task.test_file)
    made = accepted(made, task.test_file, (start, gold))
    refusal = None if isinstance(made, Applied) else made
    if refusal is not None and not assignment.is_maintenance:
        return refused(assignment, refusal)
    patched = made.content if isinstance(made, Applied) else start
    return Case(
        assignment=assignment,
        prediction=prediction,
        pair=_pair(shared, assignment, states.commit(task, start)),
        start=start,
        patched=patched,
        tests_rev=states.commit(task, patched) if assignment.asks_suite else '',
        refusal=refusal,
    )


def _pair(shared: RepositoryContext, assignment: Assignment, start_rev: str) -> Pair:
    """Both ends; where nothing is run on old code, that is not built either."""
    task, commit = assignment.task, shared.states.repository.commit
    needs_old = assignment.is_generation or shared.measures is not None
    needs_old = needs_old and not assignment.asks_suite
    return Pair(
        repo=task.repo,
        language=task.language,
        walk=task.walk,
        old=commit(task.old_rev if needs_old else start_rev),
        new=commit(start_rev),
        old_is_ancestor=False,
    )


def examined(shared: RepositoryContext, case: Case, builder: Builder) -> Judgement:
    """Run a case; Transient for trouble of ours that another try may not have."""
    if case.assignment.is_maintenance:
        return _examined_maintenance(shared, case, builder)
    if case.assignment.asks_suite:
        return _examined_suite(shared, case, builder)
    methods = submitted(case.assignment, case.start, case.patched)
    if case.patched is None or not methods:
        return Judgement(seen={target.name: Seen() for target in case.assignment.targets})
    began = time.monotonic()
    try:
        context = _context(shared, case, builder)
        building = time.monotonic() - began
        judgement = judge(context, case.patched, methods, shared.known)
    except NotBuilt as error:
        return in_trouble(case.assignment, Detail.NOT_BUILT, str(error))
    except CorruptObject as error:
        return in_trouble(case.assignment, Detail.NO_REPOSITORY, str(error))
    judgement.seconds += building
    if shared.measures is None:
        return judgement
    return with_adequacy(shared.measures, context, judgement, case.patched, shared.known.placebos)


def _submission(shared: RepositoryContext, case: Case) -> Submission:
    return Submission(
        assignment=case.assignment,
        repository=shared.states.repository,
        start=case.start,
        patched=case.patched,
        tests_rev=case.tests_rev,
    )


def _examined_maintenance(shared: RepositoryContext, case: Case, builder: Builder) -> Judgement:
    try:
        context = _context(shared, case, builder)
        ledger = shared.known.preconditions.ledger
        suite = judge_maintenance(context, _submission(shared, case), case.refusal, ledger)
        return Judgement(seen={}, suite=suite)
    except NotBuilt as error:
        return in_trouble(case.assignment, Detail.NOT_BUILT, str(error))
    except CorruptObject as error:
        return in_trouble(case.assignment, Detail.NO_REPOSITORY, str(error))


def _examined_suite(shared: RepositoryContext, case: Case, builder: Builder) -> Judgement:
    methods = submitted_tests(_submission(shared, case))
    if isinstance(methods, SuiteSeen):
        return Judgement(seen={}, suite=JudgedSuite(seen=methods))
    assert case.patched is not None, 'a file with tests is there'
    try:
        context = _context(shared, case, builder)
        ledger = shared.known.preconditions.ledger
        return Judgement(seen={}, suite=judge_suite(context, case.patched, methods, ledger))
    except NotBuilt as error:
        return in_trouble(case.assignment, Detail.NOT_BUILT, str(error))
    except CorruptObject as error:
        return in_trouble(case.assignment, Detail.NO_REPOSITORY, str(error))


def _context(shared: RepositoryContext, case: Case, builder: Builder) -> TaskContext:
    return TaskContext(
        assignment=case.assignment,
        built=builder.build(case.pair),
        repository=shared.states.repository,
        source=shared.states.source,
        start=case.start,
        conditions=Conditions(override=case.assignment.override, cpu_limit=shared.test_seconds),
        measured=shared.measures is not None,
    )


def _production(assignment: Assignment) -> frozenset[str]:
    task = assignment.task
    focus = {one.file for one in task.focus or ()}
    return frozenset({one.file for one in task.dependencies} | focus)
