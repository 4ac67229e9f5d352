"""Run an agent on tasks of a snapshot, as many attempts each as requested; runs can be resumed."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from coevo.agents.costs import Meter, PriceTable, sum_by_model
from coevo.agents.difference import make_patch
from coevo.agents.keeping import RunFolder
from coevo.agents.records import Attempt, Ending
from coevo.agents.run import AgentRun, AgentSettings, run_agent
from coevo.agents.summary import (
    RunSummary,
    TroubledTask,
    build_report,
    describe_network,
    format_attempt_line,
)
from coevo.agents.templates import PromptTemplate
from coevo.agents.turns import (
    AttemptSeries,
    AttemptStart,
    AttemptTurn,
    grade_and_collect_feedback_or_trouble,
    list_waiting_turns,
    make_attempt_start,
    rebase_on_start,
)
from coevo.agents.unanswered import is_prompt_refused, make_all_refused_error
from coevo.evaluation.checkout import open_task_repository
from coevo.evaluation.implement.patches import StartCode, open_start_code
from coevo.evaluation.judging.start_states import (
    StartStateLost,
    StartStates,
    create_fresh_repository,
    restore_start_file,
)
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.outcomes import AttemptProtocol
from coevo.git.clones import NoRepository
from coevo.git.repository import CorruptObject, Repository
from coevo.languages.kits import Kits
from coevo.languages.table import LANGUAGES
from coevo.model.errors import Bug, Fatal, Transient, catch_bug
from coevo.model.task_rows import TaskRow
from coevo.sandboxes.names import CONFINING
from coevo.sandboxes.sandbox import Sandbox, open_sandbox
from coevo.sandboxes.workspace import open_workspace

Say = Callable[[str], None]

_TURN_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptPlan:
    """A run of attempts, with its options.

    clones    a store or a folder with clones, used if they have what is needed
    harness   name of the agent in predictions
    model     name of the model in predictions
    prices    needed for a limit of cost
    kit       whether agents get the tools of the task's language and the task's libraries
    series    how often each task is attempted, and what an attempt sees of earlier ones
    only_after  the cutoff after which the tasks became public, for the report
    template  messages for an agent without tools, in place of the task's prompt
    """

    tasks: Sequence[TaskRow]
    out: Path
    settings: AgentSettings
    harness: str
    model: str | None = None
    clones: Path | None = None
    prices: PriceTable | None = None
    jobs: int = 1
    sandbox: str = 'bubblewrap'
    kit: bool = True
    series: AttemptSeries = field(default_factory=AttemptSeries)
    template: PromptTemplate | None = None
    only_after: str | None = None
    run_inputs: Mapping[str, object] = field(default_factory=dict)


def make_unfinished_attempts(plan: AttemptPlan, say: Say = lambda line: None) -> RunSummary:
    """Make all attempts that are not finished yet. `say` receives a progress line for each.

    Raises: Fatal for bad input; a task that could not be attempted for now is listed in the
    summary.
    """
    _check_plan(plan)
    keeping = RunFolder(plan.out)
    with keeping.lock_folder(plan.run_inputs), open_workspace() as root:
        tour, attempts_before = _AttemptRunner(plan, keeping, root, say), 0
        for number in range(1, plan.series.attempts + 1):
            done = keeping.load_attempts()
            attempts_before += sum((task.task_id, number) in done for task in plan.tasks)
            tour.run_turns(
                tour.grade_and_select_unsolved_turns(
                    list_waiting_turns(plan.series, plan.tasks, done, number)
                )
            )
        summary = _summarise(plan, keeping, tour, attempts_before)
        keeping.write_report(build_report(summary))
    return summary


def _check_plan(plan: AttemptPlan) -> None:
    if plan.sandbox not in CONFINING:
        raise Fatal(
            'an agent runs its own commands and needs a sandbox; set --sandbox to one of '
            f'{", ".join(CONFINING)}'
        )
    if plan.settings.caps.cost_usd is not None and plan.prices is None:
        raise Fatal('a cost cap needs prices; name a table of prices with --prices FILE')
    if plan.series.protocol is AttemptProtocol.FEEDBACK and plan.series.snapshot is None:
        raise Fatal(
            'attempts with feedback are graded, which needs the snapshot of their tasks; name the '
            'snapshot'
        )
    if plan.template is not None and plan.series.protocol is not AttemptProtocol.ONCE:
        raise Fatal(
            'your own prompts work only with the protocol `once`; leave out the other protocol'
        )
    silent = [task.task_id for task in plan.tasks if task.prompt is None]
    if silent:
        raise Fatal(
            f'task {silent[0]} has no prompt; release the snapshot again with this version of coevo'
        )


def _wait_and_list_finished_until_failure(waiting: Sequence[Future[None]]) -> set[Future[None]]:
    """Wait for all futures, or until one fails; return those that are finished.

    The wait has short turns, because Python handles a signal only when the main thread wakes up.
    """
    while True:
        finished, others = wait(waiting, timeout=_TURN_SECONDS, return_when=FIRST_EXCEPTION)
        if not others or any(each.exception() for each in finished):
            return finished


class _AttemptRunner:
    """The attempts of one call of `make_unfinished_attempts`."""

    def __init__(self, plan: AttemptPlan, keeping: RunFolder, root: Path, say: Say) -> None:
        self._plan, self._keeping, self._root, self._say = plan, keeping, root, say
        self._kits: Mapping[str, Kits] = {}  # by language; empty if agents get no kits
        self._over = threading.Event()
        self._guard = threading.Lock()
        self.made = self.wanted = 0
        self.without: list[str] = []
        self.troubled: list[TroubledTask] = []
        self.bugs: list[str] = []
        # Attempts whose prompt was refused: kept once the endpoint has accepted any other.
        self._held: list[tuple[Attempt, str]] = []
        self._is_answered = any(map(_has_model_answered, keeping.load_attempts().values()))

    def grade_and_select_unsolved_turns(
        self, turns: Sequence[AttemptTurn]
    ) -> Sequence[AttemptTurn]:
        """Grade the attempts before these turns; return the turns that are needed, with feedback.

        Tasks that are solved or could not be graded are left out. Under other protocols than
        `feedback`, and for first attempts, nothing is graded and all turns are returned unchanged.
        """
        plan = self._plan
        snapshot = plan.series.snapshot
        if plan.series.protocol is not AttemptProtocol.FEEDBACK or not turns or snapshot is None:
            return turns
        if not turns[0].earlier:
            return turns
        options = EvaluationOptions(
            snapshot=snapshot,
            predictions=(),
            clones=plan.clones,
            jobs=plan.jobs,
            sandbox=plan.sandbox,
            adequacy=False,
        )
        feedback_by_task = grade_and_collect_feedback_or_trouble(plan.series, turns, options)
        for task_id, (_, trouble) in feedback_by_task.items():
            if trouble is not None:
                self._say(f'{task_id} could not be graded: {trouble}')
                self.troubled.append(TroubledTask(task_id=task_id, reason=trouble))
        messages = {task_id: message for task_id, (message, _) in feedback_by_task.items()}
        return [
            replace(turn, feedback=messages[turn.task.task_id])
            for turn in turns
            if messages[turn.task.task_id]
        ]

    def run_turns(self, turns: Sequence[AttemptTurn]) -> None:
        """Make these attempts in parallel; the first error ends the others."""
        if not turns:
            return
        self.wanted += len(turns)
        with (
            closing(open_sandbox(self._plan.sandbox)) as sandbox,
            ThreadPoolExecutor(self._plan.jobs, thread_name_prefix='coevo-attempt') as pool,
        ):
            if self._plan.kit:
                languages = sorted({turn.task.language for turn in turns})
                self._kits = {name: self._make_kits(name, sandbox) for name in languages}
            waiting: list[Future[None]] = [
                pool.submit(self._attempt_safely, sandbox, t) for t in turns
            ]
            try:
                for each in _wait_and_list_finished_until_failure(waiting):
                    each.result()
            except BaseException:
                self._over.set()
                for each in waiting:
                    each.cancel()
                sandbox.close()
                raise
        self._check_not_all_refused()

    def _make_kits(self, language: str, sandbox: Sandbox) -> Kits:
        folder = self._root / f'kit-{language}'  # own name: checked by the table of languages
        folder.mkdir()
        folder.chmod(0o755)
        return LANGUAGES[language].make_agent_kits(sandbox, folder, self._say)

    def _attempt_safely(self, sandbox: Sandbox, turn: AttemptTurn) -> None:
        task = turn.task
        try:
            bug = catch_bug(partial(self._attempt_and_save, sandbox, turn))
        except (CorruptObject, Transient) as error:  # a clone may lack a file of one start state
            if self._over.is_set():  # what ended the run is said
                return
            self._say(f'{task.task_id} could not be attempted: {error}')
            self.troubled.append(TroubledTask(task_id=task.task_id, reason=str(error)))
            return
        if isinstance(bug, Bug) and not self._over.is_set():
            record = self._keeping.save_bug((task.task_id, turn.number), bug)
            self._say(f'{task.task_id} ended in a bug of coevo: {record}')
            self.bugs.append(record)

    def _attempt_and_save(self, sandbox: Sandbox, turn: AttemptTurn) -> None:
        """Make one attempt and save it; if its task has no start state, only note that.

        Raises: Transient if the attempt has to be made again.
        """
        task = turn.task
        try:
            attempt, output_tail = self._run_attempt_with_output_tail(sandbox, turn)
        except StartStateLost as error:
            self._say(f'{task.task_id} has no start state: {error}')
            self.without.append(f'{task.task_id}: {error}')
            return
        with self._guard:
            self._is_answered |= _has_model_answered(attempt)
            if attempt.ending is Ending.REFUSED and not self._is_answered:
                self._held.append((attempt, output_tail))
                self._say(f'{format_attempt_line(attempt)}')
                return
            released = [(attempt, output_tail)]
            if self._is_answered:
                released, self._held = [*self._held, *released], []
            for each, tail in released:
                self._keeping.save_attempt(each, tail)
            self._keeping.write_predictions(self._plan.harness, self._plan.model)
            self.made += len(released)
            done = self.made
        self._say(f'{done} of {self.wanted}: {format_attempt_line(attempt)}')

    def _check_not_all_refused(self) -> None:
        """Check that the endpoint did not refuse all questions, which is no outcome of the tasks.

        Raises: Fatal if it did; Transient if others were in trouble, which it may still take.
        """
        if not self._held:
            return
        reason = self._held[0][0].rejection or ''
        if not self.troubled:
            raise make_all_refused_error(reason)
        raise Transient(
            f'{self.troubled[0].task_id} could not be attempted ({self.troubled[0].reason}), and '
            f'the endpoint refused all else ({reason}); run the same command again'
        )

    def _equip_settings(
        self, turn: AttemptTurn, place: Path, ready: _AttemptInput
    ) -> AgentSettings:
        task, plain = turn.task, self._plan.settings
        variables = {
            'COEVO_ATTEMPT': str(turn.number),
            'COEVO_TEST_FILE': task.test_file,
            'COEVO_SECONDS': str(plain.caps.seconds),
        }
        seed = self._plan.series.compute_seed(turn.number)
        variables |= {} if seed is None else {'COEVO_SEED': str(seed)}
        if task.asks_for_code:
            variables['COEVO_CODE_FILES'] = json.dumps(ready.shown_code_paths)
        plain = replace(plain, environment={**plain.environment, **variables})
        if not self._plan.kit:
            return plain
        kit = self._kits[task.language].make_kit(task, place)
        return replace(
            plain,
            mounts=(*plain.mounts, *kit.mounts),
            environment={**kit.environment, **plain.environment},
        )

    def _run_attempt_with_output_tail(
        self, sandbox: Sandbox, turn: AttemptTurn
    ) -> tuple[Attempt, str]:
        plan, task = self._plan, turn.task
        rounds = self._keeping.locate_rounds_file((task.task_id, turn.number))
        meter = Meter(rounds, plan.prices, plan.settings.caps.cost_usd)
        with (
            _provide_temporary_attempt_folder(self._root) as folder,
            _prepare_input(plan, turn, folder, folder / 'in') as ready,
        ):
            settings = self._equip_settings(turn, folder / 'in', ready)
            log = self._keeping.open_log((task.task_id, turn.number))
            may_be_patched = None if ready.code is None else ready.code.may_be_patched
            ran = run_agent(
                sandbox,
                settings,
                folder / 'in',
                task.test_file,
                meter,
                log,
                may_be_patched=may_be_patched,
            )
        if ran.files is not None and ready.code is None:
            files = rebase_on_start(ran.files, task.test_file, ready.file, ready.begun.file)
            ran = replace(ran, files=files)
        if self._over.is_set():
            raise Transient('the run was interrupted')
        if is_prompt_refused(ran, meter, plan.settings):
            ran = replace(ran, ending=Ending.REFUSED)
        attempt = _build_attempt(task, ran, meter)
        series = plan.series
        return replace(
            attempt,
            attempt=turn.number,
            seed=series.compute_seed(turn.number),
            protocol=series.protocol,
        ), ran.output_tail


def _describe_task(task: TaskRow) -> dict[str, object]:
    """Return what the prompt names, for programs: the test file, the tests and the code.

    A task that asks for a whole file names no tests.
    """
    code = (
        [{'file': part.file, 'name': part.declaration} for part in task.focus]
        if task.focus
        else [{'file': part.file, 'name': part.name} for part in task.dependencies]
    )
    return {'test_file': task.test_file, 'tests': task.test_methods, 'code': code}


@contextmanager
def _provide_temporary_attempt_folder(root: Path) -> Iterator[Path]:
    """Provide a folder with a generated name, independent of the task; it is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix='attempt-', dir=root))
    try:
        folder.chmod(0o711)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AttemptInput:
    """The start state of an attempt, and what it adds to it.

    file   the task's test file in the start state; None if it is absent there
    begun  the test file and the prompt that this attempt gets; the file is an earlier attempt's
           under the protocol `feedback`, else the same as `file`
    code   decides which files an answer may change, if the task asks for code; None if it asks for
           a test file
    """

    file: bytes | None
    begun: AttemptStart
    code: StartCode | None

    @property
    def shown_code_paths(self) -> tuple[str, ...]:
        """The files that gold changes and that are there at the start; () without code."""
        if self.code is None:
            return ()
        return tuple(path for path in self.code.gold if path in self.code.tree.entries)


@contextmanager
def _prepare_input(
    plan: AttemptPlan, turn: AttemptTurn, folder: Path, place: Path
) -> Iterator[_AttemptInput]:
    """Write what the agent sees, `start` and `prompt.txt`, into the folder `place`.

    The repository stays open meanwhile, since it tells what belongs to the code.
    Raises: Fatal if the repository is not available.
    """
    task = turn.task
    assert task.prompt is not None, 'checked at the beginning'
    place.mkdir(mode=0o755)
    place.chmod(0o755)
    with ExitStack() as stack:
        try:
            repository = stack.enter_context(open_task_repository((task,), plan.clones))
        except NoRepository as error:
            raise Fatal(str(error)) from None
        states = StartStates(repository, folder / 'states')
        stack.enter_context(closing(states.repository))
        start = restore_start_file(repository, task)
        begun = make_attempt_start(plan.series, turn, start)
        rev = states.commit(task, begun.file)
        code = open_start_code(states, task, rev) if task.asks_for_code else None
        # A patch is made of the contents of files, and applies to the blobs of what it changes.
        plain = (task.test_file,) if code is None else code.list_patchable_paths()
        create_fresh_repository(states.repository, rev, place / 'start', plain=plain)
        prompt = _compose_prompt(plan, begun, repository, task)
        (place / 'prompt.txt').write_bytes(prompt.encode())
        (place / 'task.json').write_text(json.dumps(_describe_task(task)))
        for path in (place / 'start' / '.git', *(place / 'start' / '.git').rglob('*')):
            path.chmod(0o755 if path.is_dir() else 0o644)
        yield _AttemptInput(file=start, begun=begun, code=code)


def _compose_prompt(
    plan: AttemptPlan, begun: AttemptStart, repository: Repository, task: TaskRow
) -> str:
    """Return the prompt.

    With a template, return the whole conversation as JSON, as `coevo.agents.one_shot` reads it.
    """
    if plan.template is None:
        return begun.prompt
    messages = plan.template.fill(repository, task)
    return json.dumps([dataclasses.asdict(message) for message in messages])


def _has_model_answered(attempt: Attempt) -> bool:
    """Return whether a model answered a call of an attempt."""
    return attempt.rounds > 0 or attempt.unmetered > 0


def _build_attempt(task: TaskRow, ran: AgentRun, meter: Meter) -> Attempt:
    rounds = meter.rounds
    return Attempt(
        task_id=task.task_id,
        ending=ran.ending,
        patch=None if ran.files is None else make_patch(ran.files),
        status=ran.status,
        seconds=ran.seconds,
        cost_usd=meter.cost,
        rounds=len(rounds),
        unmetered=meter.unmetered,
        usage=sum_by_model(rounds),
        refused=tuple(sorted(set(ran.refused))),
        trouble=tuple(sorted(set(ran.trouble))),
        rejection=str(ran.rejection) if ran.ending is Ending.REFUSED else None,
    )


def _summarise(
    plan: AttemptPlan, keeping: RunFolder, tour: _AttemptRunner, kept: int
) -> RunSummary:
    return RunSummary(
        predictions=keeping.write_predictions(plan.harness, plan.model),
        attempts=tuple(keeping.load_attempts().values()),
        attempts_now=tour.made,
        attempts_before=kept,
        without=tuple(sorted(tour.without)),
        troubled=tuple(sorted(tour.troubled)),
        bugs=tuple(sorted(tour.bugs)),
        billed_usd=None if plan.prices is None else round(keeping.sum_billed_usd(), 6),
        network=describe_network(plan.settings),
        only_after=plan.only_after,
    )
