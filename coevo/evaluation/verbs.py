"""The verbs of evaluations, such as `coevo evaluate`, `coevo compare` and `coevo regrade`."""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from coevo.evaluation.contamination import verb as contamination_verb
from coevo.evaluation.submission import verb as submission_verb
from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.options.parser import (
    Parser,
    Verb,
    add_cutoff,
    add_jobs,
    add_sandbox,
    add_snapshot,
    parse_cutoff,
    suggest_extra,
    to_unicode,
)

if TYPE_CHECKING:
    from coevo.evaluation.options import EvaluationOptions
    from coevo.evaluation.submission.agreement import Claim
    from coevo.evaluation.submission.folder import SubmissionFolder
    from coevo.snapshots.cutoffs import Cutoff

# The packages that the extra `evaluate` of the wheel installs, by their import names.
_EXTRA = ('psutil', 'rich', 'tree_sitter', 'tree_sitter_java', 'urllib3', 'yaml')


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verbs to the command line."""
    _add_evaluate(verbs)
    _add_checkout(verbs)
    compare = verbs.add_parser(
        'compare',
        help='set two evaluations of the same tasks side by side',
        example='coevo compare results other-results',
    )
    compare.add_argument('first', type=Path, metavar='A', help='the --out of a `coevo evaluate`')
    compare.add_argument('second', type=Path, metavar='B', help='another one')
    compare.add_argument(
        '--format', choices=('table', 'json'), default='table', help='how the answer is written'
    )
    compare.set_defaults(run=require_extra(_run_compare))
    merge = verbs.add_parser(
        'merge',
        help='put results of several machines together',
        description='Put the results of `coevo evaluate --part` of several machines together, as if one had '
        'made them. What two of them say of a method has to be the same.',
        example='coevo merge part-1 part-2 --out results',
    )
    merge.add_argument('folders', nargs='+', type=Path, metavar='DIR', help='each one an --out')
    merge.add_argument(
        '--out', type=Path, required=True, metavar='DIR', help='where results and report go'
    )
    merge.set_defaults(run=require_extra(_run_merge))
    regrade = verbs.add_parser(
        'regrade',
        help='report on stored results again, running nothing',
        example='coevo regrade results',
    )
    regrade.add_argument('folder', type=Path, metavar='DIR', help='the --out of a `coevo evaluate`')
    regrade.set_defaults(run=require_extra(_run_regrade))
    submission_verb.add(verbs).set_defaults(run=require_extra(submission_verb.run))
    contamination_verb.add(verbs).set_defaults(run=require_extra(contamination_verb.run))


def require_extra(run: Verb) -> Verb:
    """Return the verb with a check that the packages of the extra `evaluate` are installed.

    Raises: Fatal, when the verb is run, if one is missing.
    """

    def check_and_run(arguments: argparse.Namespace) -> int:
        """Check the packages, then run the verb."""
        missing = [name for name in _EXTRA if importlib.util.find_spec(name) is None]
        if missing:
            raise Fatal(
                f'`coevo {arguments.verb}` needs packages that are not here ({", ".join(missing)}); '
                + suggest_extra('evaluate')
            )
        return run(arguments)

    return check_and_run


def _add_evaluate(verbs: argparse._SubParsersAction[Parser]) -> None:
    evaluate = verbs.add_parser(
        'evaluate',
        help='score patches against the tasks of a snapshot',
        example='coevo evaluate snapshots/2026-05 predictions.jsonl --out results',
    )
    add_snapshot(evaluate)
    evaluate.add_argument(
        'predictions',
        type=parse_predictions,
        help='a .jsonl, a .parquet, a folder of TASK_ID.patch (or TASK_ID.file, the whole test file; TASK_ID.2.patch '
        'for a second attempt), or one with a submission; the word `gold` stands for the '
        "developers' own patches (a folder of that name is ./gold)",
    )
    evaluate.add_argument(
        '--out', type=Path, required=True, metavar='DIR', help='where results and report go'
    )
    add_store_option(evaluate)
    add_task_options(evaluate)
    _add_part(evaluate)
    add_cutoff(evaluate)
    add_jobs(evaluate)
    add_sandbox(evaluate)
    evaluate.add_argument(
        '--cache',
        type=Path,
        metavar='DIR',
        help='what was judged before (default: in the tool cache)',
    )
    _add_measures(evaluate)
    evaluate.set_defaults(run=require_extra(_run_evaluate))


def _add_part(evaluate: argparse.ArgumentParser) -> None:
    evaluate.add_argument(
        '--part',
        metavar='K/N',
        help='only the tasks of the K-th of N parts of the repositories; `coevo merge` puts results together',
    )
    evaluate.add_argument(
        '--family',
        choices=[str(family) for family in Family],
        help='only tasks of this family (all)',
    )
    evaluate.add_argument(
        '--attempts',
        type=int,
        metavar='K',
        help='only the first K attempts at each task (all); the report has figures for each k up to K',
    )


def _add_measures(evaluate: argparse.ArgumentParser) -> None:
    evaluate.add_argument(
        '--test-seconds',
        type=float,
        metavar='S',
        help='CPU seconds that a test may take (default: 60, or ten times what it took before)',
    )
    evaluate.add_argument(
        '--no-adequacy',
        dest='adequacy',
        action='store_false',
        help='verdicts alone: no coverage, mutants, or reversals',
    )
    evaluate.add_argument(
        '--pit',
        action='store_true',
        help="PIT's mutants of the changed methods, too; PIT's word, which decides no outcome",
    )


def _add_checkout(verbs: argparse._SubParsersAction[Parser]) -> None:
    checkout = verbs.add_parser(
        'checkout',
        help="write a task's start state as a repository of one commit",
        description="Writes a task's start state as a Git repository of one commit, the same wherever it "
        'is made: the new code with the tests as they were before the change. Change the test file '
        'there, and hand in what `git diff` prints.',
        example='coevo checkout snapshots/2026-05 0f3c9a1b2d4e5f60 work/first-task',
    )
    add_snapshot(checkout)
    checkout.add_argument('task', type=to_unicode, help='a task_id')
    checkout.add_argument('folder', type=Path, metavar='DIR', help='a folder that is not there yet')
    add_store_option(checkout)
    checkout.set_defaults(run=require_extra(_run_checkout))


def _run_checkout(arguments: argparse.Namespace) -> int:
    from coevo.evaluation.checkout import check_out

    store = check_store(arguments.store)
    checkout = check_out(arguments.snapshot, arguments.task, arguments.folder, store)
    for sentence in checkout.sentences:
        print(sentence)
    return 0


def parse_predictions(word: str) -> Path | Literal['gold']:
    """Return the path of the predictions, or the word `gold` for the developers' own patches."""
    from coevo.evaluation.gold_patches import GOLD

    return GOLD if word == GOLD else Path(word)  # own name: the user's


def add_store_option(verb: Parser) -> None:
    """Add the option `--store`."""
    verb.add_argument(
        '--store',
        type=Path,
        metavar='DIR',
        help="a store whose clones are used (default: clones of the tasks' URLs)",
    )


def _run_evaluate(arguments: argparse.Namespace) -> int:
    from coevo.evaluation.folders import check_writable
    from coevo.evaluation.submission.agreement import load_claim
    from coevo.evaluation.submission.folder import find_submission

    submission = find_submission(arguments.predictions)
    claimed = load_claim(submission, arguments.out) if submission else None
    check_writable(arguments.out, '--out')
    return evaluate_and_show(_make_options(arguments, submission), arguments.out, claimed)


def evaluate_and_show(options: EvaluationOptions, out: Path, claimed: Claim | None = None) -> int:
    """Evaluate, write the results into a folder and show them; return the exit status.

    The status is 1 if a bug of coevo ended an attempt, or if the outcomes differ from `claimed`.

    claimed  the results that a submission states, which must be reproduced
    """
    from coevo.display.console import open_console, show_progress
    from coevo.evaluation.evaluation import evaluate
    from coevo.evaluation.output import summarise_evaluation, write_evaluation
    from coevo.evaluation.reporting import tables
    from coevo.evaluation.submission.agreement import compare_with_claim

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
    from coevo.snapshots.models import read_models

    return EvaluationOptions(
        snapshot=arguments.snapshot,
        predictions=submission.predictions if submission else arguments.predictions,
        store=check_store(arguments.store),
        tasks=parse_task_ids(arguments.tasks),
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
        test_seconds=check_positive(arguments.test_seconds, '--test-seconds'),
        adequacy=arguments.adequacy,
        pit=arguments.pit,
    )


def _parse_cutoff(arguments: argparse.Namespace) -> Cutoff | None:
    """Return the cutoff of the options, if any.

    Here --models may be given alone: it tells the results the cutoff of the model that answered.
    """
    limits = (arguments.after, arguments.before, arguments.model, arguments.margin or None)
    return None if set(limits) == {None} else parse_cutoff(arguments)


def add_task_options(verb: Parser) -> None:
    """Add the options that select tasks."""
    verb.add_argument(
        '--tasks',
        nargs='+',
        action='extend',
        metavar='ID',
        help='only these; @FILE has one on each line',
    )
    verb.add_argument(
        '--interleaved',
        action='store_true',
        help='also tasks whose old revision is no ancestor of the new one',
    )
    verb.add_argument(
        '--leaking',
        action='store_true',
        help='also tasks whose start state shows nearly their answer (tasks.leak)',
    )


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
    """Return the number.

    Raises: Fatal unless it is None, or finite and more than 0.
    """
    if number is not None and not 0 < number < math.inf:
        raise Fatal(f'{option} is more than 0, and not {number:g}')
    return number


def check_store(folder: Path | None) -> Path | None:
    """Return the folder of a store.

    Raises: Fatal if it does not exist. Otherwise clones would silently be made from the tasks'
    URLs.
    """
    if folder is not None and not folder.is_dir():
        raise Fatal(f'{folder} is no folder; --store names a store whose clones are used')
    return folder


def _run_compare(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console
    from coevo.evaluation.reporting import tables
    from coevo.evaluation.reporting.comparison import compare_folders, encode_comparison

    comparison = compare_folders(arguments.first, arguments.second)
    if arguments.format == 'json':
        sys.stdout.write(encode_comparison(comparison).decode())
    else:
        tables.print_comparison(comparison, open_console())
    return 0


def _run_merge(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console
    from coevo.evaluation.merging import merge
    from coevo.evaluation.reporting import tables

    tables.print_report(merge(arguments.folders, arguments.out), open_console())
    return 0


def _run_regrade(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console
    from coevo.evaluation.reporting import tables
    from coevo.evaluation.reporting.regrading import regrade

    tables.print_report(regrade(arguments.folder), open_console())
    return 0
