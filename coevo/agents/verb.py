"""The options of `coevo run`."""

from __future__ import annotations

import argparse
from pathlib import Path

from coevo.evaluation.verbs import add_store_option, add_task_options, require_extra
from coevo.options.parser import Parser, add_cutoff, add_sandbox, add_snapshot, parse_positive
from coevo.options.settings import Setting
from coevo.sandboxes.names import CONFINING

_DESCRIPTION = """\
Asks a model, or lets an agent attempt, the tasks of a snapshot, grades the answers, and prints one line of result.
Each attempt begins with the start state in a sandbox of its own. Without --agent it is coevo's own one-shot:
one question with the files that it is about, one answer, no tools. Other agents are a line for the shell, or
claude-code, gemini-cli, mini-swe-agent or swe-agent: the agent starts in the repository; the prompt is its standard
input and the file $COEVO_PROMPT, $COEVO_MODEL is the model, --software is /agent, and $COEVO_ENDPOINT is the only
address that it reaches: calls to it are relayed to the endpoint, with the key, which the agent never sees.
Only tasks that became public after the model's training cutoff are attempted, unless an option says otherwise.
The same command goes on where it was interrupted: what is answered is not asked again. --out is the folder of a
submission, with answers, logs and results.
"""


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb to the command's parser."""
    run = verbs.add_parser(
        'run',
        help='ask a model or an agent, grade the answers, print one line of result',
        description=_DESCRIPTION,
        example='coevo run 2026-06 --model my-model --endpoint http://127.0.0.1:8000/v1 --only-after 2025-06 --limit 1',
    )
    add_snapshot(run)
    _add_model_options(run)
    run.add_argument(
        '--out',
        type=Path,
        metavar='DIR',
        help='where answers, logs and results go (default: runs/MONTH-MODEL)',
    )
    run.add_argument(
        '--limit', type=parse_positive, metavar='N', help='only the first N of the tasks'
    )
    add_task_options(run)
    add_cutoff(run)
    run.add_argument(
        '--any-date',
        action='store_true',
        help='also tasks that became public before the cutoff of the model',
    )
    add_store_option(run)
    run.add_argument('--jobs', type=parse_positive, default=1, metavar='N', help='attempts at once')
    run.add_argument('--attempts', type=parse_positive, default=1, metavar='K', help='at each task')
    run.add_argument('--prices', type=Path, metavar='FILE', help='TOML, see coevo/agents')
    run.add_argument('--max-cost', type=float, metavar='USD', help='of a task; takes prices')
    run.add_argument(
        '--estimate',
        action='store_true',
        help='say what the attempts of one-shot would cost, and make none',
    )
    add_sandbox(run, CONFINING)
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
        help='what is spoken there: openai, anthropic or gemini (default: openai, or that of the agent; a COMMAND '
        'without --api and --endpoint has no network)',
    )
    run.add_argument(
        '--key-env',
        metavar='NAME',
        help='variable with the key (default: by the API, such as OPENAI_API_KEY)',
    )
    run.add_argument(
        '--agent',
        metavar='COMMAND|NAME',
        help='what asks the model: a line for the shell, or a name (default: one-shot)',
    )
    run.add_argument('--software', type=Path, metavar='DIR', help='seen as /agent, read-only')


_SETTINGS = (
    Setting(
        name='grade',
        kind=bool,
        default=True,
        help='false: keep the answers, and grade nothing; `coevo evaluate SNAPSHOT OUT` does it later',
    ),
    Setting(
        name='harness',
        kind=str,
        example='my-agent 1.2',
        help='what predictions call the agent (without it the name of its program)',
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
        help='wall seconds of an attempt',
    ),
    Setting(name='memory_gib', kind=int, default=8, least=1, help='memory of an attempt, in GiB'),
    Setting(
        name='protocol',
        kind=str,
        default='once',
        choices=('once', 'feedback', 'diversify'),
        help='what an attempt knows of those before it: nothing; what became of the last one, whose file it goes '
        'on with, until one succeeds; the files that they left, to which it adds another',
    ),
    Setting(
        name='seed',
        kind=int,
        example=1,
        help='$COEVO_SEED of first attempts, one more for each that follows',
    ),
    Setting(
        name='grid',
        kind=Path,
        example='grid.yaml',
        help='a YAML file of models and prompts, each of which is asked with each, in place of --model and --agent',
    ),
    Setting(
        name='contact',
        kind=str,
        example='me@example.org',
        help='of a submission: whom reviewers write to',
    ),
    Setting(
        name='url',
        kind=str,
        example='https://example.org/my-agent',
        help='of a submission: where the agent is described',
    ),
)


def _run_model(arguments: argparse.Namespace) -> int:
    from coevo.agents.model_run import run_model

    return run_model(arguments)
