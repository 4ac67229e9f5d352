"""The verb `coevo report`: what results and snapshots come to, one kind of report at a time.

`coevo report RESULTS` is the usual kind: the report of one evaluation.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from datetime import timedelta
from pathlib import Path

from coevo.display import terminal
from coevo.evaluation.verbs import require_extra
from coevo.model.errors import Fatal
from coevo.options.parser import (
    Parser,
    add_cutoff_options,
    add_snapshot_argument,
    parse_cutoff,
    refuse_options_without,
)
from coevo.options.settings import Setting

# `coevo report contamination SNAPSHOT RESULTS`.

# The largest margin; no repository has tasks of so many days.
_MOST_DAYS = 36_500


def add_contamination_report(kinds: argparse._SubParsersAction[Parser]) -> Parser:
    """Add the report `contamination` to the command line, and return its parser."""
    verb = kinds.add_parser(
        'contamination',
        help='estimate how much a model gained from answers in its training data',
        description="Prints the success on tasks that were public before the model's training cutoff "
        'minus the success on similar tasks from after it: same repository, same track or '
        'family, gold patch of similar size. Prints the same for placebo cutoffs, where '
        'nothing can be gained. Runs no tests.',
        example='coevo report contamination snapshots/2026-06 results --cutoff 2025-06',
    )
    add_snapshot_argument(verb)
    verb.add_argument('results', type=Path, metavar='DIR', help='the --out of a `coevo evaluate`')
    verb.add_argument(
        '--cutoff',
        metavar='DATE',
        help="training cutoff, a day or month (default: the model's cutoff in the results)",
    )
    verb.add_argument(
        '--format', choices=('table', 'json'), default='table', help='how the answer is written'
    )
    verb.add_settings(
        Setting(
            name='margin_days',
            kind=int,
            default=0,
            least=0,
            help='days before and after a cutoff whose tasks are left out',
        ),
        Setting(
            name='match_size',
            kind=bool,
            default=True,
            help='also match tasks by the size of their gold patch',
        ),
    )
    return verb


def print_contamination_estimate(arguments: argparse.Namespace) -> int:
    """Estimate contamination from stored results, print the estimate and return 0.

    Raises: Fatal for a margin that is too large, or if the cutoff is not given and not known.
    """
    from coevo.evaluation.contamination import (
        CutoffSplit,
        describe_contamination,
        estimate_contamination,
        find_model_cutoff,
        load_attempted_tasks,
    )
    from coevo.evaluation.results import find_results_folder
    from coevo.snapshots.cutoffs import compute_first_clean_moment

    if arguments.margin_days > _MOST_DAYS:
        raise Fatal(f'margin_days must be {_MOST_DAYS} or less, not {arguments.margin_days}')
    given = None if arguments.cutoff is None else compute_first_clean_moment(arguments.cutoff)
    attempted_tasks = load_attempted_tasks(
        arguments.snapshot, find_results_folder(arguments.results)
    )
    cutoff = arguments.cutoff or find_model_cutoff(attempted_tasks)
    question = CutoffSplit(
        moment=given or compute_first_clean_moment(cutoff),
        margin=timedelta(days=arguments.margin_days),
        sized=arguments.match_size,
    )
    estimated = estimate_contamination(attempted_tasks.tasks, question)
    if arguments.format == 'json':
        content = {'cutoff': cutoff, **dataclasses.asdict(estimated)}
        print(json.dumps(content, indent=1, default=lambda moment: moment.isoformat()))
    else:
        print('\n'.join(describe_contamination(estimated, cutoff)))
    return 0


_USUAL = 'evaluation'


def add_report_verb(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `report` with its kinds of reports."""
    verb = verbs.add_parser(
        'report',
        help='report on results of `coevo evaluate` or `coevo run`, or on a snapshot',
        description='`coevo report RESULTS` prints the report of an evaluation. The other kinds compare '
        'results, merge them, grade them again, or count what a snapshot contains. None of '
        'them runs any test.',
        example='coevo report results',
    )
    verb.usual_action = _USUAL
    kinds = verb.add_subparsers(dest='kind', metavar='KIND', required=True, parser_class=Parser)
    _add_evaluation(kinds)
    _add_compare(kinds)
    _add_merge(kinds)
    _add_regrade(kinds)
    add_contamination_report(kinds).set_defaults(run=require_extra(print_contamination_estimate))
    _add_statistics(kinds)
    _add_difficulty(kinds)
    _add_identification(kinds)


def _add_evaluation(kinds: argparse._SubParsersAction[Parser]) -> None:
    evaluation = kinds.add_parser(
        _USUAL,
        help='the report of one evaluation; the word can be left out',
        example='coevo report evaluation results',
    )
    evaluation.add_argument(
        'folder',
        type=Path,
        metavar='DIR',
        help='the --out of a `coevo evaluate` or `coevo run` (./compare for a folder with the name of a kind)',
    )
    evaluation.set_defaults(run=require_extra(_print_evaluation))


def _print_evaluation(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console
    from coevo.evaluation.reporting import tables
    from coevo.evaluation.reporting.report import make_report
    from coevo.evaluation.results import find_results_folder, load_results, load_suites

    folder = find_results_folder(arguments.folder)
    tables.print_report(make_report(load_results(folder), load_suites(folder)), open_console())
    return 0


def _add_compare(kinds: argparse._SubParsersAction[Parser]) -> None:
    compare = kinds.add_parser(
        'compare',
        help='compare two evaluations of the same tasks',
        example='coevo report compare results other-results',
    )
    compare.add_argument('first', type=Path, metavar='A', help='the --out of a `coevo evaluate`')
    compare.add_argument('second', type=Path, metavar='B', help='another one')
    compare.add_argument(
        '--format', choices=('table', 'json'), default='table', help='output format'
    )
    compare.set_defaults(run=require_extra(_compare))


def _compare(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console
    from coevo.evaluation.reporting import tables
    from coevo.evaluation.reporting.comparison import compare_folders, encode_comparison
    from coevo.evaluation.results import find_results_folder

    first, second = map(find_results_folder, (arguments.first, arguments.second))
    comparison = compare_folders(first, second)
    if arguments.format == 'json':
        sys.stdout.write(encode_comparison(comparison).decode())
    else:
        tables.print_comparison(comparison, open_console())
    return 0


def _add_merge(kinds: argparse._SubParsersAction[Parser]) -> None:
    merge = kinds.add_parser(
        'merge',
        help='merge results of several machines',
        description='Merges results of `coevo evaluate` from several machines, each of which graded one '
        '--part. The merged folder is the same as if one machine had graded everything. Two '
        'parts that disagree about a method are refused.',
        example='coevo report merge part-1 part-2 --out results',
    )
    merge.add_argument(
        'folders', nargs='+', type=Path, metavar='DIR', help='the --out of each part'
    )
    merge.add_argument(
        '--out', type=Path, required=True, metavar='DIR', help='folder for results and report'
    )
    merge.set_defaults(run=require_extra(_merge))


def _merge(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console
    from coevo.evaluation.parts import merge_result_folders
    from coevo.evaluation.reporting import tables

    tables.print_report(merge_result_folders(arguments.folders, arguments.out), open_console())
    return 0


def _add_regrade(kinds: argparse._SubParsersAction[Parser]) -> None:
    regrade = kinds.add_parser(
        'regrade',
        help='grade stored results again by the rules of this version of coevo',
        example='coevo report regrade results',
    )
    regrade.add_argument('folder', type=Path, metavar='DIR', help='the --out of a `coevo evaluate`')
    regrade.set_defaults(run=require_extra(_regrade))


def _regrade(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console
    from coevo.evaluation.reporting import tables
    from coevo.evaluation.reporting.regrading import regrade
    from coevo.evaluation.results import find_results_folder

    tables.print_report(regrade(find_results_folder(arguments.folder)), open_console())
    return 0


def _add_statistics(kinds: argparse._SubParsersAction[Parser]) -> None:
    statistics = kinds.add_parser(
        'statistics',
        help='the tables and figures of TestEvo-Bench for a snapshot',
        example='coevo report statistics snapshots/2026-06 --results results',
    )
    add_snapshot_argument(statistics)
    statistics.add_argument(
        '--results', type=Path, metavar='DIR', help='an evaluation, for run and attempt times'
    )
    statistics.set_defaults(run=_print_statistics)


def _print_statistics(arguments: argparse.Namespace) -> int:
    from coevo.snapshots.statistics import render_statistics

    terminal.write_data(render_statistics(arguments.snapshot, arguments.results).encode())
    return 0


def _add_difficulty(kinds: argparse._SubParsersAction[Parser]) -> None:
    difficulty = kinds.add_parser(
        'difficulty',
        help='success by cyclomatic complexity and by length of the code of a task',
        example='coevo report difficulty snapshots/2026-06 results',
    )
    add_snapshot_argument(difficulty)
    difficulty.add_argument(
        'folder', type=Path, metavar='RESULTS', help='the --out of a `coevo evaluate` on it'
    )
    difficulty.set_defaults(run=require_extra(_print_difficulty))


def _print_difficulty(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console
    from coevo.evaluation.reporting.difficulty import print_difficulty, report_difficulty
    from coevo.evaluation.results import find_results_folder

    report = report_difficulty(arguments.snapshot, find_results_folder(arguments.folder))
    print_difficulty(report, open_console())
    return 0


_SPLIT = Setting(
    name='split',
    kind=str,
    example='80/10/10',
    help='shares of the repositories for training, validation and test (80/10/10 without it)',
)
_SEED = Setting(
    name='seed', kind=int, example=0, help='seed that assigns repositories to splits (0 without it)'
)


def _add_identification(kinds: argparse._SubParsersAction[Parser]) -> None:
    study = kinds.add_parser(
        'identification',
        help='count and export the label sets of test-update identification',
        example='coevo report identification snapshots/2026-06 --only-after 2025-06 --export labels',
    )
    add_snapshot_argument(study)
    add_cutoff_options(study)
    study.add_argument(
        '--only-walk',
        dest='walk',
        choices=('parents', 'first-parent', 'states', 'window'),
        help='the walk whose pairs are counted (default: parents)',
    )
    study.add_argument('--export', type=Path, metavar='DIR', help='folder for both label sets')
    study.add_argument(
        '--format',
        choices=('parquet', 'csv'),
        help='format of the exported files (default: parquet)',
    )
    study.add_settings(_SPLIT, _SEED)
    study.set_defaults(run=_study_identification)


def _study_identification(arguments: argparse.Namespace) -> int:
    from coevo.model.words import Walk
    from coevo.snapshots.identification import (
        IdentificationStudy,
        parse_split,
        print_and_export_identification,
    )

    refuse_options_without(arguments, '--export', '--format', 'split', 'seed')
    study = IdentificationStudy(
        cutoff=parse_cutoff(arguments),
        walk=Walk(arguments.walk or Walk.PARENTS),
        export=arguments.export,
        format=arguments.format or 'parquet',
        split=parse_split(arguments.split or '80/10/10'),
        seed=arguments.seed or 0,
    )
    print_and_export_identification(arguments.snapshot, study)
    return 0
