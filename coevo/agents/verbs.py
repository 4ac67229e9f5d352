"""`coevo attempt`: its options and its output."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coevo.evaluation.verbs import (
    add_store_option,
    add_task_options,
    evaluate_and_show,
    require_extra,
)
from coevo.model.errors import Fatal, Transient
from coevo.options.parser import Parser, add_cutoff, add_sandbox, add_snapshot, parse_positive
from coevo.sandboxes.names import CONFINING

_DESCRIPTION = """\
Lets an agent attempt the tasks of a snapshot, each from its start state in a sandbox of its own, and
writes predictions for `coevo evaluate`. The agent is a line for the shell, or the name of one that is
known: claude-code, gemini-cli, mini-swe-agent, swe-agent, and one-shot, which is coevo's own: one question
with the files that it is about, one answer, no tools. It starts in the repository; the prompt is
its standard input and the file $COEVO_PROMPT, $COEVO_MODEL is the model of --agent-model, --software is
/agent, and $COEVO_ENDPOINT is the only address that it reaches: calls to it are relayed to the endpoint,
with the key, which the agent never sees. An attempt that was interrupted is made again, one that is
finished is not.
"""


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb to the command's parser."""
    attempt = verbs.add_parser(
        'attempt',
        help='let an agent attempt tasks; writes predictions',
        description=_DESCRIPTION,
        example="coevo attempt snapshots/2026-05 --agent 'sh /agent/run.sh' --software my-agent --out attempts",
    )
    add_snapshot(attempt)
    attempt.add_argument('--agent', metavar='COMMAND|NAME', help='a line for the shell, or a name')
    attempt.add_argument(
        '--grid',
        type=Path,
        metavar='FILE',
        help='a YAML file of models and prompts, each of which is asked with each; instead of an agent',
    )
    attempt.add_argument(
        '--out', type=Path, required=True, metavar='DIR', help='where attempts and predictions go'
    )
    add_task_options(attempt)
    add_cutoff(attempt)
    add_store_option(attempt)
    attempt.add_argument(
        '--jobs', type=parse_positive, default=1, metavar='N', help='attempts at once'
    )
    _add_model_options(attempt)
    _add_limit_options(attempt)
    _add_repeat_options(attempt)
    attempt.add_argument(
        '--no-kit',
        action='store_true',
        help='without the tools of its language and the libraries of each task',
    )
    attempt.add_argument(
        '--estimate',
        action='store_true',
        help='say what the attempts of one-shot would cost, and make none',
    )
    attempt.add_argument(
        '--evaluate',
        type=Path,
        metavar='DIR',
        help='then score them, as `coevo evaluate` does, and put the results there',
    )
    add_sandbox(attempt, CONFINING)
    attempt.set_defaults(run=require_extra(_run_attempt))


def _add_model_options(attempt: argparse.ArgumentParser) -> None:
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


def _add_limit_options(attempt: argparse.ArgumentParser) -> None:
    attempt.add_argument('--max-cost', type=float, metavar='USD', help='of a task; takes prices')
    attempt.add_argument(
        '--max-seconds', type=float, default=3600, metavar='S', help='wall seconds of a task'
    )
    attempt.add_argument('--memory', type=int, default=8, metavar='GIB', help='of a task')


def _add_repeat_options(attempt: argparse.ArgumentParser) -> None:
    attempt.add_argument(
        '--attempts', type=parse_positive, default=1, metavar='K', help='at each task'
    )
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


def _run_attempt(arguments: argparse.Namespace) -> int:
    """Return status 0 if every task was attempted, 1 after a bug, else that of the evaluation.

    Raises: Transient if a task could not be attempted for now.
    """
    if (arguments.agent is None) == (arguments.grid is None):
        raise Fatal('name what attempts the tasks: either --agent or --grid')
    if arguments.grid is not None:
        from coevo.agents.grid.verb import attempt_grid

        return attempt_grid(arguments)

    from coevo.agents.attempts import attempt_all
    from coevo.agents.planning import (
        build_evaluation_options,
        estimate_cost,
        is_estimable,
        make_plan,
    )
    from coevo.agents.summary import format_closing_lines
    from coevo.evaluation.folders import check_writable

    if arguments.estimate:
        print(estimate_cost(arguments).sentence)
        return 0
    if arguments.evaluate is not None:
        check_writable(arguments.evaluate, '--evaluate')
    wanted = make_plan(arguments)
    if is_estimable(arguments.agent):
        print(estimate_cost(arguments).sentence, file=sys.stderr)
    summary = attempt_all(wanted, lambda line: print(line, file=sys.stderr))
    print('\n'.join(format_closing_lines(summary)))
    if summary.troubled:
        raise Transient(f'{len(summary.troubled)} tasks could not be attempted')
    scored = 0
    if arguments.evaluate is not None:
        scored = evaluate_and_show(
            build_evaluation_options(arguments, summary.predictions), arguments.evaluate
        )
    return 1 if summary.bugs else scored
