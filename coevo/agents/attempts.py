"""Let an agent attempt the tasks of a snapshot, each as often as asked, whatever interrupts the run."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tempfile
import threading
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION
from concurrent.futures import Future
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait
from contextlib import ExitStack
from contextlib import closing
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from functools import partial
from pathlib import Path

from coevo.agents.difference import difference
from coevo.agents.endings import Ending
from coevo.agents.keeping import Keeping
from coevo.agents.meter import Meter
from coevo.agents.prices import Prices
from coevo.agents.records import Attempt
from coevo.agents.run import AgentSettings
from coevo.agents.run import Ran
from coevo.agents.run import run
from coevo.agents.summary import Summary
from coevo.agents.summary import line
from coevo.agents.summary import network
from coevo.agents.summary import report
from coevo.agents.templates import Template
from coevo.agents.turns import Beginning
from coevo.agents.turns import Series
from coevo.agents.turns import Turn
from coevo.agents.turns import beginning
from coevo.agents.turns import from_start
from coevo.agents.turns import told_of
from coevo.agents.turns import waiting
from coevo.agents.usage import totals
from coevo.evaluation.clones import NoRepository
from coevo.evaluation.clones import repository_of
from coevo.evaluation.judging.start_states import StartStateLost
from coevo.evaluation.judging.start_states import StartStates
from coevo.evaluation.judging.start_states import fresh_repository
from coevo.evaluation.judging.start_states import start_file
from coevo.evaluation.options import Options
from coevo.evaluation.outcomes import AttemptProtocol
from coevo.git.repository import Repository
from coevo.languages.kits import Kits
from coevo.languages.table import LANGUAGES
from coevo.model.containment import Bug
from coevo.model.containment import contained
from coevo.model.errors import Fatal
from coevo.model.errors import Transient
from coevo.model.task_rows import TaskRow
from coevo.sandboxes.names import CONFINING
from coevo.sandboxes.sandbox import Sandbox
from coevo.sandboxes.sandbox import open_sandbox
from coevo.sandboxes.workspace import workspace

Say = Callable[[str], None]

_TURN_SECONDS = 0.5
_BY_ITSELF = (Ending.COMPLETED, Ending.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptPlan:
    """What is asked for.

    store     whose clones are used where they have what is needed
    harness   what predictions call the agent; `model` likewise
    prices    needed for a cap of cost
    kit       whether agents get the tools of its language and the libraries of each task
    series    how often each task is attempted, and what attempts know of each other
    template  what an agent without tools asks instead of the prompt of a task
    """

    tasks: Sequence[TaskRow]
    out: Path
    settings: AgentSettings
    harness: str
    model: str | None = None
    store: Path | None = None
    prices: Prices | None = None
    jobs: int = 1
    sandbox: str = 'bubblewrap'
    kit: bool = True
    series: Series = field(default_factory=Series)
    template: Template | None = None
    asked: Mapping[str, object] = field(default_factory=dict)


def attempt_all(plan: AttemptPlan, say: Say = lambda line: None) -> Summary:
    """Attempt what is not done yet; `say` hears a line for each task.

    Fatal for bad input, Transient (after all others were attempted) for trouble of ours.
    """
    _check(plan)
    keeping = Keeping(plan.out)
    with keeping.opened(plan.asked), workspace() as root:
        tour, kept = _Tour(plan, keeping, root, say), 0
        for number in range(1, plan.series.attempts + 1):
            done = keeping.done()
            kept += sum((task.task_id, number) in done for task in plan.tasks)
            tour.go(tour.told(waiting(plan.series, plan.tasks, done, number)))
        summary = _summary(plan, keeping, tour, kept)
        keeping.write_report(report(summary))
    return summary


def _check(plan: AttemptPlan) -> None:
    if plan.sandbox not in CONFINING:
        raise Fatal(
            f'an agent runs commands of its own, so the sandbox is one of {", ".join(CONFINING)}'
        )
    if plan.settings.caps.cost_usd is not None and plan.prices is None:
        raise Fatal('a cap of cost takes prices: name a table of them with --prices')
    if plan.series.protocol is AttemptProtocol.FEEDBACK and plan.series.snapshot is None:
        raise Fatal('attempts with feedback are judged, which takes the snapshot of their tasks')
    if plan.template is not None and plan.series.protocol is not AttemptProtocol.ONCE:
        raise Fatal('prompts of your own go with the protocol `once` alone')
    silent = [task.task_id for task in plan.tasks if task.prompt is None]
    if silent:
        raise Fatal(f'task {silent[0]} has no prompt; release the snapshot anew with this coevo')


def _finished(waiting: Sequence[Future[None]]) -> set[Future[None]]:
    """All of them, or those until the first that failed.

    Waits in short turns: a signal that another thread was given is heard when this one wakes.
    """
    while True:
        finished, others = wait(waiting, timeout=_TURN_SECONDS, return_when=FIRST_EXCEPTION)
        if not others or any(each.exception() for each in finished):
            return finished


class _Tour:
    """The attempts of one call."""

    def __init__(self, plan: AttemptPlan, keeping: Keeping, root: Path, say: Say) -> None:
        self._plan, self._keeping, self._root, self._say = plan, keeping, root, say
        self._kits: Mapping[str, Kits] = {}  # by language; none where agents go without
        self._over = threading.Event()
        self._guard = threading.Lock()
        self.made = 0
        self.without: list[str] = []
        self.troubled: list[str] = []
        self.bugs: list[str] = []

    def told(self, turns: Sequence[Turn]) -> Sequence[Turn]:
        """Those of attempts that are to be made, each told what became of the one before."""
        plan = self._plan
        snapshot = plan.series.snapshot
        if plan.series.protocol is not AttemptProtocol.FEEDBACK or not turns or snapshot is None:
            return turns
        if not turns[0].earlier:
            return turns
        options = Options(
            snapshot=snapshot,
            predictions=(),
            store=plan.store,
            jobs=plan.jobs,
            sandbox=plan.sandbox,
            adequacy=False,
        )
        found = told_of(plan.series, turns, options)
        for task_id, one in found.items():
            if one.trouble is not None:
                self._say(f'{task_id} could not be judged: {one.trouble}')
                self.troubled.append(f'{task_id}: {one.trouble}')
        return [
            replace(turn, told=found[turn.task.task_id].told)
            for turn in turns
            if found[turn.task.task_id].told
        ]

    def go(self, turns: Sequence[Turn]) -> None:
        if not turns:
            return
        with (
            closing(open_sandbox(self._plan.sandbox)) as sandbox,
            ThreadPoolExecutor(self._plan.jobs, thread_name_prefix='coevo-attempt') as pool,
        ):
            if self._plan.kit:
                languages = sorted({turn.task.language for turn in turns})
                self._kits = {name: self._kits_of(name, sandbox) for name in languages}
            waiting: list[Future[None]] = [pool.submit(self._one, sandbox, t) for t in turns]
            try:
                for each in _finished(waiting):
                    each.result()
            except BaseException:
                self._over.set()
                for each in waiting:
                    each.cancel()
                sandbox.close()
                raise

    def _kits_of(self, language: str, sandbox: Sandbox) -> Kits:
        folder = self._root / f'kit-{language}'  # own name: checked by the table of languages
        folder.mkdir()
        folder.chmod(0o755)
        return LANGUAGES[language].kits(sandbox, folder, self._say)

    def _one(self, sandbox: Sandbox, turn: Turn) -> None:
        task = turn.task
        try:
            bug = contained(partial(self._make, sandbox, turn))
        except Transient as error:
            self._say(f'{task.task_id} could not be attempted: {error}')
            self.troubled.append(f'{task.task_id}: {error}')
            return
        if isinstance(bug, Bug) and not self._over.is_set():
            record = self._keeping.save_bug((task.task_id, turn.number), bug)
            self._say(f'{task.task_id} ended in a bug of coevo: {record}')
            self.bugs.append(record)

    def _make(self, sandbox: Sandbox, turn: Turn) -> None:
        """One attempt, kept; Transient."""
        task = turn.task
        try:
            found, said = self._attempt(sandbox, turn)
        except StartStateLost as error:
            self._say(f'{task.task_id} has no start state: {error}')
            self.without.append(f'{task.task_id}: {error}')
            return
        with self._guard:
            self._keeping.save(found, said)
            self._keeping.write_predictions(self._plan.harness, self._plan.model)
            self.made += 1
        self._say(line(found))

    def _equipped(self, turn: Turn, place: Path) -> AgentSettings:
        task, plain = turn.task, self._plan.settings
        told = {'COEVO_ATTEMPT': str(turn.number), 'COEVO_TEST_FILE': task.test_file}
        seed = self._plan.series.seed_of(turn.number)
        told |= {} if seed is None else {'COEVO_SEED': str(seed)}
        plain = replace(plain, environment={**plain.environment, **told})
        if not self._plan.kit:
            return plain
        kit = self._kits[task.language].kit(task, place)
        return replace(
            plain,
            mounts=(*plain.mounts, *kit.mounts),
            environment={**kit.environment, **plain.environment},
        )

    def _attempt(self, sandbox: Sandbox, turn: Turn) -> tuple[Attempt, str]:
        plan, task = self._plan, turn.task
        rounds = self._keeping.rounds((task.task_id, turn.number))
        meter = Meter(rounds, plan.prices, plan.settings.caps.cost_usd)
        with _folder(self._root) as folder:
            place = folder / 'in'
            start, begun = _prepared(plan, turn, folder, place)
            settings = self._equipped(turn, place)
            ran = run(sandbox, settings, place, task.test_file, meter)
        if ran.files is not None:
            files = from_start(ran.files, task.test_file, start, begun.file)
            ran = replace(ran, files=files)
        if self._over.is_set():
            raise Transient('the run was interrupted')
        if ran.cut_off:
            raise Transient(f'the endpoint ended it ({ran.trouble[-1]})')
        if plan.settings.endpoint and ran.ending in _BY_ITSELF and not meter.rounds:
            raise _never_asked(ran)
        found = _record(task, ran, meter)
        series = plan.series
        return replace(
            found,
            attempt=turn.number,
            seed=series.seed_of(turn.number),
            protocol=series.protocol,
        ), ran.said


@contextmanager
def _folder(root: Path) -> Iterator[Path]:
    """A folder under a name of ours, whatever the task is called; it is removed in the end."""
    folder = Path(tempfile.mkdtemp(prefix='attempt-', dir=root))
    try:
        folder.chmod(0o711)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _prepared(
    plan: AttemptPlan, turn: Turn, folder: Path, place: Path
) -> tuple[bytes | None, Beginning]:
    """Write what the agent is given into a folder of its own, `start` and `prompt.txt`; the test file
    of the start state, and what the attempt begins with."""
    task = turn.task
    assert task.prompt is not None, 'checked at the beginning'
    place.mkdir(mode=0o755)
    place.chmod(0o755)
    try:
        with ExitStack() as stack:
            repository = stack.enter_context(repository_of((task,), plan.store))
            states = StartStates(repository, folder / 'states')
            stack.enter_context(closing(states.repository))
            start = start_file(repository, task)
            begun = beginning(plan.series, turn, start)
            rev = states.commit(task, begun.file)
            fresh_repository(states.repository, rev, place / 'start')
            prompt = _asked(plan, begun, repository, task)
    except NoRepository as error:
        raise Fatal(str(error)) from None
    (place / 'prompt.txt').write_bytes(prompt.encode())
    for path in (place / 'start' / '.git', *(place / 'start' / '.git').rglob('*')):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return start, begun


def _asked(plan: AttemptPlan, begun: Beginning, repository: Repository, task: TaskRow) -> str:
    """The prompt; of a template the whole conversation, as `coevo.agents.one_shot` reads it."""
    if plan.template is None:
        return begun.prompt
    messages = plan.template.filled(repository, task)
    return json.dumps([dataclasses.asdict(one) for one in messages])


def _record(task: TaskRow, ran: Ran, meter: Meter) -> Attempt:
    rounds = meter.rounds
    return Attempt(
        task_id=task.task_id,
        ending=ran.ending,
        patch=None if ran.files is None else difference(ran.files),
        status=ran.status,
        seconds=ran.seconds,
        cost_usd=meter.cost,
        rounds=len(rounds),
        unmetered=meter.unmetered,
        usage=totals(rounds),
        refused=tuple(sorted(set(ran.refused))),
        trouble=tuple(sorted(set(ran.trouble))),
    )


def _never_asked(ran: Ran) -> Fatal:
    last = [line for line in ran.said.splitlines() if line.strip()][-1:] or ['it said nothing']
    return Fatal(
        f'the agent ended with status {ran.status} before a model had answered ({last[0][:500]}); '
        'mend its command, software or model, then run the same command again'
    )


def _summary(plan: AttemptPlan, keeping: Keeping, tour: _Tour, kept: int) -> Summary:
    return Summary(
        predictions=keeping.write_predictions(plan.harness, plan.model),
        attempts=tuple(keeping.done().values()),
        made=tour.made,
        kept=kept,
        without=tuple(sorted(tour.without)),
        troubled=tuple(sorted(tour.troubled)),
        bugs=tuple(sorted(tour.bugs)),
        billed_usd=None if plan.prices is None else round(keeping.billed(), 6),
        network=network(plan.settings),
    )
