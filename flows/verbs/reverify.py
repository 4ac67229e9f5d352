"""The verb `coevo reverify`: do released labels still hold?"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from coevo.cli import PIPELINE_VERBS
from coevo.cli import Parser
from coevo.place import root_of


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    verb = verbs.add_parser('reverify', help=PIPELINE_VERBS['reverify'])
    verb.add_argument('snapshot', nargs='?', help='draw of what it released (all of the store)')
    verb.add_argument('--store', type=root_of, default=Path('store'), metavar='DIR|URL')
    verb.add_argument('--sample', type=_positive, default=100, metavar='N', help='labels (100)')
    verb.add_argument('--seed', type=int, default=0, metavar='S')
    verb.add_argument('--jobs', type=_positive, default=os.cpu_count() or 1, metavar='N')
    verb.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    """0 though labels were lost, which is what was asked; 1 where some could not be run."""
    from coevo.console import open_console
    from coevo.console import showing
    from flows.reverification import ReverifyOptions
    from flows.reverification import reverify

    options = ReverifyOptions(
        store=arguments.store,
        sample=arguments.sample,
        seed=arguments.seed,
        snapshot=arguments.snapshot,
        jobs=arguments.jobs,
    )
    with showing(open_console()) as listener:
        report = reverify(options, listener)
    print(
        f'{report.drawn} of {report.population} labels drawn: {report.held} hold, '
        f'{len(report.lost)} do not, {len(report.unknown)} could not be run; '
        f'{report.runs} runs, {report.cpu_seconds:.0f} CPU seconds'
    )
    for id_, sentence in sorted(report.lost.items()):
        print(f'{id_} is withdrawn at the next release: {sentence}')
    for id_, sentence in sorted(report.unknown.items()):
        print(f'{id_} could not be run, which says nothing of it: {sentence}')
    return 1 if report.unknown else 0


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'{text!r} is not a number from 1 on')
    return int(text)
