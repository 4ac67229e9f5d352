"""Judge many predictions: what is known is recalled, the rest is run repository by repository."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import ExitStack
from contextlib import closing
from dataclasses import dataclass
from dataclasses import field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from coevo.engine.builders import Builders
from coevo.engine.workers import WorkFailure
from coevo.engine.workers import run_in_parallel
from coevo.evaluation.assignments import Assignment
from coevo.evaluation.cases import Case
from coevo.evaluation.cases import RepositoryContext
from coevo.evaluation.cases import examined
from coevo.evaluation.cases import prepared
from coevo.evaluation.cases import settled
from coevo.evaluation.clones import NoRepository
from coevo.evaluation.clones import repository_of
from coevo.evaluation.judging.judgement import Judgement
from coevo.evaluation.judging.judgement import in_trouble
from coevo.evaluation.judging.placebos import Placebos
from coevo.evaluation.judging.preconditions import Preconditions
from coevo.evaluation.judging.protocol import KnownAnswers
from coevo.evaluation.judging.start_states import StartStates
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.measuring.judged_adequacy import AdequacySettings
from coevo.evaluation.options import Options
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.records import MethodResult
from coevo.evaluation.records import Prediction
from coevo.evaluation.rows import ResultHeader
from coevo.evaluation.rows import renamed
from coevo.evaluation.rows import rows
from coevo.evaluation.suites.records import SuiteResult
from coevo.evaluation.suites.rows import recalled
from coevo.evaluation.suites.rows import suite_result
from coevo.git.repository import Repository
from coevo.languages.engine import Builder
from coevo.languages.engine import RunSettings
from coevo.languages.table import LANGUAGES
from coevo.model.containment import Bug
from coevo.model.containment import contained
from coevo.model.errors import Transient
from coevo.model.listener import Listener
from coevo.storage import bug_records
from coevo.storage.builds import build
from coevo.storage.place import folder_name
from coevo.storage.places import place_of

# Trouble of ours is tried again by builders of their own, beside what `run_in_parallel` does.
ROUNDS = 2
# Beside what was judged: the tracebacks of bugs, a file for each task.
FAILURES = 'failures'

Result = TypeVar('Result')


# A task and the number of an attempt at it.
AttemptKey = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An attempt at a task; where nobody answered it, the first one without a patch."""

    assignment: Assignment
    prediction: Prediction

    @property
    def key(self) -> AttemptKey:
        return self.prediction.task_id, self.prediction.attempt


def answers_of(wanted: Iterable[Assignment], found: Iterable[Prediction]) -> tuple[Answer, ...]:
    """Each wanted task with its attempts, in the order of the tasks."""
    by_task: dict[str, list[Prediction]] = {}
    for prediction in found:
        by_task.setdefault(prediction.task_id, []).append(prediction)
    return tuple(
        Answer(assignment=one, prediction=prediction)
        for one in wanted
        for prediction in by_task.get(one.task_id) or (Prediction(task_id=one.task_id, patch=None),)
    )


@dataclass(slots=True, kw_only=True)
class Examination:
    """`found` has the rows of each attempt that is done, `suites` those at tasks that ask for a suite,
    `recalled` counts those that were known.

    bugs  where the record lies of each bug that ended an attempt
    """

    options: Options
    header: ResultHeader
    ledger: Ledger
    measures: AdequacySettings | None
    listener: Listener
    total: int
    found: dict[AttemptKey, tuple[MethodResult, ...]] = field(default_factory=dict)
    suites: dict[AttemptKey, SuiteResult] = field(default_factory=dict)
    recalled: int = 0
    tries: Counter[AttemptKey] = field(default_factory=Counter)
    bugs: dict[AttemptKey, str] = field(default_factory=dict)

    def examine(self, answers: Sequence[Answer]) -> None:
        """What several attempts hand in alike is run once, and is then known."""
        left = self._unsettled(answers)
        first = {one.prediction.digest: one for one in reversed(left)}
        alone = [one for one in left if first[one.prediction.digest] is one]
        self._examine_all(alone)
        again = [one for one in left if first[one.prediction.digest] is not one]
        self._examine_all(self._unsettled(again))

    def _unsettled(self, answers: Sequence[Answer]) -> list[Answer]:
        return [one for one in answers if self._hold(one, partial(self._settled, one)) is False]

    def _examine_all(self, answers: Sequence[Answer]) -> None:
        for _, group in groupby(answers, key=lambda one: one.assignment.task.repo):
            self._examine_repository(list(group))

    def _settled(self, answer: Answer) -> bool:
        """Whether nothing has to be run: it is refused as it stands, or was judged before."""
        assignment, prediction = answer.assignment, answer.prediction
        judgement = settled(assignment, prediction)
        if judgement is not None:
            self._conclude(answer, judgement)
            return True
        if assignment.asks_suite:
            return self._recalled_suite(answer)
        known = self.ledger.recall(assignment, prediction)
        if known is None:
            return False
        self.recalled += 1
        self._add(answer, renamed(known, assignment, prediction, self.header))
        return True

    def _recalled_suite(self, answer: Answer) -> bool:
        assignment, prediction = answer.assignment, answer.prediction
        row = self.ledger.recall_suite(assignment, prediction)
        if row is None:
            return False
        self.recalled += 1
        self._add_suite(recalled(row, assignment, prediction, self.header))
        return True

    def _conclude(self, answer: Answer, judgement: Judgement) -> None:
        assignment, prediction = answer.assignment, answer.prediction
        tries = max(1, self.tries[answer.key])
        if judgement.suite is not None:
            row = suite_result(self.header, assignment, prediction, judgement.suite, tries)
            self.ledger.keep_suite(assignment, prediction, row)
            self._add_suite(row)
            return
        made = rows(self.header, assignment, prediction, judgement, tries)
        self.ledger.keep(assignment, prediction, made)
        self._add(answer, made)

    def _add(self, answer: Answer, made: tuple[MethodResult, ...]) -> None:
        self.found[answer.key] = made
        self._step()

    def _add_suite(self, row: SuiteResult) -> None:
        self.suites[row.key] = row
        self._step()

    def _step(self) -> None:
        self.listener.step('tasks', len(self.found) + len(self.suites), self.total)

    def _hold(self, answer: Answer, work: Callable[[], Result]) -> Result | None:
        """What is done for one attempt; None where a bug has ended it."""
        result = contained(work)
        if not isinstance(result, Bug):
            return result
        self._record(answer, result)
        return None

    def _record(self, answer: Answer, bug: Bug) -> None:
        """Keep a bug apart; its attempt is in trouble, as far as rows tell."""
        assignment, prediction = answer.assignment, answer.prediction
        about = {'task_id': assignment.task_id, 'prediction': prediction.digest}
        number = '' if prediction.attempt == 1 else f'.{prediction.attempt}'
        name = f'{folder_name(assignment.task_id)}{number}.json'
        place = place_of(self.options.kept / FAILURES)
        self.bugs[answer.key] = bug_records.keep(place, name, bug, build(), about)
        tries = max(1, self.tries[answer.key])
        trouble = in_trouble(assignment, Detail.BUG, bug.sentence)
        if trouble.suite is not None:
            self._add_suite(suite_result(self.header, assignment, prediction, trouble.suite, tries))
            return
        self._add(answer, rows(self.header, assignment, prediction, trouble, tries))

    # -- one repository --------------------------------------------------------------------------

    def _examine_repository(self, group: Sequence[Answer]) -> None:
        with ExitStack() as stack:
            source = self._repository(group, stack)
            if isinstance(source, str):
                for one in group:
                    trouble = in_trouble(one.assignment, Detail.NO_REPOSITORY, source)
                    self._conclude(one, trouble)
                return
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix='coevo-'))
            states = StartStates(source, Path(folder))
            stack.enter_context(closing(states.repository))
            shared = RepositoryContext(
                states=states,
                measures=self.measures,
                test_seconds=self.options.test_seconds,
                known=KnownAnswers(
                    preconditions=Preconditions(ledger=self.ledger),
                    placebos=Placebos(ledger=self.ledger),
                ),
            )
            by_engine = sorted(self._cases(shared, group), key=_engine_of)
            for _, same in groupby(by_engine, key=_engine_of):
                self._run_rounds(shared, list(same))

    def _repository(self, group: Sequence[Answer], stack: ExitStack) -> Repository | str:
        """The repository of some tasks, or why it cannot be had after the last try."""
        tasks, trouble = [one.assignment.task for one in group], ''
        for _ in range(ROUNDS):
            try:
                return stack.enter_context(repository_of(tasks, self.options.store))
            except NoRepository as error:
                return str(error)
            except Transient as error:
                trouble = str(error)
        return trouble

    def _cases(self, shared: RepositoryContext, group: Sequence[Answer]) -> Iterator[Case]:
        for one in group:
            case = self._hold(one, partial(prepared, shared, one.assignment, one.prediction))
            if isinstance(case, Case):
                yield case
            elif isinstance(case, Judgement):
                self._conclude(one, case)

    def _run_rounds(self, shared: RepositoryContext, cases: Sequence[Case]) -> None:
        for number in range(ROUNDS):
            failed = []
            for case, result in self._run(shared, cases):
                answer = Answer(assignment=case.assignment, prediction=case.prediction)
                if isinstance(result, Judgement):
                    self._hold(answer, partial(self._conclude, answer, result))
                elif isinstance(result, Bug):
                    self._record(answer, result)
                elif number + 1 < ROUNDS:
                    failed.append(case)
                else:
                    trouble = in_trouble(case.assignment, Detail.TROUBLE, result.sentence)
                    self._conclude(answer, trouble)
            cases = failed
            if not cases:
                return

    def _run(
        self, shared: RepositoryContext, cases: Sequence[Case]
    ) -> Iterator[tuple[Case, Judgement | WorkFailure | Bug]]:
        def work(case: Case, open_builder: Callable[[], Builder]) -> Judgement:
            self.tries[case.prediction.task_id, case.prediction.attempt] += 1
            return examined(shared, case, open_builder())

        language = LANGUAGES[cases[0].pair.language]
        run = RunSettings(
            repository=shared.states.repository,
            sandbox=self.options.sandbox,
            say=self.listener.say,
            runtimes=language.runtimes(like=_runtime_of(cases[0])),
        )
        with (
            Builders(language, run, [case.pair for case in cases]) as builders,
            closing(run_in_parallel(work, cases, builders, jobs=self.options.jobs)) as results,
        ):
            for case, result in results:
                builders.forget(case.pair)
                yield case, result


def _engine_of(case: Case) -> tuple[str, str]:
    """What cases have to have in common to share workshops: a repository can be of several languages."""
    return case.pair.language, _runtime_of(case)


def _runtime_of(case: Case) -> str:
    environment = case.assignment.task.environment
    return environment.runtime if environment else ''
