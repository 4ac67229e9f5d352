"""The options of `coevo run`."""

from __future__ import annotations

import argparse
from pathlib import Path

from coevo.agents.protocols import PROTOCOLS, PUBLISHED
from coevo.evaluation.outcomes import AttemptProtocol
from coevo.evaluation.verbs import add_task_options, require_extra
from coevo.options.parser import (
    Parser,
    add_clones_option,
    add_cutoff_options,
    add_sandbox_option,
    add_snapshot_argument,
    parse_positive,
)
from coevo.options.settings import Setting
from coevo.sandboxes.names import CONFINING

_DESCRIPTION = """\
Runs a model or an agent on the tasks of a snapshot, grades the answers, and prints one line of results.
Each attempt begins with the start state of its task, in its own sandbox. Without --agent, coevo asks the model
itself (one-shot): one question with the relevant files, one answer, no tools. Another agent is a shell command, or
claude-code, gemini-cli, mini-swe-agent, swe-agent, pynguin or randoop. It starts in the repository and finds the prompt on standard
input and in the file $COEVO_PROMPT, the name of the model in $COEVO_MODEL, and its software in /agent. It can reach
only $COEVO_ENDPOINT: coevo forwards these calls to the endpoint and adds the key, which the agent never sees.
Only tasks that became public after the model's training cutoff are attempted, unless an option says otherwise.
Run the same command again to continue after an interruption: finished attempts are kept. --out becomes the folder
of a submission, with answers, logs and results.
"""


def add_run_verb(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `run` to the command's parser."""
    run = verbs.add_parser(
        'run',
        help='run a model or an agent on tasks, grade the answers, print one line of results',
        description=_DESCRIPTION,
        example='coevo run 2026-07 --model my-model --endpoint http://127.0.0.1:8000/v1 --only-after 2025-06 --limit 1',
    )
    add_snapshot_argument(run)
    _add_model_options(run)
    run.add_argument(
        '--out',
        type=Path,
        metavar='DIR',
        help='where answers, logs and results go (default: runs/MONTH-MODEL)',
    )
    run.add_argument(
        '--limit', type=parse_positive, metavar='N', help='attempt only the first N tasks'
    )
    add_task_options(run)
    add_cutoff_options(run)
    run.add_argument(
        '--any-date',
        action='store_true',
        help="include tasks that were public before the model's training cutoff",
    )
    add_clones_option(run)
    run.add_argument(
        '--jobs',
        type=parse_positive,
        default=1,
        metavar='N',
        help='how many attempts run at the same time',
    )
    run.add_argument(
        '--attempts',
        type=parse_positive,
        metavar='K',
        help='attempts for each task (default: 1, or what the protocol sets)',
    )
    run.add_argument(
        '--protocol',
        choices=PROTOCOLS,
        default=str(AttemptProtocol.ONCE),
        help='what an attempt knows of earlier ones: nothing (once); the result of the last one, '
        'whose file it continues (feedback); or their files, to which it adds another (diversify); '
        f'or the settings of a paper ({", ".join(PUBLISHED)})',
    )
    run.add_argument(
        '--prices',
        type=Path,
        metavar='FILE',
        help='table of prices (TOML), in US dollars for a million tokens; coevo/agents/AGENTS.md has '
        'its form',
    )
    run.add_argument(
        '--max-cost',
        type=float,
        metavar='USD',
        help='most that an attempt may cost, in US dollars; needs --prices',
    )
    run.add_argument(
        '--estimate',
        action='store_true',
        help='print what the attempts of one-shot would cost, and make none',
    )
    add_sandbox_option(run, CONFINING)
    run.add_settings(*_SETTINGS)
    run.set_defaults(run=require_extra(_run_model))


def _add_model_options(run: argparse.ArgumentParser) -> None:
    run.add_argument('--model', metavar='NAME', help='the model, by its name at the endpoint')
    run.add_argument(
        '--endpoint',
        metavar='URL',
        help="where the model is (default: the API maker's own); one on this machine needs no key",
    )
    run.add_argument(
        '--api',
        help='API of the endpoint: openai, anthropic or gemini (default: openai, or that of the '
        'agent; a COMMAND without --api and --endpoint has no network)',
    )
    run.add_argument(
        '--key-env',
        metavar='NAME',
        help='environment variable with the key (default: depends on the API, such as '
        'OPENAI_API_KEY)',
    )
    run.add_argument(
        '--agent',
        metavar='COMMAND|NAME',
        help='the agent that asks the model: a shell command, or a name (default: one-shot)',
    )
    run.add_argument(
        '--software',
        type=Path,
        metavar='DIR',
        help="folder with the agent's software; the agent sees it read-only as /agent",
    )


_SETTINGS = (
    Setting(
        name='grade',
        kind=bool,
        default=True,
        help='false: keep the answers without grading them; `coevo evaluate SNAPSHOT OUT` grades '
        'them later',
    ),
    Setting(
        name='harness',
        kind=str,
        example='my-agent 1.2',
        help='name of the agent in the predictions (without it the name of its program)',
    ),
    Setting(
        name='kit',
        kind=bool,
        default=True,
        help="false: without the tools of a task's language and its libraries",
    ),
    Setting(
        name='max_seconds',
        kind=float,
        default=3600.0,
        help='time limit of an attempt, in seconds',
    ),
    Setting(
        name='memory_gib', kind=int, default=8, least=1, help='memory limit of an attempt, in GiB'
    ),
    Setting(
        name='temperature',
        kind=float,
        example=0.2,
        least=0,
        help='temperature of the model, for one-shot; without it the default of the endpoint',
    ),
    Setting(
        name='max_tokens',
        kind=int,
        example=8000,
        least=1,
        help='most tokens of an answer, for one-shot; without it the default of the endpoint',
    ),
    Setting(
        name='seed',
        kind=int,
        example=1,
        help='$COEVO_SEED of first attempts; each further attempt adds 1',
    ),
    Setting(
        name='grid',
        kind=Path,
        example='grid.yaml',
        help='a YAML file of models and prompts; every model gets every prompt. It replaces '
        '--model and --agent',
    ),
    Setting(
        name='contact',
        kind=str,
        example='me@example.org',
        help='for a submission: whom reviewers may write to',
    ),
    Setting(
        name='url',
        kind=str,
        example='https://example.org/my-agent',
        help='for a submission: a page that describes the agent',
    ),
)


def _run_model(arguments: argparse.Namespace) -> int:
    from coevo.agents.model_run import run_model_on_tasks

    return run_model_on_tasks(arguments)
