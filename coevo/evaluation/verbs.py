"""The verbs of evaluations: `coevo evaluate`, `coevo checkout` and `coevo submit`."""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from coevo.display.terminal import hide_credentials
from coevo.evaluation.submission import verb as submission_verb
from coevo.model.errors import Fatal, Transient
from coevo.model.families import Family
from coevo.options.parser import (
    Parser,
    Verb,
    add_clones_option,
    add_cutoff_options,
    add_jobs_option,
    add_sandbox_option,
    add_snapshot_argument,
    check_clones,
    parse_cutoff,
    suggest_extra,
    to_unicode,
)
from coevo.options.settings import Setting

if TYPE_CHECKING:
    from coevo.evaluation.options import EvaluationOptions
    from coevo.evaluation.submission.checks import Claim
    from coevo.evaluation.submission.folder import SubmissionFolder
    from coevo.snapshots.cutoffs import Cutoff

# The packages that the extra `evaluate` of the wheel installs, by their import names.
_EXTRA = ('psutil', 'rich', 'tree_sitter', 'tree_sitter_java', 'urllib3', 'yaml')


def add_evaluation_verbs(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verbs `evaluate`, `checkout` and `submit` to the command line."""
    _add_evaluate(verbs)
    _add_checkout(verbs)
    submission_verb.add_submit_verb(verbs).set_defaults(
        run=require_extra(submission_verb.make_or_check_submission)
    )


def require_extra(run: Verb) -> Verb:
    """Return a function that checks that the extra `evaluate` is installed and then runs the verb.

    The returned function raises Fatal if one of the packages is missing.
    """

    def check_and_run(arguments: argparse.Namespace) -> int:
        """Check the packages, then run the verb."""
        missing = [name for name in _EXTRA if importlib.util.find_spec(name) is None]
        if missing:
            raise Fatal(
                f'`coevo {arguments.verb}` needs packages that are not installed '
                f'({", ".join(missing)}); {suggest_extra("evaluate")}'
            )
        return run(arguments)

    return check_and_run


def _add_evaluate(verbs: argparse._SubParsersAction[Parser]) -> None:
    evaluate = verbs.add_parser(
        'evaluate',
        help='grade patches for the tasks of a snapshot',
        example='coevo evaluate snapshots/2026-06 predictions.jsonl --out results',
    )
    add_snapshot_argument(evaluate)
    evaluate.add_argument(
        'predictions',
        type=parse_predictions,
        help='a .jsonl, a .parquet, a folder of TASK_ID.patch (or TASK_ID.file, the whole test '
        'file; TASK_ID.2.patch for a second attempt), or one with a submission; the word '
        "`gold` means the developers' own patches (write ./gold for a folder of that name)",
    )
    evaluate.add_argument(
        '--out', type=Path, required=True, metavar='DIR', help='where results and report go'
    )
    add_clones_option(evaluate)
    add_task_options(evaluate)
    evaluate.add_argument(
        '--only-attempts',
        dest='attempts',
        type=int,
        metavar='K',
        help='only the first K attempts at each task; the report has figures for each k up to K',
    )
    add_cutoff_options(evaluate)
    evaluate.add_argument(
        '--part',
        metavar='K/N',
        help='grade only the K-th of N parts of the repositories; `coevo report merge` merges the '
        'results',
    )
    evaluate.add_argument(
        '--mechanical-fixes',
        dest='fixes',
        action='store_true',
        help='fix imports, package clauses and brackets of whole test files by rules, as far as errors and '
        "the project's files determine them, before grading (MultiFileTest)",
    )
    add_jobs_option(evaluate)
    add_sandbox_option(evaluate)
    evaluate.add_settings(*_EVALUATION_SETTINGS)
    evaluate.set_defaults(run=require_extra(_run_evaluate))


_EVALUATION_SETTINGS = (
    Setting(
        name='adequacy',
        kind=bool,
        default=True,
        help='false: grade outcomes only, without coverage, mutants and undone changes',
    ),
    Setting(
        name='pit',
        kind=bool,
        default=False,
        help="also run PIT's mutants of the changed methods; they decide no outcome",
    ),
    Setting(
        name='test_seconds',
        kind=float,
        example=60.0,
        help='CPU seconds that a test may take (without it 60, or ten times its earlier time)',
    ),
    Setting(
        name='cache',
        kind=Path,
        example='cache',
        help='folder for stored grading results (without it in the tool cache)',
    ),
)


def _add_checkout(verbs: argparse._SubParsersAction[Parser]) -> None:
    checkout = verbs.add_parser(
        'checkout',
        help="write a task's start state as a repository of one commit",
        description='Writes the start state of a task as a Git repository with one commit: the new code '
        'with the tests as they were before the change. The commit is the same on every '
        'machine. Change the test file there and submit the output of `git diff`.',
        example='coevo checkout snapshots/2026-06 0f3c9a1b2d4e5f60 work/first-task',
    )
    add_snapshot_argument(checkout)
    checkout.add_argument('task', type=to_unicode, help='a task_id')
    checkout.add_argument('folder', type=Path, metavar='DIR', help='a new folder')
    add_clones_option(checkout)
    checkout.set_defaults(run=require_extra(_run_checkout))


def _run_checkout(arguments: argparse.Namespace) -> int:
    from coevo.evaluation.checkout import check_out

    clones = check_clones(arguments.clones)
    checkout = check_out(arguments.snapshot, arguments.task, arguments.folder, clones)
    for sentence in checkout.sentences:
        print(sentence)
    return 0


def parse_predictions(word: str) -> Path | Literal['gold']:
    """Return the path of the predictions, or the word `gold` for the developers' own patches."""
    from coevo.evaluation.predictions import GOLD

    return GOLD if word == GOLD else Path(word)  # own name: the user's


def _run_evaluate(arguments: argparse.Namespace) -> int:
    from coevo.evaluation.options import create_writable_folder
    from coevo.evaluation.submission.checks import load_claim
    from coevo.evaluation.submission.folder import find_submission

    submission = find_submission(arguments.predictions)
    claimed = load_claim(submission, arguments.out) if submission else None
    if claimed and _selects_tasks(arguments):
        _say('options select some of the tasks, so the results of the submission are not compared')
        claimed = None
    create_writable_folder(arguments.out, '--out')
    _say_left_out(arguments)
    if submission is not None:
        _select_submitted_tasks(arguments, submission)
    _provide_texts_and_repoint_arguments(arguments, submission)
    return evaluate_and_show(_make_options(arguments, submission), arguments.out, claimed)


def _say_left_out(arguments: argparse.Namespace) -> None:
    """Say which tasks that --only-tasks names are not graded, and why."""
    from coevo.evaluation.assignments import list_wanted_ids
    from coevo.evaluation.options import explain_left_out

    named, cutoff = parse_task_ids(arguments.tasks), _parse_cutoff(arguments)
    family = Family(arguments.family) if arguments.family else None
    is_filtered = cutoff or family or arguments.verified or arguments.paper
    if named is None or not is_filtered:
        return
    chosen = choose_task_ids(arguments) or frozenset()
    wanted = list_wanted_ids(arguments.snapshot, chosen, cutoff, family=family)
    for sentence in explain_left_out(
        arguments.snapshot, named, wanted, in_views=chosen, cutoff=cutoff, family=family
    ):
        _say(sentence)


def _selects_tasks(arguments: argparse.Namespace) -> bool:
    """Return whether an option selects some of the tasks or attempts."""
    options = (arguments.tasks, arguments.paper, arguments.family, arguments.part)
    is_limited = arguments.verified or arguments.attempts is not None
    return any(map(bool, options)) or is_limited or _parse_cutoff(arguments) is not None


def _select_submitted_tasks(arguments: argparse.Namespace, submission: SubmissionFolder) -> None:
    """Select the tasks of a submission that has results, unless an option selects others.

    What the submission leaves out of its snapshot is printed to standard error, unless an option
    selects some of its tasks.
    """
    from coevo.evaluation.results import load_results
    from coevo.evaluation.submission.folder import describe_coverage, list_submitted_tasks

    if arguments.tasks is not None or arguments.verified or arguments.paper is not None:
        return
    tasks = list_submitted_tasks(submission, arguments.snapshot)
    if tasks is None:
        return
    is_limited = _selects_tasks(arguments)
    arguments.tasks = sorted(tasks)
    if is_limited:
        return
    coverage = describe_coverage(
        submission.metadata, load_results(submission.results), tasks, arguments.snapshot
    )
    _say(f'the tasks of the submission are graded: {coverage}')


def _provide_texts_and_repoint_arguments(
    arguments: argparse.Namespace, submission: SubmissionFolder | None
) -> None:
    """Fetch the texts of the tasks that are graded, if the snapshot is an edition without them.

    These are the tasks that are named, else those with a prediction, whatever texts were fetched
    before. Raises: Transient if one that is named cannot be had.
    """
    from coevo.evaluation.assignments import list_answered_task_ids, list_wanted_ids
    from coevo.evaluation.predictions import GOLD
    from coevo.evaluation.texts import describe_unanswered, lacks_fetchable_texts, provide_texts

    if not lacks_fetchable_texts(arguments.snapshot):
        return
    place, is_named = arguments.snapshot, arguments.tasks is not None
    wanted = needed = list_wanted_ids(
        place,
        choose_task_ids(arguments),
        _parse_cutoff(arguments),
        family=Family(arguments.family) if arguments.family else None,
        interleaved=arguments.interleaved,
        leaking=arguments.leaking,
    )
    if not is_named:
        path = submission.predictions if submission else arguments.predictions
        if path == GOLD:  # it answers all tasks: it is for the user to say which
            return
        answered = list_answered_task_ids(path, place)
        needed = tuple(task_id for task_id in wanted if task_id in answered)
        if len(needed) < len(wanted):
            _say(describe_unanswered(place, len(wanted) - len(needed), len(wanted)))
    texts = provide_texts(place, needed, check_clones(arguments.clones), _say)
    if texts.lacking and is_named:
        raise Transient(f'{len(texts.lacking)} of {len(needed)} tasks cannot be graded for now')
    arguments.snapshot, arguments.tasks = texts.snapshot, sorted(set(needed) - texts.lacking)


def _say(line: str) -> None:
    print(hide_credentials(line), file=sys.stderr, flush=True)


def evaluate_and_show(options: EvaluationOptions, out: Path, claimed: Claim | None = None) -> int:
    """Evaluate, write the results into a folder and show them; return the exit status.

    The status is 1 if a bug of coevo ended an attempt, or if the outcomes differ from `claimed`.

    claimed  the results that a submission states, which must be reproduced
    """
    from coevo.display.console import open_console, show_progress
    from coevo.evaluation.evaluation import evaluate, summarise_evaluation, write_evaluation
    from coevo.evaluation.reporting import tables
    from coevo.evaluation.submission.checks import compare_with_claim

    console = open_console()
    with show_progress(console) as listener:
        evaluation = evaluate(options, listener)
    report = write_evaluation(out, evaluation)
    tables.print_report(report, console)
    agreed = compare_with_claim(claimed, report, evaluation.rows) if claimed else ()
    for sentence in (*summarise_evaluation(evaluation, out), *agreed):
        console.print(sentence, markup=False, highlight=False)
    differs = claimed is not None and claimed.outcomes_sha256 != report.outcomes_sha256
    return 1 if evaluation.bugs or differs else 0


def _make_options(
    arguments: argparse.Namespace, submission: SubmissionFolder | None
) -> EvaluationOptions:
    from coevo.evaluation.options import EvaluationOptions
    from coevo.evaluation.parts import parse_part
    from coevo.snapshots.cutoffs import read_models

    if arguments.pit and not arguments.adequacy:
        raise Fatal('pit has no effect if adequacy is false; leave one of them out')
    return EvaluationOptions(
        snapshot=arguments.snapshot,
        predictions=submission.predictions if submission else arguments.predictions,
        clones=check_clones(arguments.clones),
        tasks=choose_gradable_ids(arguments),
        cutoff=_parse_cutoff(arguments),
        part=parse_part(arguments.part) if arguments.part else None,
        family=Family(arguments.family) if arguments.family else None,
        attempts=arguments.attempts,
        models=(
            *(read_models(arguments.models) if arguments.models else ()),
            *(submission.metadata.extra_models if submission else ()),
        ),
        interleaved=arguments.interleaved,
        leaking=arguments.leaking,
        jobs=arguments.jobs,
        sandbox=arguments.sandbox,
        cache=arguments.cache,
        test_seconds=check_positive(arguments.test_seconds, 'test_seconds'),
        adequacy=arguments.adequacy,
        pit=arguments.pit,
        fixes=arguments.fixes,
    )


def _parse_cutoff(arguments: argparse.Namespace) -> Cutoff | None:
    """Return the cutoff that the options ask for; None if there is no limit.

    Here `models` may be set alone: the file then only states the cutoff of the model that answered.
    """
    limits = (
        arguments.after,
        arguments.before,
        arguments.unseen_by,
        arguments.margin_days or None,
    )
    return None if set(limits) == {None} else parse_cutoff(arguments)


PAPERS = ('tam-eval',)
"""The papers whose selection a view of snapshots has."""


def add_task_options(verb: Parser) -> None:
    """Add the options that select tasks, and the settings `interleaved` and `leaking`."""
    verb.add_argument(
        '--only-tasks',
        dest='tasks',
        nargs='+',
        action='extend',
        metavar='ID',
        help='only these tasks; @FILE names a file with one id on each line',
    )
    verb.add_argument(
        '--only-verified',
        dest='verified',
        action='store_true',
        help='only tasks of the view `verified`: not trivial, about what their assertions reach, and '
        'not shown by the start state',
    )
    verb.add_argument(
        '--only-paper',
        dest='paper',
        choices=PAPERS,
        help="only tasks that a paper's rules about a whole benchmark leave: `tam-eval`, at least five files of "
        'a repository and at most ten, none longer than 99 %% of its language, one task each',
    )
    verb.add_argument(
        '--only-family',
        dest='family',
        choices=[str(family) for family in Family],
        help='only tasks of this family',
    )
    verb.add_settings(
        Setting(
            name='interleaved',
            kind=bool,
            default=False,
            help='include tasks whose old revision is not an ancestor of the new one',
        ),
        Setting(
            name='leaking',
            kind=bool,
            default=False,
            help='include tasks whose start state shows most of their answer (tasks.leak)',
        ),
    )


def choose_task_ids(arguments: argparse.Namespace) -> frozenset[str] | None:
    """Return the ids of the tasks that the options choose; None means all tasks.

    Raises: Fatal if no task is in a view that was asked for.
    """
    chosen = parse_task_ids(arguments.tasks)
    if arguments.verified:
        note = ' (snapshots before schema 3.0 do not say which are)'
        chosen = _select_in_view(arguments, chosen, 'verified', '--only-verified', note)
    if arguments.paper is not None:
        view = str(arguments.paper).replace('-', '_')
        chosen = _select_in_view(arguments, chosen, view, f'--only-paper {arguments.paper}')
    return chosen


def choose_gradable_ids(arguments: argparse.Namespace) -> frozenset[str] | None:
    """Return the ids as `choose_task_ids`, without tasks of a view whose texts are withheld.

    Their number is printed to standard error. Tasks that --only-tasks names stay, so that they are
    refused. Raises: Fatal if none has its texts.
    """
    chosen = choose_task_ids(arguments)
    if chosen is None or arguments.tasks is not None:
        return chosen
    from coevo.evaluation.assignments import list_withheld_ids
    from coevo.snapshots.snapshot import format_filling_command

    gradable = chosen - list_withheld_ids(arguments.snapshot)
    lacking = (
        f'{arguments.snapshot} lacks the texts of {len(chosen) - len(gradable)} of {len(chosen)} '
        f'chosen tasks: {format_filling_command(arguments.snapshot)} fills them in'
    )
    if not gradable:
        raise Fatal(lacking)
    if gradable != chosen:
        print(lacking, file=sys.stderr)
    return gradable


def _select_in_view(
    arguments: argparse.Namespace,
    chosen: frozenset[str] | None,
    view: str,
    option: str,
    note: str = '',
) -> frozenset[str]:
    from coevo.evaluation.assignments import list_ids_in_view

    there = list_ids_in_view(arguments.snapshot, view)
    left = there if chosen is None else there & chosen
    if not left:
        raise Fatal(
            f'{arguments.snapshot} has no {view} task{"" if chosen is None else " among those named"}; '
            f'leave out {option}{note}'
        )
    return left


def parse_task_ids(words: list[str] | None) -> frozenset[str] | None:
    """Return the task ids of the words, where @FILE means the ids in a file; None for all tasks.

    Raises: Fatal if a file cannot be read.
    """
    if words is None:
        return None
    task_ids: set[str] = set()
    for word in words:
        if not word.startswith('@'):
            task_ids.add(word)
            continue
        try:
            task_ids |= set(Path(word[1:]).read_text().split())
        except (OSError, UnicodeDecodeError) as error:
            raise Fatal(
                f'{word[1:]} cannot be read ({error}); give ids, one on each line'
            ) from None
    return frozenset(task_ids)


def check_positive(number: float | None, option: str) -> float | None:
    """Return the number unchanged.

    Raises: Fatal unless it is None, or finite and more than 0.
    """
    if number is not None and not 0 < number < math.inf:
        raise Fatal(f'{option} must be more than 0, not {number:g}')
    return number
