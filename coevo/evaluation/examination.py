"""The grading of many predictions: known results are recalled, others run by repository."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from coevo.engine.workers import BuilderPool, WorkFailure, run_in_parallel
from coevo.evaluation.assignments import AttemptKey, TaskAttempt
from coevo.evaluation.cases import (
    RepositoryContext,
    grade_case,
    grade_if_refused,
    prepare_case,
)
from coevo.evaluation.checkout import open_task_repository
from coevo.evaluation.judging.outcomes import GradingResult, make_trouble_result
from coevo.evaluation.judging.placebos import PlaceboRunner
from coevo.evaluation.judging.preconditions import PreconditionChecker
from coevo.evaluation.judging.protocol import TaskChecks
from coevo.evaluation.judging.start_states import StartStates
from coevo.evaluation.judging.task_context import GradingCase
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.measuring.judged_adequacy import AdequacySettings
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.records import MethodResult
from coevo.evaluation.rows import (
    ResultHeader,
    adapt_rows,
    adapt_suite_row,
    make_rows,
    make_suite_row,
)
from coevo.evaluation.suites.records import SuiteResult
from coevo.git.clones import NoRepository
from coevo.git.repository import Repository
from coevo.languages.engine import Builder, RunSettings
from coevo.languages.table import LANGUAGES
from coevo.model.errors import Bug, Transient, catch_bug
from coevo.model.listener import Listener
from coevo.storage import documents
from coevo.storage.documents import identify_build
from coevo.storage.place import encode_folder_name
from coevo.storage.places import open_place

# How often a case is tried if coevo itself is in trouble, each time with new builders. That is in
# addition to the tries of `run_in_parallel`.
ROUNDS = 2
# The folder of the evaluation cache for the tracebacks of bugs, a file for each attempt.
FAILURES = 'failures'

Result = TypeVar('Result')


@dataclass(slots=True, kw_only=True)
class GradingRun:
    """The grading of all attempts, and its results so far.

    total           the number of attempts
    method_results  the rows of each finished attempt, by task and attempt
    suites          the row of each finished attempt at a suite task
    recalled        the number of attempts whose results were known
    missing_runtimes  runtimes of tasks that this machine cannot provide, by language and version
    tries           how often each attempt was run
    bugs            by task and attempt, the place of the record of a bug that ended it
    """

    options: EvaluationOptions
    header: ResultHeader
    ledger: Ledger
    measures: AdequacySettings | None
    listener: Listener
    total: int
    missing_runtimes: frozenset[tuple[str, str]] = frozenset()
    method_results: dict[AttemptKey, tuple[MethodResult, ...]] = field(default_factory=dict)
    suites: dict[AttemptKey, SuiteResult] = field(default_factory=dict)
    recalled: int = 0
    tries: Counter[AttemptKey] = field(default_factory=Counter)
    bugs: dict[AttemptKey, str] = field(default_factory=dict)

    def grade_attempts(self, answers: Sequence[TaskAttempt]) -> None:
        """Grade all attempts; of equal submissions for a task only the first is run."""
        left = self._grade_without_run_and_list_rest(answers)
        first = {attempt.prediction.digest: attempt for attempt in reversed(left)}
        alone = [attempt for attempt in left if first[attempt.prediction.digest] is attempt]
        self._grade_repositories(alone)
        again = [attempt for attempt in left if first[attempt.prediction.digest] is not attempt]
        self._grade_repositories(self._grade_without_run_and_list_rest(again))

    def _grade_without_run_and_list_rest(self, answers: Sequence[TaskAttempt]) -> list[TaskAttempt]:
        return [
            attempt
            for attempt in answers
            if self._run_contained(attempt, partial(self._try_grading_without_run, attempt))
            is False
        ]

    def _grade_repositories(self, answers: Sequence[TaskAttempt]) -> None:
        for _, group in groupby(answers, key=lambda one: one.assignment.task.repo):
            self._grade_repository(list(group))

    def _try_grading_without_run(self, answer: TaskAttempt) -> bool:
        """Return whether an attempt needs no run: it is refused, known, or lacks its runtime.

        If so, its result is recorded.
        """
        result = grade_if_refused(answer)
        if result is None:
            if self._try_recalling(answer):
                return True
            result = self._make_missing_runtime_result(answer)
        if result is None:
            return False
        self._record_grade(answer, result)
        return True

    def _make_missing_runtime_result(self, answer: TaskAttempt) -> GradingResult | None:
        """Return the result of a task whose runtime is missing; None if it is here."""
        task = answer.assignment.task
        runtime = task.environment.runtime if task.environment else ''
        if (task.language, runtime) not in self.missing_runtimes:
            return None
        sentence = (
            f'the task was made with {LANGUAGES[task.language].RUNTIME} {runtime}, whose release is '
            'not here and could not be installed; `coevo doctor --install` says how to install it'
        )
        return make_trouble_result(answer.assignment, Detail.RUNTIME_MISSING, sentence)

    def _try_recalling(self, answer: TaskAttempt) -> bool:
        """Return whether an attempt was graded before; if so, add its rows."""
        assignment, prediction = answer.assignment, answer.prediction
        if assignment.is_graded_as_a_whole:
            return self._try_recalling_suite(answer)
        known = self.ledger.recall_rows(assignment, prediction)
        if known is None:
            return False
        self.recalled += 1
        self._add_rows(answer, adapt_rows(known, assignment, prediction, self.header))
        return True

    def _try_recalling_suite(self, answer: TaskAttempt) -> bool:
        assignment, prediction = answer.assignment, answer.prediction
        row = self.ledger.recall_suite(assignment, prediction)
        if row is None:
            return False
        self.recalled += 1
        self._add_suite_row(adapt_suite_row(row, assignment, prediction, self.header))
        return True

    def _record_grade(self, answer: TaskAttempt, judgement: GradingResult) -> None:
        assignment, prediction = answer.assignment, answer.prediction
        tries = max(1, self.tries[answer.key])
        if judgement.suite is not None:
            row = make_suite_row(
                self.header, assignment, prediction, judgement, judgement.suite, tries
            )
            self.ledger.store_suite(assignment, prediction, row)
            self._add_suite_row(row)
            return
        result_rows = make_rows(self.header, assignment, prediction, judgement, tries)
        self.ledger.store_rows(assignment, prediction, result_rows)
        self._add_rows(answer, result_rows)

    def _add_rows(self, answer: TaskAttempt, made: tuple[MethodResult, ...]) -> None:
        self.method_results[answer.key] = made
        self._report_progress()

    def _add_suite_row(self, row: SuiteResult) -> None:
        self.suites[row.key] = row
        self._report_progress()

    def _report_progress(self) -> None:
        self.listener.step('tasks', len(self.method_results) + len(self.suites), self.total)

    def _run_contained(self, answer: TaskAttempt, work: Callable[[], Result]) -> Result | None:
        """Return the result of work for one attempt; record a bug that ends it, and return None."""
        result = catch_bug(work)
        if not isinstance(result, Bug):
            return result
        self._record_bug(answer, result)
        return None

    def _record_bug(self, answer: TaskAttempt, bug: Bug) -> None:
        """Record a bug in a file of its own, and grade its attempt as `infra`."""
        assignment, prediction = answer.assignment, answer.prediction
        about = {'task_id': assignment.task_id, 'prediction': prediction.digest}
        number = '' if prediction.attempt == 1 else f'.{prediction.attempt}'
        name = f'{encode_folder_name(assignment.task_id)}{number}.json'
        folder = open_place(self.options.evaluation_cache / FAILURES)
        self.bugs[answer.key] = documents.write_and_locate_bug_record(
            folder, name, bug, identify_build(), about
        )
        self._record_grade(answer, make_trouble_result(assignment, Detail.BUG, bug.sentence))

    # -- one repository --------------------------------------------------------------------------

    def _grade_repository(self, group: Sequence[TaskAttempt]) -> None:
        with ExitStack() as stack:
            source = self._open_repository_or_explain(group, stack)
            if isinstance(source, str):
                for attempt in group:
                    trouble = make_trouble_result(attempt.assignment, Detail.NO_REPOSITORY, source)
                    self._record_grade(attempt, trouble)
                return
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix='coevo-'))
            states = StartStates(source, Path(folder))
            stack.enter_context(closing(states.repository))
            shared = RepositoryContext(
                states=states,
                measures=self.measures,
                test_seconds=self.options.test_seconds,
                fixes=self.options.fixes,
                known=TaskChecks(
                    preconditions=PreconditionChecker(ledger=self.ledger),
                    placebos=PlaceboRunner(ledger=self.ledger),
                ),
            )
            by_engine = sorted(self._prepare_cases(shared, group), key=_get_engine_key)
            for _, same in groupby(by_engine, key=_get_engine_key):
                self._run_cases_with_retries(shared, list(same))

    def _open_repository_or_explain(
        self, group: Sequence[TaskAttempt], stack: ExitStack
    ) -> Repository | str:
        """Return the repository of some tasks, or after the last try why it is unavailable."""
        tasks, trouble = [attempt.assignment.task for attempt in group], ''
        for _ in range(ROUNDS):
            try:
                return stack.enter_context(open_task_repository(tasks, self.options.clones))
            except NoRepository as error:
                return str(error)
            except Transient as error:
                trouble = str(error)
        return trouble

    def _prepare_cases(
        self, shared: RepositoryContext, group: Sequence[TaskAttempt]
    ) -> Iterator[GradingCase]:
        for attempt in group:
            case = self._run_contained(attempt, partial(prepare_case, shared, attempt))
            if isinstance(case, GradingCase):
                yield case
            elif isinstance(case, GradingResult):
                self._record_grade(attempt, case)

    def _run_cases_with_retries(
        self, shared: RepositoryContext, cases: Sequence[GradingCase]
    ) -> None:
        for number in range(ROUNDS):
            failed = []
            for case, result in self._run_cases(shared, cases):
                attempt = case.attempt
                if isinstance(result, GradingResult):
                    self._run_contained(attempt, partial(self._record_grade, attempt, result))
                elif isinstance(result, Bug):
                    self._record_bug(attempt, result)
                elif number + 1 < ROUNDS:
                    failed.append(case)
                else:
                    assignment, why = attempt.assignment, result.sentence
                    trouble = make_trouble_result(assignment, Detail.TROUBLE, why)
                    self._record_grade(attempt, trouble)
            cases = failed
            if not cases:
                return

    def _run_cases(
        self, shared: RepositoryContext, cases: Sequence[GradingCase]
    ) -> Iterator[tuple[GradingCase, GradingResult | WorkFailure | Bug]]:
        def grade_with_builder(
            case: GradingCase, open_builder: Callable[[], Builder]
        ) -> GradingResult:
            """Grade one case with a builder of the pool."""
            self.tries[case.attempt.key] += 1
            return grade_case(shared, case, open_builder())

        language = LANGUAGES[cases[0].pair.language]
        run = RunSettings(
            repository=shared.states.repository,
            sandbox=self.options.sandbox,
            say=self.listener.say,
            runtimes=language.make_runtimes(like=_get_runtime(cases[0])),
        )
        with (
            BuilderPool(language, run, [case.pair for case in cases]) as builders,
            closing(
                run_in_parallel(grade_with_builder, cases, builders, jobs=self.options.jobs)
            ) as results,
        ):
            for case, result in results:
                builders.remove_builds_no_longer_needed(case.pair)
                yield case, result


def _get_engine_key(case: GradingCase) -> tuple[str, str]:
    """Return what cases must have in common to share builders: the language and the runtime.

    One repository can have tasks of several languages.
    """
    return case.pair.language, _get_runtime(case)


def _get_runtime(case: GradingCase) -> str:
    environment = case.attempt.assignment.task.environment
    return environment.runtime if environment else ''
