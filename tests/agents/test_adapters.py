"""The real agents against a scripted stand-in for their model's API.

Each is looked for in $COEVO_AGENTS/NAME, installed as its adapter says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coevo.agents.adapters import ADAPTERS
from coevo.agents.apis import APIS
from coevo.agents.costs import Meter, ModelPrice, PriceTable
from coevo.agents.difference import make_patch
from coevo.agents.endpoint import Endpoint
from coevo.agents.records import Ending
from coevo.agents.run import SOFTWARE, AgentRun, AgentSettings, Caps, run_agent
from coevo.sandboxes.sandbox import Mount, Sandbox
from tests.agents import model_server
from tests.agents.model_server import KEY, ModelServer, Turn
from tests.repos import commit, init

TEST_FILE = 'src/test/java/p/ATest.java'
PROMPT = 'Mend ATest: "$HOME" {{it}} \'so\', Ünïcode.\n\nYou have tools.\n'
CHANGE = f'echo "// done" >> {TEST_FILE}'

# Models as each agent names them, the tool that runs a command, and the turn that ends it.
OVER = Turn(tool='bash', arguments={'command': 'echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT'})
AGENTS = [
    ('claude-code', 'claude-opus-4-7', 'Bash', Turn()),
    ('gemini-cli', 'gemini-3.1-pro-preview', 'run_shell_command', Turn()),
    ('mini-swe-agent', 'anthropic/claude-opus-4-7', 'bash', OVER),
    ('mini-swe-agent', 'gemini/gemini-3.1-pro', 'bash', OVER),
    ('mini-swe-agent', 'openai/gpt-5', 'bash', OVER),
    ('swe-agent', 'anthropic/claude-opus-4-7', 'bash', Turn(tool='submit')),
    ('swe-agent', 'gemini/gemini-3.1-pro', 'bash', Turn(tool='submit')),
    ('swe-agent', 'openai/gpt-5', 'bash', Turn(tool='submit')),
]
ONE_EACH = [agent[:3] for agent in AGENTS if not agent[1].startswith(('gemini/', 'openai/'))]
PRICES = PriceTable(
    {'': ModelPrice(input=1000, output=0, read=0, written=0, written_long=0)}, Path('p')
)


@pytest.fixture
def place(folder: Path) -> Path:
    commit(init(folder / 'start'), 'start', {TEST_FILE: 'class ATest {}\n'})
    (folder / 'prompt.txt').write_text(PROMPT)
    return folder


def attempt(
    sandbox: Sandbox, place: Path, name: str, model: str, server: ModelServer, cap: float
) -> tuple[AgentRun, Meter]:
    software = Path(os.environ.get('COEVO_AGENTS', '/nowhere')) / name
    if not software.is_dir():
        pytest.skip(f'{name} is not in $COEVO_AGENTS: {ADAPTERS[name].INSTALL_INSTRUCTIONS}')
    adapter, api = ADAPTERS[name], model.split('/')[0]
    meter = Meter(place / 'rounds.jsonl', PRICES, cap)
    settings = AgentSettings(
        command=adapter.COMMAND,
        caps=Caps(seconds=120, cost_usd=cap),
        endpoint=Endpoint(url=server.url, api=api if api in APIS else adapter.APIS[0], key=KEY),
        mounts=(Mount(source=software.resolve(), target=SOFTWARE),),
        environment={**adapter.ENVIRONMENT, 'COEVO_MODEL': model},
    )
    return run_agent(sandbox, settings, place, TEST_FILE, meter), meter


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'model', 'tool', 'last'), AGENTS)
def test_agent_runs_the_tool_call_of_its_model_and_its_rounds_are_metered(
    sandbox: Sandbox, place: Path, name: str, model: str, tool: str, last: Turn
) -> None:
    turns = [_command(tool), last]
    with model_server.serving(lambda request: turns) as server:
        ran, meter = attempt(sandbox, place, name, model, server, 100.0)
    assert ran.ending is Ending.COMPLETED, ran.output_tail
    assert ran.files is not None
    assert make_patch(ran.files).endswith(' class ATest {}\n+// done\n')
    assert [(one.model, one.tokens) for one in meter.rounds] == [(model.split('/')[-1], 1100)] * 2
    assert PROMPT in list(_texts(server.requests[0][2]))
    assert not {why for why in ran.refused if 'tool' in why}


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'model', 'tool'), ONE_EACH)
def test_agent_is_stopped_at_the_cost_cap(
    sandbox: Sandbox, place: Path, name: str, model: str, tool: str
) -> None:
    """What it does when it is refused a round, such as to try again, is cut short."""
    with model_server.serving(lambda request: [_command(tool)]) as server:
        ran, meter = attempt(sandbox, place, name, model, server, 3.0)
    assert ran.ending is Ending.COST_CAP, ran.output_tail
    assert meter.cost == 3.0
    assert ran.files is not None
    assert make_patch(ran.files).count('+// done\n') == 3


def _command(tool: str) -> Turn:
    return Turn(tool=tool, arguments={'command': CHANGE})


def _texts(value: Any) -> Iterator[str]:
    """Every text of a JSON document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
