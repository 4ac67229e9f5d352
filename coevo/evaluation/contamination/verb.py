"""`coevo report contamination SNAPSHOT RESULTS`."""

from __future__ import annotations

import argparse
import dataclasses
import json
from datetime import timedelta
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.options.parser import Parser, add_snapshot_argument
from coevo.options.settings import Setting

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
    from coevo.evaluation.contamination.estimate import (
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
