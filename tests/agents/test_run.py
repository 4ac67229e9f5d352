"""Agents of a few lines run on a start state in the sandbox, a real HTTP server as their model."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.agents.costs import Meter, ModelPrice, PriceTable
from coevo.agents.difference import make_patch
from coevo.agents.endpoint import Endpoint
from coevo.agents.records import Ending
from coevo.agents.run import MOST_BYTES, SOFTWARE, AgentRun, AgentSettings, Caps, run_agent
from coevo.model.errors import Fatal
from coevo.sandboxes.sandbox import Mount, Sandbox
from tests.agents import model_server
from tests.agents.model_server import KEY, ModelServer, Turn
from tests.repos import commit, git, init

TEST_FILE = 'src/test/java/p/ATest.java'
HERE = Path(__file__).parent
STAND_IN = f'python3 {SOFTWARE}/stand_in.py'
DOLLAR = PriceTable(  # a dollar for a thousand tokens
    {'stand-in': ModelPrice(input=1000, output=1000, read=1000, written=1000, written_long=1000)},
    Path('prices.toml'),
)


@pytest.fixture(
    scope='module', params=['bubblewrap', pytest.param('docker', marks=pytest.mark.docker)]
)
def back_end(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def place(folder: Path) -> Path:
    """A start state and a prompt, where the sandbox's user can read them."""
    files = {TEST_FILE: 'class ATest {}\n', 'A.java': 'class A {}\n', 'run.sh': 'true\n'}
    commit(init(folder / 'start'), 'start', files)
    (folder / 'prompt.txt').write_text('Mend ATest.\n')
    return folder


def attempt(
    sandbox: Sandbox,
    place: Path,
    command: str,
    *,
    caps: Caps | None = None,
    model: ModelServer | None = None,
    memory_bytes: int = 2 << 30,
) -> tuple[AgentRun, Meter]:
    meter = Meter(place / 'rounds.jsonl', DOLLAR, caps.cost_usd if caps else None)
    software = place / 'agent'
    software.mkdir()
    (software / 'stand_in.py').write_bytes((HERE / 'stand_in.py').read_bytes())
    settings = AgentSettings(
        command=command,
        caps=caps or Caps(seconds=60),
        endpoint=Endpoint(url=model.url, api='anthropic', key=KEY) if model else None,
        memory_bytes=memory_bytes,
        mounts=(Mount(source=software, target=SOFTWARE),),
    )
    return run_agent(sandbox, settings, place, TEST_FILE, meter), meter


def script(*turns: Turn) -> model_server.Script:
    return lambda request: turns


def shell(command: str, **used: int) -> Turn:
    return Turn(tool='sh', arguments={'command': command}, **used)


def patched(ran: AgentRun) -> str:
    assert ran.files is not None
    return make_patch(ran.files)


def apply(place: Path, ran: AgentRun) -> None:
    git(place / 'start', 'apply', stdin=patched(ran).encode())


def test_changed_project_files_and_the_test_file_are_collected_from_an_agent(
    sandbox: Sandbox, place: Path
) -> None:
    """Files of the project and the test file; what else it wrote is no answer."""
    change = (
        f'cat; echo "// done" >> {TEST_FILE}; rm A.java; chmod +x run.sh; mkdir target; >target/x'
    )
    ran, _ = attempt(sandbox, place, change)
    assert (ran.ending, ran.output_tail) == (Ending.COMPLETED, 'Mend ATest.\n')
    assert ran.files is not None
    assert sorted(ran.files) == ['A.java', 'run.sh', TEST_FILE]
    apply(place, ran)
    assert git(place / 'start', 'status', '--short').splitlines() == [
        'D A.java',
        ' M run.sh',
        f' M {TEST_FILE}',
    ]


def test_agent_reaches_its_model_at_the_endpoint_and_rounds_are_metered(
    sandbox: Sandbox, place: Path
) -> None:
    with model_server.serving(script(shell(f'echo "// x" >> {TEST_FILE}'), Turn())) as model:
        ran, meter = attempt(sandbox, place, STAND_IN, model=model)
    assert (ran.ending, ran.status) == (Ending.COMPLETED, 0)
    assert patched(ran).endswith(' class ATest {}\n+// x\n')
    assert [one.tokens for one in meter.rounds] == [1100, 1100]
    assert meter.cost == pytest.approx(2.2)
    assert len((place / 'rounds.jsonl').read_text().splitlines()) == 2


def test_unchanged_large_file_is_not_collected(sandbox: Sandbox, place: Path) -> None:
    with (place / 'start' / 'fixture.bin').open('wb') as file:
        file.truncate(MOST_BYTES + 1)
    ran, _ = attempt(sandbox, place, f'echo "// x" >> {TEST_FILE}')
    assert ran.files is not None
    assert list(ran.files) == [TEST_FILE]


def test_absent_test_file_that_the_agent_creates_is_collected(
    sandbox: Sandbox, place: Path
) -> None:
    (place / 'start' / TEST_FILE).unlink()
    ran, _ = attempt(
        sandbox, place, f'mkdir -p {Path(TEST_FILE).parent}; echo "class A" > {TEST_FILE}'
    )
    assert patched(ran).splitlines()[:2] == [
        f'diff --git a/{TEST_FILE} b/{TEST_FILE}',
        'new file mode 100644',
    ]


def test_round_that_reaches_the_cost_cap_is_the_last(sandbox: Sandbox, place: Path) -> None:
    """What it asked for is still done; it is stopped when it asks again, however it goes on."""
    turns = [shell(f'echo "// {number}" >> {TEST_FILE}', output=0) for number in range(5)]
    with model_server.serving(script(*turns)) as model:
        caps = Caps(seconds=60, cost_usd=1.5)
        command = f'{STAND_IN}; while sleep 1; do :; done'
        ran, meter = attempt(sandbox, place, command, caps=caps, model=model)
    assert ran.ending is Ending.COST_CAP
    assert meter.cost == pytest.approx(2.0)
    assert model.rounds() == 2
    assert patched(ran).endswith(' class ATest {}\n+// 0\n+// 1\n')


# Holds up the word from outside: the process that reads it is its parent's only sibling.
DEAFEN = """\
read -r _ _ _ first _ </proc/$PPID/stat
for stat in /proc/[0-9]*/stat; do
    read -r pid _ _ parent _ <$stat
    [ "$parent" = "$first" ] && [ "$pid" != $PPID ] && kill -STOP "$pid"
done
"""


def test_agent_that_exits_after_a_refused_round_ends_with_the_cost_cap(
    sandbox: Sandbox, place: Path
) -> None:
    turns = [shell('true', output=0) for _ in range(3)]
    with model_server.serving(script(*turns)) as model:
        caps = Caps(seconds=60, cost_usd=0.5)
        ran, _ = attempt(sandbox, place, f'{DEAFEN}{STAND_IN}', caps=caps, model=model)
    assert ran.ending is Ending.COST_CAP


def test_time_cap_stops_an_agent_with_all_its_processes(sandbox: Sandbox, place: Path) -> None:
    lasting = f'trap "" TERM INT HUP; while :; do sleep 1; date >> {TEST_FILE}; done'
    command = f"setsid sh -c '{lasting}' & echo '// x' >> {TEST_FILE}; wait"
    ran, _ = attempt(sandbox, place, command, caps=Caps(seconds=2))
    assert ran.ending is Ending.TIME_CAP
    assert 2 <= ran.seconds < 10
    assert '+// x\n' in patched(ran)


@pytest.mark.parametrize(
    ('command', 'ending'),
    [
        ('exit 3', Ending.FAILED),
        ('kill -9 -1; kill -9 $$', Ending.LOST),
        (f'head -c 40000000 /dev/zero > {TEST_FILE}', Ending.TOO_LARGE),
        ('python3 -c "x = bytearray(3 << 30)"; sleep 9', Ending.MEMORY),
    ],
)
def test_attempt_ending_names_why_the_agent_ended(
    sandbox: Sandbox, place: Path, command: str, ending: Ending
) -> None:
    ran, _ = attempt(sandbox, place, command)
    assert ran.ending is ending


def test_agent_reaches_only_the_relay_and_never_sees_the_key(sandbox: Sandbox, place: Path) -> None:
    """The model's own address is of another network; the key is nowhere."""
    with model_server.serving(script(Turn())) as model:
        look = (
            f'{STAND_IN}; grep -rs {KEY} /proc/*/environ /proc/*/cmdline /in /agent /tmp /w /run;'
            f'python3 -c "import urllib.request; urllib.request.urlopen(\'{model.url}\')"'
        )
        ran, _ = attempt(sandbox, place, look, model=model)
    assert 'Connection refused' in ran.output_tail
    assert KEY not in ran.output_tail
    assert model.requests[0][1]['x-api-key'] == KEY


def test_denied_key_ends_the_run(sandbox: Sandbox, place: Path) -> None:
    with model_server.serving(script(Turn())) as model:
        model.status = 403
        with pytest.raises(Fatal, match='denies access'):
            attempt(sandbox, place, f'{STAND_IN}; sleep 60', model=model)


def test_model_without_a_price_ends_the_run(sandbox: Sandbox, place: Path) -> None:
    costly = Turn()
    with model_server.serving(script(costly)) as model:
        command = f'sed s/stand-in-1/other-2/ {SOFTWARE}/stand_in.py > /tmp/a.py; python3 /tmp/a.py'
        with pytest.raises(Fatal, match=r"'other-2', which prices\.toml has no price for"):
            attempt(sandbox, place, command, model=model)
