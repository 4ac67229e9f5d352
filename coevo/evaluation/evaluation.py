"""Score predictions against the tasks of a snapshot: rows of results, and nothing judged twice."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import ExitStack
from contextlib import closing
from dataclasses import dataclass
from dataclasses import field
from itertools import groupby
from pathlib import Path

from coevo.cutoffs import Cutoff
from coevo.errors import Damaged
from coevo.errors import Fatal
from coevo.errors import Transient
from coevo.evaluation.assignments import Assignment
from coevo.evaluation.assignments import assignments
from coevo.evaluation.assignments import known_tasks
from coevo.evaluation.cases import Case
from coevo.evaluation.cases import Ground
from coevo.evaluation.cases import examined
from coevo.evaluation.cases import prepared
from coevo.evaluation.cases import settled
from coevo.evaluation.clones import NoRepository
from coevo.evaluation.clones import repository_of
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.ledger import renamed
from coevo.evaluation.predictions import read_predictions
from coevo.evaluation.protocol import Judgement
from coevo.evaluation.protocol import in_trouble
from coevo.evaluation.records import Detail
from coevo.evaluation.records import MethodResult
from coevo.evaluation.records import Prediction
from coevo.evaluation.rows import Header
from coevo.evaluation.rows import rows
from coevo.evaluation.start_states import StartStates
from coevo.evaluation.worth import Measures
from coevo.folders import cache_folder
from coevo.git import Repository
from coevo.jdks import Jdk
from coevo.jdks import find_jdks
from coevo.languages.base import Workshop
from coevo.listener import SILENT
from coevo.listener import Listener
from coevo.locations import locate
from coevo.measures import universal_mutator
from coevo.verification import verify
from coevo.workers import Failure
from coevo.workers import run_in_parallel
from coevo.workshops import Surroundings
from coevo.workshops import Workshops

# Trouble of ours is tried again in workshops of their own, beside what `run_in_parallel` does.
ROUNDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is to be scored, and where.

    predictions   a file or folder, or the predictions themselves
    store         whose clones are used; what it lacks is cloned from the tasks' URLs
    tasks, cutoff limit the tasks; a task without a prediction fails
    cache         what was judged before; None is the tool cache's
    test_seconds  CPU seconds that a test may take, ten times that in wall time; None: as mined
    adequacy      whether it is measured what passing tests are worth
    """

    snapshot: Path
    predictions: Path | Sequence[Prediction]
    store: Path | None = None
    tasks: frozenset[str] | None = None
    cutoff: Cutoff | None = None
    jobs: int = 1
    sandbox: str = 'bubblewrap'
    cache: Path | None = None
    test_seconds: float | None = None
    adequacy: bool = True


@dataclass(slots=True, kw_only=True)
class Evaluation:
    """All rows, sorted by task; how many tasks were judged now, and how many before."""

    rows: tuple[MethodResult, ...]
    judged: int
    recalled: int


def evaluate(options: Options, listener: Listener = SILENT) -> Evaluation:
    """Judge every wanted task's prediction; Fatal for a bad file or snapshot.

    What is finished is kept at once: after an interruption the same call goes on from there.
    """
    header = _header(options)
    wanted = assignments(options.snapshot, options.tasks, options.cutoff)
    if not wanted:
        raise Fatal('no task is left to score; name others, or an earlier cutoff')
    answers = {one.task_id: one for one in _predictions(options)}
    examination = _Examination(
        options=options,
        header=header,
        ledger=_ledger(options, header),
        measures=_measures(options),
        answers=answers,
        listener=listener,
        total=len(wanted),
    )
    examination.examine(wanted)
    found = [row for part in examination.found.values() for row in part]
    return Evaluation(
        rows=tuple(sorted(found, key=lambda row: (row.task_id, row.test_method, row.method_id))),
        judged=len(wanted) - examination.recalled,
        recalled=examination.recalled,
    )


def _header(options: Options) -> Header:
    """Fatal unless the snapshot is what it claims."""
    if not options.snapshot.is_dir():
        raise Fatal(f'{options.snapshot} is no folder of a snapshot; unpack it, and name that')
    try:
        findings = verify(options.snapshot)
    except Damaged as error:
        raise Fatal(str(error)) from None
    if findings:
        raise Fatal(
            f'{options.snapshot} is not what it claims ({findings[0].rule} in '
            f'{findings[0].table}); `coevo verify` says all, get it again'
        )
    manifest = locate(options.snapshot).manifest()
    return Header(snapshot_sha256=hashlib.sha256(manifest).hexdigest(), sandbox=options.sandbox)


def _predictions(options: Options) -> Sequence[Prediction]:
    if isinstance(options.predictions, Path):
        return read_predictions(options.predictions, known_tasks(options.snapshot))
    return options.predictions


def _cache(options: Options) -> Path:
    return options.cache or cache_folder() / 'evaluations'


def _ledger(options: Options, header: Header) -> Ledger:
    """What is measured beside gold's mutants rests on the snapshot that has them."""
    versions = sorted(jdk.version for jdk in find_jdks())
    measured = header.snapshot_sha256 if options.adequacy else 'verdicts'
    return Ledger(
        folder=_cache(options) / 'judged',
        surroundings=(
            options.sandbox,
            str(options.test_seconds),
            measured,
            f'universalmutator {universal_mutator.is_installed()}',
            *versions,
        ),
    )


def _measures(options: Options) -> Measures | None:
    if not options.adequacy:
        return None
    return Measures(snapshot=options.snapshot, kept=_cache(options) / 'oracles')


@dataclass(slots=True, kw_only=True)
class _Examination:
    """One call of `evaluate`; `found` has the rows of each task that is done."""

    options: Options
    header: Header
    ledger: Ledger
    measures: Measures | None
    answers: dict[str, Prediction]
    listener: Listener
    total: int
    found: dict[str, tuple[MethodResult, ...]] = field(default_factory=dict)
    recalled: int = 0
    tries: Counter[str] = field(default_factory=Counter)

    def examine(self, wanted: Sequence[Assignment]) -> None:
        left = [one for one in wanted if not self._settled(one)]
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
        known = self.ledger.recall(assignment, prediction)
        if known is None:
            return False
        self.recalled += 1
        self._add(assignment, renamed(known, prediction, self.header.snapshot_sha256))
        return True

    def _conclude(self, assignment: Assignment, judgement: Judgement) -> None:
        prediction = self.answer(assignment)
        tries = max(1, self.tries[assignment.task_id])
        made = rows(self.header, assignment, prediction, judgement, tries)
        self.ledger.keep(assignment, prediction, made)
        self._add(assignment, made)

    def _add(self, assignment: Assignment, made: tuple[MethodResult, ...]) -> None:
        self.found[assignment.task_id] = made
        self.listener.step('tasks', len(self.found), self.total)

    # -- one repository --------------------------------------------------------------------------

    def _examine_repository(self, group: Sequence[Assignment]) -> None:
        with ExitStack() as stack:
            source = self._repository(group, stack)
            if isinstance(source, str):
                for one in group:
                    self._conclude(one, in_trouble(one, Detail.NO_REPOSITORY, source))
                return
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix='coevo-'))
            ground = Ground(
                states=StartStates(source, Path(folder)),
                measures=self.measures,
                test_seconds=self.options.test_seconds,
            )
            by_jdk = sorted(self._cases(ground.states, group), key=_jdk_of)
            for _, same in groupby(by_jdk, key=_jdk_of):
                self._run_rounds(ground, list(same))

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

    def _cases(self, states: StartStates, group: Sequence[Assignment]) -> Iterator[Case]:
        for one in group:
            case = prepared(states, one, self.answer(one))
            if isinstance(case, Case):
                yield case
            else:
                self._conclude(one, case)

    def _run_rounds(self, ground: Ground, cases: Sequence[Case]) -> None:
        for number in range(ROUNDS):
            failed = []
            for case, result in self._run(ground, cases):
                if isinstance(result, Judgement):
                    self._conclude(case.assignment, result)
                elif number + 1 < ROUNDS:
                    failed.append(case)
                else:
                    trouble = in_trouble(case.assignment, Detail.TROUBLE, result.sentence)
                    self._conclude(case.assignment, trouble)
            cases = failed
            if not cases:
                return

    def _run(
        self, ground: Ground, cases: Sequence[Case]
    ) -> Iterator[tuple[Case, Judgement | Failure]]:
        def work(case: Case, open_workshop: Callable[[], Workshop]) -> Judgement:
            self.tries[case.assignment.task_id] += 1
            return examined(ground, case, open_workshop())

        surroundings = Surroundings(
            repository=ground.states.repository,
            sandbox=self.options.sandbox,
            say=self.listener.say,
            jdks=_jdks(_jdk_of(cases[0])),
        )
        with (
            Workshops(surroundings, [case.pair for case in cases]) as workshops,
            closing(run_in_parallel(work, cases, workshops, jobs=self.options.jobs)) as results,
        ):
            for case, result in results:
                workshops.forget(case.pair)
                yield case, result


def _jdk_of(case: Case) -> str:
    environment = case.assignment.task.environment
    return environment.jdk if environment else ''


def _jdks(wanted: str) -> tuple[Jdk, ...] | None:
    """The JDK that a task was made with, else those of its release, else all of the machine."""
    there = find_jdks()
    same = [jdk for jdk in there if jdk.version == wanted]
    feature = Jdk(home=Path(), version=wanted).feature
    near = [jdk for jdk in there if jdk.feature == feature]
    return tuple(same or near) or None
