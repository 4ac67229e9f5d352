"""The verb `coevo pipeline reverify`: check whether labels still hold."""

from __future__ import annotations

import argparse

from coevo.options.parser import PIPELINE_STEPS, Parser, add_jobs_option, parse_positive
from flows.verbs.arguments import add_store_option


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `reverify` with its options to the parsers of `coevo pipeline`."""
    verb = verbs.add_parser(
        'reverify',
        help=PIPELINE_STEPS['reverify'],
        example='coevo pipeline reverify snapshots/2026-06 --sample 100 --seed 7',
    )
    verb.add_argument(
        'snapshot', nargs='?', help='draw of what it released (default: all of the store)'
    )
    add_store_option(verb)
    verb.add_argument(
        '--sample', type=parse_positive, default=100, metavar='N', help='how many labels'
    )
    verb.add_argument(
        '--seed',
        type=int,
        default=0,
        metavar='S',
        help='decides which are drawn; the same seed runs no label twice with the same engine, so '
        'that an interrupted run goes on: take another one to run labels once more',
    )
    verb.add_argument(
        '--only-repository',
        dest='repository',
        metavar='OWNER/NAME',
        help='draw of this one alone',
    )
    add_jobs_option(verb)
    verb.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    """Run the verb; return 1 if some labels could not be run, else 0, even if labels were lost."""
    from coevo.display.console import open_console, show_progress
    from flows.reverification import ReverifyOptions, reverify_labels

    options = ReverifyOptions(
        store=arguments.store,
        sample=arguments.sample,
        seed=arguments.seed,
        snapshot=arguments.snapshot,
        repository=arguments.repository,
        jobs=arguments.jobs,
    )
    with show_progress(open_console()) as listener:
        report = reverify_labels(options, listener)
    print(
        f'{report.drawn} of {report.population} labels drawn: {report.confirmed} hold, '
        f'{len(report.lost)} do not, {len(report.unknown)} could not be run; '
        f'{report.runs} runs, {report.cpu_seconds:.0f} CPU seconds'
        + (f'; {report.reused} were run again before by this seed' if report.reused else '')
    )
    for id_, sentence in sorted(report.lost.items()):
        print(f'{id_} is withdrawn at the next release: {sentence}')
    for id_, sentence in sorted(report.unknown.items()):
        print(f'{id_} could not be run, which says nothing of it: {sentence}')
    return 1 if report.unknown else 0
