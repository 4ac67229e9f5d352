"""Runs over a few tasks: bad input, trouble of the endpoint, and what a second call does."""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import math
import os
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from coevo.agents import attempts, planning
from coevo.agents.attempts import AttemptPlan, RunSummary, make_unfinished_attempts
from coevo.agents.costs import Usage, load_prices
from coevo.agents.endpoint import Endpoint
from coevo.agents.records import Ending
from coevo.agents.run import AgentSettings, Caps
from coevo.agents.summary import format_closing_lines
from coevo.command.main import main
from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.predictions import load_predictions
from coevo.git.patches import make_file_patch
from coevo.model.errors import Fatal, Transient
from coevo.model.task_rows import TaskRow
from coevo.sandboxes.sandbox import Mount
from tests import snapshots
from tests.agents import model_server
from tests.agents.model_server import KEY, Json, ModelServer, Turn
from tests.folders import open_folder
from tests.repos import commit, git, init
from tests.settings_files import settings

TEST_FILE = 'src/test/java/p/ATest.java'
START, GOLD = 'class ATest {}\n', 'class ATest { /* gold */ }\n'
LOOK = (
    'git log --all --format=%s%n; git fsck --unreachable --no-reflogs; git reflog; git tag;'
    'git cat-file --batch-check --batch-all-objects | wc -l; grep -rs gold /w /in;'
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A store with one clone, tasks of it, and a folder for runs."""

    folder: Path
    tasks: tuple[TaskRow, ...]

    def plan(
        self, command: str, model: ModelServer | None = None, **changed: object
    ) -> AttemptPlan:
        settings = AgentSettings(
            command=command,
            caps=Caps(seconds=60),
            endpoint=Endpoint(url=model.url, api='anthropic', key=KEY) if model else None,
            mounts=(Mount(source=self.folder / 'agent', target='/agent'),),
        )
        plan = AttemptPlan(
            tasks=self.tasks,
            out=self.folder / 'out',
            settings=settings,
            harness='sh',
            clones=self.folder / 'store',
            kit=False,
        )
        return dataclasses.replace(plan, **changed)  # type: ignore[arg-type]


@pytest.fixture(scope='module')
def drafted(tmp_path_factory: pytest.TempPathFactory) -> TaskRow:
    return load_assignments(snapshots.make(tmp_path_factory.mktemp('made'), 2))[0].task


@pytest.fixture
def scenario(drafted: TaskRow) -> Iterator[Scenario]:
    with open_folder() as folder:
        (folder / 'agent').mkdir()
        script = Path(__file__).with_name('stand_in.py').read_bytes()
        (folder / 'agent' / 'stand_in.py').write_bytes(script)
        repository = init(folder / 'repository')
        old = commit(repository, 'gold is not here yet', {TEST_FILE: START, 'A.java': 'class A {}'})
        new = commit(repository, 'gold', {TEST_FILE: GOLD, 'A.java': 'class A { }'})
        clone = folder / 'store' / 'clones' / 'local+a.git'
        git(folder, 'clone', '-q', '--bare', str(repository), str(clone))
        tasks = tuple(
            dataclasses.replace(
                drafted,
                task_id=f'{number:016x}',
                repo='local/a',
                old_rev=old,
                new_rev=new,
                test_file=TEST_FILE,
                test_patch=make_file_patch(TEST_FILE, START, GOLD),
                start_file_sha256=hashlib.sha256(START.encode()).hexdigest(),
                prompt=f'Task {number}.\n',
            )
            for number in range(2)
        )
        yield Scenario(folder=folder, tasks=tasks)


def log(scenario: Scenario, number: int) -> str:
    return (scenario.folder / 'out' / 'logs' / f'{number:016x}.log').read_text()


def rows(summary: RunSummary) -> list[dict[str, object]]:
    return [json.loads(line) for line in summary.predictions.read_text().splitlines()]


def test_start_state_contains_no_history_and_no_gold(scenario: Scenario) -> None:
    """A commit without a message, the five folders of its tree, two files: no object beside."""
    summary = make_unfinished_attempts(scenario.plan(f'{LOOK} cat {TEST_FILE}'))
    assert [one.ending for one in summary.attempts] == [Ending.COMPLETED] * 2
    lines = [line for line in log(scenario, 0).splitlines() if line]
    assert lines == ['8', START.strip()]


def test_agent_receives_the_prompt_unchanged_on_stdin_and_in_its_file(scenario: Scenario) -> None:
    make_unfinished_attempts(scenario.plan('cat; cmp - "$COEVO_PROMPT" </in/prompt.txt'))
    assert log(scenario, 1) == 'Task 1.\n'


def test_written_predictions_can_be_loaded_for_evaluation(scenario: Scenario) -> None:
    change = f'echo "class ATest {{ /* $(cat) */ }}" > {TEST_FILE}'
    summary = make_unfinished_attempts(scenario.plan(f'{change}; exit 7'))
    found = load_predictions(summary.predictions, {task.task_id for task in scenario.tasks})
    assert [one.exit_status for one in found] == ['failed', 'failed']
    assert (
        found[1].patch
        == make_file_patch(TEST_FILE, START, 'class ATest { /* Task 1. */ }\n').encode()
    )
    assert (found[0].harness, found[0].cost_usd, found[0].tokens) == ('sh', None, None)
    assert found[0].seconds is not None


def test_agent_that_changes_nothing_gets_an_empty_patch(scenario: Scenario) -> None:
    assert {row['patch'] for row in rows(make_unfinished_attempts(scenario.plan('true')))} == {''}


def test_finished_attempt_is_not_repeated_by_a_second_run(scenario: Scenario) -> None:
    first = make_unfinished_attempts(scenario.plan('date +%N', tasks=scenario.tasks[:1]))
    kept = log(scenario, 0)
    second = make_unfinished_attempts(scenario.plan('date +%N', jobs=2))
    assert (
        first.attempts_now,
        first.attempts_before,
        second.attempts_now,
        second.attempts_before,
    ) == (1, 0, 1, 1)
    assert log(scenario, 0) == kept
    assert len(rows(second)) == 2


@pytest.fixture
def heeds_interrupts() -> Iterator[None]:
    """Also where the tests run in a shell's background, which has Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures('heeds_interrupts')
def test_interruption_keeps_finished_attempts_and_stops_the_running_one(scenario: Scenario) -> None:
    """The one under way is none: it is made anew, and nothing of it runs on."""
    asleep = threading.Event()
    mark = f'coevo-test-{uuid.uuid4().hex}'

    def script(request: Json) -> list[Turn]:
        if request['messages'][0]['content'] == 'Task 0.\n' or asleep.is_set():
            return [Turn()]
        asleep.set()
        return [Turn(tool='sh', arguments={'command': f'sleep 3600; : {mark}'})]

    def interrupt() -> None:
        asleep.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    with model_server.serving(script) as model:
        plan = scenario.plan('python3 /agent/stand_in.py', model)
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            make_unfinished_attempts(plan)
        assert not [p for p in psutil.process_iter(['cmdline']) if mark in str(p.info['cmdline'])]
        summary = make_unfinished_attempts(plan)
    assert (summary.attempts_now, summary.attempts_before) == (1, 1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize('word', ['²', '٣', '9' * 60, '-1', ''])
def test_forged_exit_status_of_an_agent_does_not_end_the_run(scenario: Scenario, word: str) -> None:
    """It can write where the supervisor waits for the status; `²` ended all attempts."""
    summary = make_unfinished_attempts(scenario.plan(f"echo '{word}' >/tmp/.coevo-ended; sleep 60"))
    assert len(summary.attempts) == 2
    assert {one.status for one in summary.attempts} <= {None, 0}


def test_bug_in_one_attempt_is_recorded_and_other_attempts_go_on(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(
        plan: AttemptPlan, turn: attempts.AttemptTurn, folder: Path, place: Path
    ) -> tuple[bytes | None, attempts.AttemptStart]:
        if turn.task.task_id == scenario.tasks[0].task_id:
            raise KeyError('$Outer')
        return prepare(plan, turn, folder, place)

    prepare = attempts._prepare_input
    monkeypatch.setattr(attempts, '_prepare_input', broken)
    first = make_unfinished_attempts(scenario.plan('true'))
    (record,) = first.bugs
    assert [one.task_id for one in first.attempts] == [scenario.tasks[1].task_id]
    assert "KeyError: '$Outer'" in json.loads(Path(record).read_text())['traceback']
    assert (
        '1 attempts ended with a bug in coevo; the next run repeats them. Please report these '
        f'files: {record}'
    ) in format_closing_lines(first)
    monkeypatch.setattr(attempts, '_prepare_input', prepare)
    second = make_unfinished_attempts(scenario.plan('true'))
    assert (second.attempts_now, second.attempts_before, second.bugs) == (1, 1, ())


def test_attempt_duration_is_never_negative(scenario: Scenario) -> None:
    """Start and end are taken where they are heard of, by a clock that never goes back."""
    summary = make_unfinished_attempts(scenario.plan('true', jobs=2))
    assert all(one.seconds >= 0 for one in summary.attempts)


def test_run_folder_refuses_a_run_with_other_settings(scenario: Scenario) -> None:
    make_unfinished_attempts(scenario.plan('true', run_inputs={'command': 'true'}))
    with pytest.raises(Fatal, match="holds a run with command 'true', not 'false'"):
        make_unfinished_attempts(scenario.plan('false', run_inputs={'command': 'false'}))


def test_attempt_cut_off_by_endpoint_trouble_is_repeated_by_the_next_run(
    scenario: Scenario,
) -> None:
    """The next call makes the attempt anew; what was answered before the trouble stays billed."""
    with model_server.serving(lambda request: [Turn()]) as model:
        plan = scenario.plan('python3 /agent/stand_in.py', model, tasks=scenario.tasks[:1])
        model.status = 503
        summary = make_unfinished_attempts(plan)
        assert summary.attempts == ()
        (trouble,) = summary.troubled
        assert str(trouble) == f'{0:016x}: the endpoint ended the attempt (HTTP 503)'
        model.status = 200
        assert make_unfinished_attempts(plan).attempts[0].ending is Ending.COMPLETED


STAND_IN = 'python3 /agent/stand_in.py'


def test_agent_that_fails_without_a_model_answer_ends_the_run(scenario: Scenario) -> None:
    """Else a wrong command would answer every task, with nothing."""
    sentence = (
        r'status 3 before a model answered \(no idea\); correct --model, --endpoint or --agent'
    )
    with (
        model_server.serving(lambda request: [Turn()]) as model,
        pytest.raises(Fatal, match=sentence),
    ):
        make_unfinished_attempts(scenario.plan('echo no idea; exit 3', model))
    assert not list((scenario.folder / 'out' / 'attempts').iterdir())


@pytest.mark.parametrize(
    ('command', 'sentence'),
    [
        ('claude-cod --print', r'status 127 .*claude-cod: not found'),
        ('/agent', 'status 126'),
        ('sh /agent/nothere.sh', 'nothere'),
        ('python3 /agent/nothere.py', 'nothere'),
    ],
)
def test_agent_that_cannot_be_started_ends_the_run(
    scenario: Scenario, command: str, sentence: str
) -> None:
    with pytest.raises(Fatal, match=f'the agent cannot be started: .*{sentence}'):
        make_unfinished_attempts(scenario.plan(command))
    assert not list((scenario.folder / 'out' / 'attempts').iterdir())


def test_agent_that_ends_with_such_a_status_after_its_work_is_kept(scenario: Scenario) -> None:
    summary = make_unfinished_attempts(scenario.plan(f'echo "// x" >> {TEST_FILE}; exit 127'))
    assert [one.ending for one in summary.attempts] == [Ending.FAILED] * 2


def test_prompt_that_the_endpoint_refuses_is_the_outcome_of_its_task(scenario: Scenario) -> None:
    """The first task is kept once the second is answered; a run of it alone goes on, too."""
    said: list[str] = []
    with model_server.serving(lambda request: [Turn()]) as model:
        model.refuses = lambda request: request['messages'][0]['content'] == 'Task 0.\n'
        summary = make_unfinished_attempts(scenario.plan(STAND_IN, model), said.append)
        assert make_unfinished_attempts(scenario.plan(STAND_IN, model)).attempts_now == 0
    first, second = summary.attempts
    assert (first.ending, first.rejection) == (Ending.REFUSED, 'HTTP 400: it is too long')
    assert (second.ending, second.rejection) == (Ending.COMPLETED, None)
    assert (summary.attempts_now, summary.troubled) == (2, ())
    assert rows(summary)[0]['exit_status'] == 'refused'
    assert any(
        '0 refused: the endpoint does not take the prompt (HTTP 400' in line for line in said
    )


def test_endpoint_that_refuses_all_prompts_ends_the_run_and_nothing_is_kept(
    scenario: Scenario,
) -> None:
    with model_server.serving(lambda request: [Turn()]) as model:
        model.refuses = lambda request: True
        sentence = (
            r'refused each question \(HTTP 400: it is too long\); correct --model, --endpoint'
        )
        with pytest.raises(Fatal, match=sentence):
            make_unfinished_attempts(scenario.plan(STAND_IN, model))
        assert model.rounds() == 2
        assert not list((scenario.folder / 'out' / 'attempts').iterdir())
        model.refuses = lambda request: False
        assert make_unfinished_attempts(scenario.plan(STAND_IN, model)).attempts_now == 2


def test_refused_prompt_beside_one_in_trouble_is_asked_again(scenario: Scenario) -> None:
    """Whether the endpoint refuses all is not known yet."""
    with model_server.serving(lambda request: [Turn()]) as model:
        model.refuses = lambda request: request['messages'][0]['content'] == 'Task 0.\n'
        model.status = 503
        with pytest.raises(Transient, match=r'HTTP 503\)\), and the endpoint refused .*HTTP 400'):
            make_unfinished_attempts(scenario.plan(STAND_IN, model))
        assert not list((scenario.folder / 'out' / 'attempts').iterdir())
        model.status = 200
        assert make_unfinished_attempts(scenario.plan(STAND_IN, model)).attempts_now == 2


def test_attempt_that_ends_before_a_model_answers_makes_no_refusal_an_outcome(
    scenario: Scenario,
) -> None:
    with model_server.serving(lambda request: [Turn()]) as model:
        model.refuses = lambda request: True
        plan = scenario.plan(f'grep -q "Task 0" "$COEVO_PROMPT" && sleep 60; {STAND_IN}', model)
        caps = dataclasses.replace(plan.settings, caps=Caps(seconds=3))
        with pytest.raises(Fatal, match='refused each question'):
            make_unfinished_attempts(dataclasses.replace(plan, settings=caps))
        model.refuses = lambda request: False
        summary = make_unfinished_attempts(dataclasses.replace(plan, settings=caps))
    assert [one.ending for one in summary.attempts] == [Ending.TIME_CAP, Ending.COMPLETED]


def test_wrong_address_of_the_model_is_named_with_its_status(scenario: Scenario) -> None:
    with model_server.serving(lambda request: [Turn()]) as model:
        model.status = 404
        with pytest.raises(Fatal, match=r'refused the question \(HTTP 404: no\); correct --model'):
            make_unfinished_attempts(scenario.plan(STAND_IN, model))


@pytest.mark.parametrize('answered', [0, 1])
def test_attempt_whose_time_ends_while_the_endpoint_is_silent_is_trouble(
    scenario: Scenario, answered: int
) -> None:
    """It is not kept, and ends soon."""
    over = threading.Event()

    def script(request: Json) -> list[Turn]:
        if len(request['messages']) > 2 * answered:
            over.wait(120)
        return [Turn(tool='sh', arguments={'command': 'true'})]

    plan = scenario.plan(STAND_IN, tasks=scenario.tasks[:1])
    with model_server.serving(script) as model:
        endpoint = Endpoint(url=model.url, api='anthropic', key=KEY)
        caps = dataclasses.replace(plan.settings, caps=Caps(seconds=4), endpoint=endpoint)
        start = time.monotonic()
        summary = make_unfinished_attempts(dataclasses.replace(plan, settings=caps))
        assert time.monotonic() - start < 30
        over.set()
    assert summary.attempts == ()
    (trouble,) = summary.troubled
    assert 'the endpoint ended the attempt (no answer within' in str(trouble)


def test_agent_at_work_that_its_time_stops_is_kept(scenario: Scenario) -> None:
    def script(request: Json) -> list[Turn]:
        return [Turn(tool='sh', arguments={'command': 'sleep 0.2'})]

    plan = scenario.plan(STAND_IN, tasks=scenario.tasks[:1])
    with model_server.serving(script) as model:
        endpoint = Endpoint(url=model.url, api='anthropic', key=KEY)
        caps = dataclasses.replace(plan.settings, caps=Caps(seconds=3), endpoint=endpoint)
        summary = make_unfinished_attempts(dataclasses.replace(plan, settings=caps))
    assert [one.ending for one in summary.attempts] == [Ending.TIME_CAP]


def test_task_with_a_wrong_start_file_checksum_is_reported_and_not_attempted(
    scenario: Scenario,
) -> None:
    lost = dataclasses.replace(scenario.tasks[0], start_file_sha256='0' * 64)
    summary = make_unfinished_attempts(scenario.plan('true', tasks=(lost, scenario.tasks[1])))
    assert len(summary.attempts) == 1
    assert summary.without[0].startswith(f'{0:016x}: the start file has the checksum')


def test_file_that_the_clone_lacks_is_trouble_of_its_task_alone(scenario: Scenario) -> None:
    repository = scenario.folder / 'repository'
    clone = scenario.folder / 'store' / 'clones' / 'local+a.git'
    later = commit(repository, 'more', {TEST_FILE: GOLD, 'A.java': 'class A {  }'})
    git(clone, 'fetch', '-q', str(repository), later)
    first, second = scenario.tasks
    oid = git(clone, 'rev-parse', f'{first.new_rev}:A.java').strip()
    (clone / 'objects' / oid[:2] / oid[2:]).unlink()
    tasks = (first, dataclasses.replace(second, new_rev=later))
    summary = make_unfinished_attempts(scenario.plan('true', tasks=tasks))
    assert [attempt.task_id for attempt in summary.attempts] == [second.task_id]
    (trouble,) = summary.troubled
    assert trouble.task_id == first.task_id
    assert f'object {oid} is missing' in trouble.reason


def test_attempt_without_a_sandbox_is_refused(scenario: Scenario) -> None:
    with pytest.raises(Fatal, match='one of bubblewrap, docker'):
        make_unfinished_attempts(scenario.plan('true', sandbox='none'))


# -- the command ------------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return snapshots.make(tmp_path_factory.mktemp('snapshot'), 2)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        (['--agent', 'true', {'max_seconds': 0}], 'max_seconds must be more than 0'),
        (['--agent', 'true', '--jobs', '0'], "--jobs: '0' must be a whole number of 1 or more"),
        (['--agent', 'true', {'max_seconds': math.nan}], 'max_seconds must be more than 0'),
        (['--agent', 'true', '--only-after', '2099-01'], 'no task is left to attempt'),
        (['--agent', 'true', '--store', '/nowhere'], '/nowhere is not a folder; give --clones'),
        (['--agent', 'true', '--out', '/dev/null/out'], 'name another --out'),
        (['--agent', 'true', '--max-cost', '1'], 'a cost cap needs prices'),
        (['--agent', 'true', '--prices', '/nowhere'], '/nowhere is not a table of prices'),
        (['--agent', 'true', '--only-tasks', 'x'], "has no task 'x'"),
        (['--agent', 'true', '--api', 'telepathy'], "unknown API 'telepathy'"),
        (['--agent', 'true', '--api', 'openai', '--key-env', 'NOT_SET'], '$NOT_SET is not set'),
        (['--agent', 'true', '--key-env', 'KEY'], '--key-env has no effect without --api'),
        (
            ['--agent', 'true', '--api', 'openai', '--endpoint', 'https://me:sk-1@e.org'],
            '--endpoint must be a URL such as',
        ),
        (['--agent', 'true', '--software', '/nowhere'], '/nowhere is not a folder'),
        (['--agent', 'sh -e /agent/a.sh'], '/agent/a.sh is nowhere; name its folder'),
        (
            ['--agent', '/agent/bin/a --x', '--software', '/usr'],
            '/usr has no bin/a, which --agent is to run',
        ),
        (['--agent', 'claude-code'], 'needs a model: --model NAME'),
        (['--agent', 'pynguin', '--model', 'x', '--any-date'], 'pynguin asks no model; leave out'),
        (['--agent', 'pynguin'], 'no task is left to attempt'),
        (
            ['--agent', 'claude-code', '--model', 'x', '--any-date', '--api', 'gemini'],
            'speaks anthropic',
        ),
    ],
)
def test_bad_command_line_is_reported_in_one_sentence(
    snapshot: Path,
    tmp_path: Path,
    words: list[str | dict[str, object]],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [
        word
        for each in words
        for word in ([each] if isinstance(each, str) else settings(tmp_path, **each))
    ]
    assert main(['run', str(snapshot), '--out', str(tmp_path / 'out'), *given]) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert 'sk-1' not in told
    assert len(told.splitlines()) == 1


def test_agent_may_be_a_link_to_a_place_of_the_sandbox(tmp_path: Path) -> None:
    (tmp_path / 'bin').mkdir()
    (tmp_path / 'bin/a').symlink_to('/agent/lib/run.js')
    given = argparse.Namespace(agent='/agent/bin/a --x', software=tmp_path)
    assert planning._list_mounts(given, None) == [Mount(source=tmp_path, target='/agent')]


def test_price_of_the_longest_matching_model_name_counts(tmp_path: Path) -> None:
    """The longest name counts; what is left out costs what its kin does."""
    table = (
        '["m"]\ninput = 1\noutput = 2\n["m-1"]\ninput = 3\noutput = 6\nread = 0.5\nwritten = 4\n'
    )
    (tmp_path / 'p.toml').write_text(table)
    prices = load_prices(tmp_path / 'p.toml')
    counts = dict.fromkeys(('input', 'read', 'written', 'written_long', 'output'), 1_000_000)
    assert prices.compute_cost(Usage(model='m-1-20260101', **counts)) == 3 + 0.5 + 4 + 4 + 6
    assert prices.compute_cost(Usage(model='m-2', **counts)) == 1 + 1 + 1 + 1 + 2
    with pytest.raises(Fatal, match=r'answered as .n-1.'):
        prices.compute_cost(Usage(model='n-1'))


@pytest.mark.parametrize(
    'table', ['["m"]\ninput = 1\n', '["m"]\ninput = 1\noutput = -1\n', 'm = 1']
)
def test_invalid_price_table_is_refused(tmp_path: Path, table: str) -> None:
    (tmp_path / 'p.toml').write_text(table)
    with pytest.raises(Fatal, match='m needs `input` and `output`'):
        load_prices(tmp_path / 'p.toml')
