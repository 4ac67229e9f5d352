"""Judge many predictions: what is known is recalled, the rest is run repository by repository."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
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
from coevo.evaluation.records import Detail
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


@dataclass(slots=True, kw_only=True)
class Examination:
    """`found` has the rows of each task that is done, `suites` those of tasks that ask for a suite, `recalled` counts those that were known.

    bugs  where the record lies of each bug that ended a task, by its id
    """

    options: Options
    header: ResultHeader
    ledger: Ledger
    measures: AdequacySettings | None
    answers: dict[str, Prediction]
    listener: Listener
    total: int
    found: dict[str, tuple[MethodResult, ...]] = field(default_factory=dict)
    suites: dict[str, SuiteResult] = field(default_factory=dict)
    recalled: int = 0
    tries: Counter[str] = field(default_factory=Counter)
    bugs: dict[str, str] = field(default_factory=dict)

    def examine(self, wanted: Sequence[Assignment]) -> None:
        left = [one for one in wanted if self._hold(one, partial(self._settled, one)) is False]
        for _, group in groupby(left, key=lambda one: one.task.repo):
            self._examine_repository(list(group))

    def answer(self, assignment: Assignment) -> Prediction:
        missing = Prediction(task_id=assignment.task_id, patch=None)
        return self.answers.get(assignment.task_id, missing)

    def _settled(self, assignment: Assignment) -> bool:
        """Whether nothing has to be run: it is refused as it stands, or was judged before."""
        prediction = self.answer(assignment)
        judgement = settled(assignment, prediction)
        if judgement is not None:
            self._conclude(assignment, judgement)
            return True
        if assignment.standing is not None:
            return self._recalled_suite(assignment, prediction)
        known = self.ledger.recall(assignment, prediction)
        if known is None:
            return False
        self.recalled += 1
        self._add(assignment, renamed(known, assignment, prediction, self.header))
        return True

    def _recalled_suite(self, assignment: Assignment, prediction: Prediction) -> bool:
        row = self.ledger.recall_suite(assignment, prediction)
        if row is None:
            return False
        self.recalled += 1
        self._add_suite(recalled(row, assignment, prediction, self.header))
        return True

    def _conclude(self, assignment: Assignment, judgement: Judgement) -> None:
        prediction = self.answer(assignment)
        tries = max(1, self.tries[assignment.task_id])
        if judgement.suite is not None:
            row = suite_result(self.header, assignment, prediction, judgement.suite, tries)
            self.ledger.keep_suite(assignment, prediction, row)
            self._add_suite(row)
            return
        made = rows(self.header, assignment, prediction, judgement, tries)
        self.ledger.keep(assignment, prediction, made)
        self._add(assignment, made)

    def _add(self, assignment: Assignment, made: tuple[MethodResult, ...]) -> None:
        self.found[assignment.task_id] = made
        self._step()

    def _add_suite(self, row: SuiteResult) -> None:
        self.suites[row.task_id] = row
        self._step()

    def _step(self) -> None:
        self.listener.step('tasks', len(self.found) + len(self.suites), self.total)

    def _hold(self, assignment: Assignment, work: Callable[[], Result]) -> Result | None:
        """What is done for one task; None where a bug has ended the task."""
        result = contained(work)
        if not isinstance(result, Bug):
            return result
        self._record(assignment, result)
        return None

    def _record(self, assignment: Assignment, bug: Bug) -> None:
        """Keep a bug apart; its task is in trouble, as far as rows tell."""
        prediction = self.answer(assignment)
        about = {'task_id': assignment.task_id, 'prediction': prediction.digest}
        name = f'{folder_name(assignment.task_id)}.json'
        place = place_of(self.options.kept / FAILURES)
        self.bugs[assignment.task_id] = bug_records.keep(place, name, bug, build(), about)
        tries = max(1, self.tries[assignment.task_id])
        trouble = in_trouble(assignment, Detail.BUG, bug.sentence)
        if trouble.suite is not None:
            self._add_suite(suite_result(self.header, assignment, prediction, trouble.suite, tries))
            return
        self._add(assignment, rows(self.header, assignment, prediction, trouble, tries))

    # -- one repository --------------------------------------------------------------------------

    def _examine_repository(self, group: Sequence[Assignment]) -> None:
        with ExitStack() as stack:
            source = self._repository(group, stack)
            if isinstance(source, str):
                for one in group:
                    self._conclude(one, in_trouble(one, Detail.NO_REPOSITORY, source))
                return
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix='coevo-'))
            shared = RepositoryContext(
                states=StartStates(source, Path(folder)),
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

    def _repository(self, group: Sequence[Assignment], stack: ExitStack) -> Repository | str:
        """The repository of some tasks, or why it cannot be had after the last try."""
        tasks, trouble = [one.task for one in group], ''
        for _ in range(ROUNDS):
            try:
                return stack.enter_context(repository_of(tasks, self.options.store))
            except NoRepository as error:
                return str(error)
            except Transient as error:
                trouble = str(error)
        return trouble

    def _cases(self, shared: RepositoryContext, group: Sequence[Assignment]) -> Iterator[Case]:
        for one in group:
            case = self._hold(one, partial(prepared, shared, one, self.answer(one)))
            if isinstance(case, Case):
                yield case
            elif isinstance(case, Judgement):
                self._conclude(one, case)

    def _run_rounds(self, shared: RepositoryContext, cases: Sequence[Case]) -> None:
        for number in range(ROUNDS):
            failed = []
            for case, result in self._run(shared, cases):
                if isinstance(result, Judgement):
                    self._hold(case.assignment, partial(self._conclude, case.assignment, result))
                elif isinstance(result, Bug):
                    self._record(case.assignment, result)
                elif number + 1 < ROUNDS:
                    failed.append(case)
                else:
                    trouble = in_trouble(case.assignment, Detail.TROUBLE, result.sentence)
                    self._conclude(case.assignment, trouble)
            cases = failed
            if not cases:
                return

    def _run(
        self, shared: RepositoryContext, cases: Sequence[Case]
    ) -> Iterator[tuple[Case, Judgement | WorkFailure | Bug]]:
        def work(case: Case, open_builder: Callable[[], Builder]) -> Judgement:
            self.tries[case.assignment.task_id] += 1
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
