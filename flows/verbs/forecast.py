"""The verb `coevo pipeline forecast`: forecast the cost of a month and of the backfill."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from coevo.model.errors import Fatal
from coevo.options.parser import PIPELINE_STEPS, Parser, parse_positive
from coevo.storage.place import find_local_folder
from flows.verbs.arguments import LOCAL, add_store_option

if TYPE_CHECKING:
    from flows.forecast import Forecast, ForecastCost


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `forecast` with its options to the parsers of `coevo pipeline`."""
    verb = verbs.add_parser(
        'forecast',
        help=PIPELINE_STEPS['forecast'],
        description='What a month and the backfill would cost, by what pairs cost so far in this store, '
        'by what its repositories had of new ones in their last three months, and by the candidates that '
        'proved valid.',
        example='coevo pipeline forecast --machines 4 --cores 8',
    )
    add_store_option(verb)
    verb.add_argument(
        '--machines', type=parse_positive, default=1, metavar='N', help='how many there are'
    )
    verb.add_argument(
        '--cores', type=parse_positive, default=4, metavar='N', help='of each machine'
    )
    verb.add_settings(LOCAL)
    verb.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from coevo.storage.store import Store
    from flows.forecast import Machines, forecast_costs

    machines = Machines(count=arguments.machines, cores=arguments.cores)
    folder = arguments.local or find_local_folder(arguments.store)
    costs = forecast_costs(Store(arguments.store), folder, machines)
    if costs is None:
        raise Fatal(
            f'{arguments.store} holds no pair that could tell what one costs: mine a few repositories '
            'first (coevo mine)'
        )
    for line in _format_forecast(costs, f'{machines.count} x {machines.cores} cores'):
        print(line)
    return 0


def _format_forecast(found: Forecast, machines: str) -> Iterator[str]:
    of = found.measured
    clone = f', {of.clone_bytes / 1e6:.0f} MB a clone' if of.clone_bytes is not None else ''
    yield (
        f'measured: {of.pairs} pairs of {of.repositories} repositories, {of.pair_seconds:.1f} CPU s a '
        f'pair, {of.pairs_of_one:.0f} pairs a repository, {of.new_pairs_of_one:.1f} new ones a month{clone}'
    )
    yield f'a month: {_format_cost(found.month, machines)}'
    yield f'backfill: {_format_cost(found.backfill, machines)}'


def _format_cost(cost: ForecastCost, machines: str) -> str:
    clones = f', {cost.clone_bytes / 1e9:.1f} GB of clones' if cost.clone_bytes else ''
    return (
        f'{cost.repositories} repositories, {cost.pairs:.0f} pairs, {cost.cpu_hours:.1f} CPU hours, '
        f'{cost.hours:.1f} hours on {machines}{clones}'
    )
