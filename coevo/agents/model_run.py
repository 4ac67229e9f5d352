"""`coevo run`: attempt the tasks of a snapshot, grade the answers, and print one line of result.

Each step keeps what it finished, so that the same command continues: texts that were fetched,
attempts by `coevo.agents.keeping`, verdicts by the ledger of evaluations.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from coevo.agents.attempts import make_unfinished_attempts
from coevo.agents.endpoint import check_reachable
from coevo.agents.keeping import RunFolder
from coevo.agents.planning import (
    build_evaluation_options,
    check_model,
    check_options_and_choose_endpoint,
    estimate_cost,
    explain_named_tasks_left_out,
    is_estimable,
    make_plan,
    select_task_ids,
)
from coevo.agents.protocols import apply_protocol
from coevo.agents.summary import RunSummary, format_closing_lines, format_outcome_line
from coevo.display.terminal import hide_credentials
from coevo.evaluation.evaluation import Evaluation, describe_trouble, evaluate, write_evaluation
from coevo.evaluation.options import create_writable_folder
from coevo.evaluation.outcomes import AttemptProtocol
from coevo.evaluation.reporting.cells import pluralise
from coevo.evaluation.submission.drafting import check_metadata_values, write_submission_metadata
from coevo.evaluation.submission.folder import NAME, RESULTS
from coevo.evaluation.texts import provide_texts
from coevo.model.errors import Fatal, Transient
from coevo.model.listener import Listener
from coevo.snapshots.manifests import withholds_gold
from coevo.snapshots.snapshot import load_manifest
from coevo.storage.place import encode_folder_name

_RUNS = Path('runs')


def run_model_on_tasks(arguments: argparse.Namespace) -> int:
    """Attempt the selected tasks, grade the answers and print one line of result.

    Return status 0 if every task was attempted and graded, 1 after a bug of coevo. With the setting
    `grid`, do that for each model and prompt; with `--estimate`, only print the expected cost.
    Raises: Transient if a task could not be attempted for now; Fatal for bad input.
    """
    options = apply_protocol(arguments)
    if withholds_gold(load_manifest(options.snapshot)):
        _switch_grading_off(options)
    if options.grid is not None:
        from coevo.agents.grid_run import attempt_and_grade_grid

        if options.out is None:
            raise Fatal('a grid has several runs; name a folder for them with --out')
        return attempt_and_grade_grid(options)
    options.agent = options.agent or 'one-shot'
    if not options.estimate:
        check_model(options)
    task_ids = select_task_ids(options)
    for sentence in explain_named_tasks_left_out(options, task_ids):
        _say(sentence)
    options.out = options.out or _derive_default_folder(options)
    # The choice is made; a view of the snapshot with its texts, which comes below, may differ.
    options.tasks, options.limit, options.verified, options.paper = (
        list(task_ids),
        None,
        False,
        None,
    )
    if not options.estimate:
        _check_endpoint(options)
    texts = provide_texts(options.snapshot, task_ids, options.clones, _say)
    options.snapshot = texts.snapshot
    options.tasks = [task_id for task_id in task_ids if task_id not in texts.lacking]
    if options.estimate:
        print(estimate_cost(options).sentence)
        return 0
    return _attempt_and_grade(options, texts.lacking)


def _switch_grading_off(asked: argparse.Namespace) -> None:
    """Take grading out of a run on an edition that withholds gold.

    Raises: Fatal for attempts that need it.
    """
    if asked.grid is not None or asked.relation is AttemptProtocol.FEEDBACK:
        raise Fatal(
            f'{asked.snapshot} withholds the answers of the developers, by which a grid and attempts '
            'with feedback are graded: run them on the whole snapshot that it was made of'
        )
    if asked.grade and not asked.estimate:
        _say(
            'the answers of the developers are withheld here, so nothing is graded: give the answers '
            'to `coevo evaluate WHOLE ANSWERS` where the whole snapshot is'
        )
    asked.grade = False


def _check_endpoint(asked: argparse.Namespace) -> None:
    """Raise Fatal for bad options, or if nothing listens where something is still to be asked."""
    if asked.grade:
        check_metadata_values(asked.out, {'contact': asked.contact, 'url': asked.url})
    endpoint = check_options_and_choose_endpoint(asked)
    if endpoint is None:
        return
    done = RunFolder(asked.out).load_attempts()
    wanted = (
        (task_id, number) for task_id in asked.tasks for number in range(1, asked.attempts + 1)
    )
    if any(key not in done for key in wanted):
        check_reachable(endpoint)


def _derive_default_folder(asked: argparse.Namespace) -> Path:
    month = load_manifest(asked.snapshot)['month']
    agent = Path(asked.agent.split()[0]).name if asked.agent.split() else 'agent'
    names = (month, asked.model or '', '' if agent == 'one-shot' else agent)
    return _RUNS / encode_folder_name('-'.join(filter(None, names)))


def _attempt_and_grade(asked: argparse.Namespace, lacking: frozenset[str]) -> int:
    if asked.grade:
        create_writable_folder(asked.out / RESULTS, '--out')
    plan = make_plan(asked)
    _say(
        f'{pluralise(len(plan.tasks), "task")} of {asked.snapshot}; answers and results go to '
        f'{asked.out}'
    )
    if is_estimable(asked.agent):
        _say_estimate(asked)
    summary = make_unfinished_attempts(plan, _say)
    status = 0
    troubled = frozenset(trouble.task_id for trouble in summary.troubled)
    asked.tasks = [task_id for task_id in asked.tasks if task_id not in troubled]
    if not asked.grade:
        print('\n'.join(format_closing_lines(summary)))
        status = 1 if summary.bugs else 0
    elif asked.tasks:
        status = _grade(asked, summary, lacking | troubled)
    if summary.troubled:
        raise Transient(
            f'{len(troubled)} of {pluralise(len(plan.tasks), "task")} could not be attempted '
            f'({summary.troubled[0].reason})'
        )
    return status


def _say_estimate(asked: argparse.Namespace) -> None:
    """Say what the attempts may cost; without a clone of each task there is no estimate."""
    try:
        _say(estimate_cost(asked).sentence)
    except Transient as error:
        _say(f'no estimate: {error}')


def _grade(asked: argparse.Namespace, summary: RunSummary, left_out: frozenset[str]) -> int:
    """Grade what was answered, and print the line of result, which counts the tasks left out."""
    answered = {attempt.task_id for attempt in summary.attempts} - left_out
    options = replace(
        build_evaluation_options(asked, summary.predictions),
        tasks=frozenset(asked.tasks)
        | answered,  # those of earlier calls are in the predictions, too
    )
    _say(f'grading {pluralise(len(asked.tasks), "task")}')
    evaluation = evaluate(options, Listener(step=_say_step, say=_say))
    write_evaluation(asked.out / RESULTS, evaluation)
    for sentence in (*describe_trouble(evaluation), *_list_bug_sentences(evaluation, summary)):
        _say(sentence)
    check = '--check' if (asked.out / NAME).is_file() else '--new'
    _say(
        f'`coevo report {asked.out}` prints the full report; `coevo submit {check} '
        f'{asked.out}` makes a submission'
    )
    line = format_outcome_line(evaluation, summary.attempts, frozenset(asked.tasks))
    print(line + (f', {len(left_out)} left out' if left_out else ''), flush=True)
    _write_metadata(asked)  # last: whatever is wrong with it, the result is said
    return 1 if evaluation.bugs or summary.bugs else 0


def _write_metadata(asked: argparse.Namespace) -> None:
    """Write `submission.json` anew if there is one, or if the settings say all that it takes."""
    given = {'contact': asked.contact, 'url': asked.url, 'attempts': asked.attempts}
    is_known = asked.contact is not None and asked.url is not None and asked.model is not None
    if is_known or (asked.out / NAME).is_file():
        write_submission_metadata(asked.out, given)


def _list_bug_sentences(evaluation: Evaluation, summary: RunSummary) -> list[str]:
    records = sorted((*evaluation.bugs.values(), *summary.bugs))
    return [f'a bug in coevo ended an attempt; please report {record}' for record in records]


def _say(line: object) -> None:
    print(hide_credentials(str(line)), file=sys.stderr, flush=True)


def _say_step(step: str, done: int, total: int) -> None:
    _say(f'{step}: {done} of {total}')
