"""The verb `coevo pipeline status`: show the content of a store, and the next steps."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from coevo.options.parser import PIPELINE_STEPS, Parser
from flows.verbs.arguments import add_store

if TYPE_CHECKING:
    from rich.console import Console

    from coevo.storage.store import Store
    from flows.status import RepositoryStatus, StoreStatus


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `status` with its options to the parsers of `coevo pipeline`."""
    verb = verbs.add_parser(
        'status',
        help=PIPELINE_STEPS['status'],
        example='coevo pipeline status apache/commons-csv',
    )
    verb.add_argument(
        'repository', nargs='?', metavar='OWNER/NAME', help='all of one (default: a line for each)'
    )
    add_store(verb)
    verb.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console
    from coevo.storage.store import Store
    from flows.status import summarise_store

    store = Store(arguments.store)
    store_status = summarise_store(store, arguments.repository)
    console = open_console()
    if arguments.repository is None:
        _print_store(console, store_status)
    else:
        (repository,) = store_status.repositories
        _print_repository(console, store, repository)
    return 0


def _print_store(console: Console, found: StoreStatus) -> None:
    from rich.table import Table

    table = Table(title='Repositories', title_justify='left')
    for heading in (
        *('repository', 'walk', 'reached', 'pairs', 'not mined', 'stale', 'failures', 'next'),
    ):
        table.add_column(
            heading, justify='right' if heading in ('pairs', 'not mined', 'stale') else 'left'
        )
    for repository in found.repositories:
        for walk in repository.walks or (None,):
            table.add_row(
                repository.repo,
                str(walk.partition.walk) if walk else '',
                f'{walk.reached:%Y-%m-%d}' if walk and walk.reached else '',
                str(walk.pairs) if walk else '',
                str(walk.unmined) if walk else '',
                str(sum(part.count for part in walk.stale) or '') if walk else '',
                str(len(repository.failures) or ''),
                repository.next_step,
            )
    console.print(table)
    _print_sentence(console, f'months released: {", ".join(found.months) or "none"}')
    for taken_back in found.withdrawals:
        _print_sentence(
            console, f'withdrawn: {taken_back.kind} {taken_back.id}: {taken_back.reason}'
        )


def _print_repository(console: Console, store: Store, one: RepositoryStatus) -> None:
    from flows.console import build_funnel_table
    from flows.funnel import build_funnel, count_labels, count_umpire

    _print_sentence(console, one.repo)
    if one.validation is not None:
        _print_sentence(console, one.validation.sentence)
    for walk in one.walks:
        reached = f', known until {walk.reached:%Y-%m-%d %H:%M}' if walk.reached else ''
        _print_sentence(
            console,
            f'{walk.partition.language}, {walk.partition.walk}: {walk.commits} commits down from '
            f'{walk.head[:12]}{reached}, {walk.pairs} pairs, {walk.unmined} not mined, '
            f'{walk.again} asked for once more, code {walk.engine_version}',
        )
        for part in walk.stale:
            _print_sentence(console, f'{part.count} pairs are stale: {part.reason}')
        segments = tuple(store.load_segments(walk.partition))
        console.print(
            build_funnel_table(tuple(build_funnel(store.load_walk(walk.partition).drops, segments)))
        )
        counted = count_labels(segments)
        if counted:
            _print_sentence(
                console, 'labels: ' + ', '.join(f'{name} {count}' for name, count in counted)
            )
        umpire = count_umpire(segments).sentence
        if umpire:
            _print_sentence(console, umpire)
    for sentence in _describe_cost_and_failures(store, one):
        _print_sentence(console, sentence)


def _describe_cost_and_failures(store: Store, one: RepositoryStatus) -> Iterator[str]:
    from flows.status import compute_repository_cost

    cost = compute_repository_cost(store, one.repo)
    if cost.seconds:
        total = sum(cpu for cpu, _ in cost.seconds.values())
        steps = sorted(cost.seconds.items(), key=lambda item: -item[1][0])
        parts = ', '.join(f'{step} {cpu:.1f}' for step, (cpu, _) in steps if cpu >= 0.05)
        yield f'CPU seconds: {total:.1f} ({parts})'
    if cost.reverified:
        yield f'run again: {cost.reverified} labels, {cost.lost} lost'
    for failure in one.failures:
        run = f', flow run {failure.run}' if failure.run else ''
        yield f'{failure.at} {failure.sentence} ({failure.name}{run})'.strip()
    yield f'next: {one.next_step}'


def _print_sentence(console: Console, sentence: str) -> None:
    console.print(sentence, markup=False, highlight=False, soft_wrap=True)
