"""The verb `coevo pipeline measure`: measure what the gold tests of tasks are worth."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from coevo.options.parser import PIPELINE_STEPS, Parser, add_jobs_option
from flows.verbs.arguments import add_store_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flows.measure_pass import MeasureReport


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `measure` with its options to the parsers of `coevo pipeline`."""
    verb = verbs.add_parser(
        'measure',
        help=PIPELINE_STEPS['measure'],
        description='Run the mutants and undone changes of tasks that were mined and not measured yet. '
        'An interrupt loses only the pairs in progress; the next call goes on.',
        example='coevo pipeline measure --repository apache/commons-csv',
    )
    add_store_option(verb)
    verb.add_argument(
        '--repository',
        metavar='OWNER/NAME',
        help='tasks of this one alone (default: all of the store)',
    )
    verb.add_argument(
        '--runs',
        type=int,
        metavar='N',
        help='most runs of tests for one pair, half for mutants and half for undone changes; pairs that '
        'were measured with another number are measured again (default: as the profile of the pair '
        'says, and none again)',
    )
    verb.add_argument(
        '--keep-stale',
        action='store_true',
        help='leave pairs as they are that another version of coevo measured, or with another --runs',
    )
    add_jobs_option(verb)
    verb.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    """Run the verb; return 1 if some pairs wait for the next call, else 0."""
    from coevo.display.console import open_console, show_progress
    from coevo.model.errors import Fatal
    from flows.measure_pass import MeasureOptions, measure

    if arguments.runs is not None and arguments.runs < 1:
        raise Fatal(f'--runs takes a number from 1 on, not {arguments.runs}')
    options = MeasureOptions(
        store=arguments.store,
        repository=arguments.repository,
        runs=arguments.runs,
        keep_stale=arguments.keep_stale,
        jobs=arguments.jobs,
    )
    with show_progress(open_console()) as listener:
        report = measure(options, listener)
    for sentence in describe_measures(report):
        print(sentence)
    return 1 if report.waiting or report.bugs or report.busy else 0


def describe_measures(report: MeasureReport) -> Iterator[str]:
    """Yield sentences about a pass: its counts, then each thing that waits and why."""
    from coevo.evaluation.reporting.cells import pluralise

    yield (
        f'{pluralise(report.measured, "pair")} with tasks measured in {report.cpu_seconds:.0f} CPU seconds, '
        f'{report.known} need it no more, {len(report.waiting) + len(report.bugs)} wait'
    )
    yield from report.busy
    for pair_id, sentence in sorted(report.waiting.items()):
        yield f'pair {pair_id} waits: {sentence}'
    for pair_id, record in sorted(report.bugs.items()):
        yield f'pair {pair_id} met a bug of coevo, of which {record} has the traceback'
