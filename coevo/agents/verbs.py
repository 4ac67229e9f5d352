"""`coevo attempt`: its options, and what it prints."""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from coevo.evaluation.verbs import add_store_of_clones
from coevo.evaluation.verbs import add_tasks
from coevo.evaluation.verbs import existing_store
from coevo.evaluation.verbs import more_than_zero
from coevo.evaluation.verbs import named_tasks
from coevo.evaluation.verbs import with_extra
from coevo.model.errors import Fatal
from coevo.model.errors import Transient
from coevo.options.arguments import add_sandbox
from coevo.options.arguments import positive
from coevo.options.parser import Parser
from coevo.options.parser import add_cutoff
from coevo.options.parser import add_snapshot
from coevo.options.parser import cutoff_of
from coevo.sandboxes.names import CONFINING

if TYPE_CHECKING:
    from coevo.agents.adapters.base import Adapter
    from coevo.agents.attempts import AttemptPlan
    from coevo.agents.endpoint import Endpoint
    from coevo.agents.run import AgentSettings
    from coevo.agents.turns import Series
    from coevo.sandboxes.sandbox import Mount

GIB = 1 << 30

_DESCRIPTION = """\
Lets an agent attempt the tasks of a snapshot, each from its start state in a sandbox of its own, and
writes predictions for `coevo evaluate`. The agent is a line for the shell, or the name of one that is
known: claude-code, gemini-cli, mini-swe-agent, swe-agent. It starts in the repository; the prompt is
its standard input and the file $COEVO_PROMPT, $COEVO_MODEL is the model of --agent-model, --software is
/agent, and $COEVO_ENDPOINT is the only address that it reaches: calls to it are relayed to the endpoint,
with the key, which the agent never sees. An attempt that was interrupted is made again, one that is
finished is not.
"""


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    attempt = verbs.add_parser(
        'attempt',
        help='let an agent attempt tasks; writes predictions',
        description=_DESCRIPTION,
        example="coevo attempt snapshots/2026-05 --agent 'sh /agent/run.sh' --software my-agent --out attempts",
    )
    add_snapshot(attempt)
    attempt.add_argument(
        '--agent', required=True, metavar='COMMAND|NAME', help='a line for the shell, or a name'
    )
    attempt.add_argument(
        '--out', type=Path, required=True, metavar='DIR', help='where attempts and predictions go'
    )
    add_tasks(attempt)
    add_cutoff(attempt)
    add_store_of_clones(attempt)
    attempt.add_argument('--jobs', type=positive, default=1, metavar='N', help='attempts at once')
    attempt.add_argument('--agent-model', metavar='NAME', help='the model that the agent uses')
    attempt.add_argument('--harness', metavar='NAME', help='what predictions call the agent')
    attempt.add_argument('--software', type=Path, metavar='DIR', help='seen as /agent, read-only')
    attempt.add_argument(
        '--api', help='of the model: anthropic, gemini or openai; a COMMAND without has no network'
    )
    attempt.add_argument('--endpoint', metavar='URL', help="where it is (default: the maker's own)")
    attempt.add_argument(
        '--key-env',
        metavar='NAME',
        help='variable with the key (default: by the API, such as OPENAI_API_KEY)',
    )
    attempt.add_argument('--prices', type=Path, metavar='FILE', help='TOML, see coevo/agents')
    attempt.add_argument('--max-cost', type=float, metavar='USD', help='of a task; takes prices')
    attempt.add_argument(
        '--max-seconds', type=float, default=3600, metavar='S', help='wall seconds of a task'
    )
    attempt.add_argument('--memory', type=int, default=8, metavar='GIB', help='of a task')
    attempt.add_argument('--attempts', type=positive, default=1, metavar='K', help='at each task')
    attempt.add_argument(
        '--protocol',
        choices=('once', 'feedback', 'diversify'),
        default='once',
        help='what an attempt knows of those before it: nothing; what became of the last one, whose file it goes '
        'on with, until one succeeds; the files that they left, to which it adds another',
    )
    attempt.add_argument(
        '--seed',
        type=int,
        metavar='N',
        help='$COEVO_SEED of first attempts, one more for each that follows (none)',
    )
    attempt.add_argument(
        '--no-kit',
        action='store_true',
        help='without the tools of its language and the libraries of each task',
    )
    add_sandbox(attempt, CONFINING)
    attempt.set_defaults(run=with_extra(_attempt))


def _attempt(arguments: argparse.Namespace) -> int:
    """Status 0 if every task was attempted; Transient, hence 3, for trouble of ours."""
    from coevo.agents.attempts import attempt_all
    from coevo.agents.summary import told

    summary = attempt_all(_plan(arguments), lambda line: print(line, file=sys.stderr))
    print('\n'.join(told(summary)))
    if summary.troubled:
        raise Transient(f'{len(summary.troubled)} tasks could not be attempted')
    return 1 if summary.bugs else 0


def _plan(arguments: argparse.Namespace) -> AttemptPlan:
    from coevo.agents.attempts import AttemptPlan
    from coevo.agents.prices import read_prices
    from coevo.evaluation.assignments import assignments
    from coevo.evaluation.output import check

    adapter = _adapter(arguments.agent)
    prices = read_prices(arguments.prices) if arguments.prices else None
    settings, series = _settings(arguments, adapter), _series(arguments)
    tasks = named_tasks(arguments.tasks)
    found = assignments(
        arguments.snapshot,
        tasks,
        cutoff_of(arguments),
        interleaved=arguments.interleaved,
        leaking=arguments.leaking,
    )
    if not found:
        raise Fatal(
            'no task is left to attempt; name others, or an earlier cutoff, or add --leaking'
        )
    check(arguments.out, '--out')
    return AttemptPlan(
        tasks=[one.task for one in found],
        out=arguments.out,
        settings=settings,
        harness=arguments.harness or _harness(arguments.agent),
        model=arguments.agent_model,
        store=existing_store(arguments.store),
        prices=prices,
        jobs=arguments.jobs,
        sandbox=arguments.sandbox,
        kit=not arguments.no_kit,
        series=series,
        asked=_asked(arguments, settings),
    )


def _series(arguments: argparse.Namespace) -> Series:
    from coevo.agents.turns import Series
    from coevo.evaluation.attempt_numbers import MOST_ATTEMPTS
    from coevo.evaluation.records import AttemptProtocol

    if arguments.attempts > MOST_ATTEMPTS:
        raise Fatal(f'--attempts is at most {MOST_ATTEMPTS}, and not {arguments.attempts}')
    if arguments.attempts == 1 and arguments.protocol != AttemptProtocol.ONCE:
        raise Fatal(f'--protocol {arguments.protocol} takes several --attempts')
    return Series(
        attempts=arguments.attempts,
        protocol=AttemptProtocol(arguments.protocol),
        snapshot=arguments.snapshot,
        seed=arguments.seed,
    )


def _adapter(agent: str) -> Adapter | None:
    from coevo.agents.adapters import ADAPTERS

    return ADAPTERS.get(agent)


def _harness(agent: str) -> str:
    return Path(agent.split()[0]).name if agent.split() else agent


def _settings(arguments: argparse.Namespace, adapter: Adapter | None) -> AgentSettings:
    from coevo.agents.run import AgentSettings
    from coevo.agents.run import Caps

    if adapter is not None and arguments.agent_model is None:
        raise Fatal(f'{arguments.agent} has to be told which model to use: --agent-model NAME')
    for name in ('max_seconds', 'max_cost', 'memory'):
        more_than_zero(getattr(arguments, name), f'--{name.replace("_", "-")}')
    environment = dict(adapter.ENVIRONMENT) if adapter else {}
    return AgentSettings(
        command=adapter.COMMAND if adapter else arguments.agent,
        caps=Caps(seconds=arguments.max_seconds, cost_usd=arguments.max_cost),
        endpoint=_endpoint(arguments, adapter),
        memory_bytes=arguments.memory * GIB,
        mounts=tuple(_mounts(arguments, adapter)),
        environment={**environment, 'COEVO_MODEL': arguments.agent_model or ''},
    )


def _endpoint(arguments: argparse.Namespace, adapter: Adapter | None) -> Endpoint | None:
    from coevo.agents.endpoint import endpoint

    api = arguments.api or (adapter.APIS[0] if adapter else None)
    if api is None:
        if arguments.endpoint or arguments.key_env:
            raise Fatal('--endpoint and --key-env need --api: what is spoken there')
        return None
    if adapter is not None and api not in adapter.APIS:
        raise Fatal(f'{arguments.agent} speaks {", ".join(adapter.APIS)}; choose --api from these')
    return endpoint(api, arguments.endpoint, arguments.key_env)


def _mounts(arguments: argparse.Namespace, adapter: Adapter | None) -> list[Mount]:
    from coevo.agents.run import SOFTWARE
    from coevo.sandboxes.sandbox import Mount

    if arguments.software is None:
        if adapter is not None:
            raise Fatal(f'{arguments.agent} needs its software, --software DIR: {adapter.INSTALL}')
        return []
    if not arguments.software.is_dir():
        raise Fatal(f'{arguments.software} is no folder; --software names where the agent lies')
    return [Mount(source=arguments.software.resolve(), target=SOFTWARE)]


def _asked(arguments: argparse.Namespace, settings: AgentSettings) -> dict[str, object]:
    """What decides answers; which tasks, and how many at once, does not."""
    from coevo.agents.summary import network
    from coevo.evaluation.verified import verified
    from coevo.prompts import VERSION

    return {
        'snapshot_sha256': verified(arguments.snapshot),
        'prompt_version': VERSION,
        'agent': arguments.agent,
        'command': settings.command,
        'model': arguments.agent_model,
        'harness': arguments.harness or _harness(arguments.agent),
        'software': str(arguments.software.resolve()) if arguments.software else None,
        'network': network(settings),
        'max_seconds': settings.caps.seconds,
        'max_cost_usd': settings.caps.cost_usd,
        'prices_sha256': _digest(arguments.prices) if arguments.prices else None,
        'memory_gib': arguments.memory,
        'sandbox': arguments.sandbox,
        'kit': not arguments.no_kit,
        # Of folders of before nothing says these.
        **({'protocol': arguments.protocol} if arguments.protocol != 'once' else {}),
        **({'seed': arguments.seed} if arguments.seed is not None else {}),
    }


def _digest(file: Path) -> str:
    """SHA-256 of a file that decides answers."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
