"""The verb `coevo pipeline status`: show the content of a store, and the next steps."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from coevo.options.parser import PIPELINE_STEPS, Parser, parse_positive
from flows.repository_states import RepositoryState
from flows.verbs.arguments import add_store_option

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from coevo.storage.store import Store
    from flows.status import RepositoryStatus, StoreOverview


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `status` with its options to the parsers of `coevo pipeline`."""
    verb = verbs.add_parser(
        'status',
        help=PIPELINE_STEPS['status'],
        example='coevo pipeline status apache/commons-csv',
    )
    verb.add_argument('repository', nargs='?', metavar='OWNER/NAME', help='all of one')
    which = verb.add_mutually_exclusive_group()
    which.add_argument(
        '--state',
        choices=list(map(str, RepositoryState)),
        help='the names of all repositories in one state, a line for each',
    )
    which.add_argument(
        '--month',
        metavar='YYYY-MM',
        help='what a release of the month lacks; status 1 if it lacks something',
    )
    verb.add_argument(
        '--rows',
        type=parse_positive,
        default=50,
        metavar='N',
        help='the most lines of the table (default: 50)',
    )
    add_store_option(verb)
    verb.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console
    from coevo.storage.store import Store
    from flows.status import survey_store

    store = Store(arguments.store)
    console = open_console()
    if arguments.month is not None:
        return _print_month_completeness(console, store, arguments.month)
    overview = survey_store(store)
    if arguments.repository is not None:
        _print_repository(console, store, overview, arguments.repository)
    elif arguments.state is not None:
        for repo in overview.list_repositories(RepositoryState(arguments.state)):
            _print_sentence(console, repo)
    else:
        _print_store(console, store, overview, arguments.rows)
    return 0


def _print_store(console: Console, store: Store, overview: StoreOverview, rows: int) -> None:
    from coevo.storage import months, withdrawals
    from flows.status import describe_stale_pairs, summarise_repositories

    for state, count in overview.count_states().items():
        _print_sentence(console, f'{count:>7} {state:<10} {state.sentence}')
    shown = list(overview.states)[:rows]
    repositories = summarise_repositories(store, shown)
    console.print(_build_table(overview, repositories))
    for sentence in describe_stale_pairs(repositories):
        _print_sentence(console, sentence)
    if len(shown) < len(overview.states):
        _print_sentence(
            console,
            f'{len(overview.states) - len(shown)} more are not shown: --state names all in one state, '
            '--rows shows more',
        )
    released = months.list_months(store.storage)
    _print_sentence(console, f'months released: {", ".join(released) or "none"}')
    for taken_back in withdrawals.list_withdrawals(store.storage):
        _print_sentence(
            console, f'withdrawn: {taken_back.kind} {taken_back.id}: {taken_back.reason}'
        )


def _build_table(overview: StoreOverview, repositories: Sequence[RepositoryStatus]) -> Table:
    from rich.table import Table

    table = Table(title='Repositories', title_justify='left')
    numbers = ('pairs', 'not mined', 'stale', 'not measured')
    for heading in ('repository', 'state', 'walk', 'reached', *numbers, 'failures', 'next'):
        table.add_column(heading, justify='right' if heading in numbers else 'left')
    for repository in repositories:
        for walk in repository.walks or (None,):
            table.add_row(
                repository.repo,
                overview.states[repository.repo],
                str(walk.partition.walk) if walk else '',
                f'{walk.reached:%Y-%m-%d}' if walk and walk.reached else '',
                str(walk.pairs) if walk else '',
                str(walk.unmined) if walk else '',
                str(sum(part.count for part in walk.stale) or '') if walk else '',
                str(walk.unmeasured or '') if walk else '',
                str(len(repository.failures) or ''),
                repository.next_step,
            )
    return table


def _print_month_completeness(console: Console, store: Store, month: str) -> int:
    """Print what a month lacks; return 1 if it lacks something, else 0."""
    from coevo.storage import months
    from coevo.storage.place import find_local_folder
    from flows.clones import ReleaseClones
    from flows.cohorts import find_cohort
    from packagers.months import check_month

    check_month(month)
    fixed = months.load_month(store.storage, month)
    if fixed is not None:
        cohort = fixed.cohort
    else:
        with ReleaseClones(find_local_folder(store.root), store) as clones:
            cohort = find_cohort(store, month, clones.load_commit_date)
    when = 'was released' if fixed else 'is not released yet'
    if cohort is None:
        _print_sentence(console, f'{month} {when}, and no crawl says which repositories it needs')
        return 0
    _print_sentence(
        console,
        f'{month} {when}: {len(cohort.members)} repositories, {len(cohort.missing)} missing',
    )
    if not cohort.members:
        _print_sentence(console, cohort.missing_sentence)
    for missing in cohort.missing:
        _print_sentence(console, missing.sentence)
    for note in cohort.notes:
        _print_sentence(console, note)
    return 0 if cohort.is_complete else 1


def _print_repository(console: Console, store: Store, overview: StoreOverview, repo: str) -> None:
    """Print all that is known of a repository. Raises: Fatal if nothing is."""
    from coevo.evaluation.reporting.cells import pluralise
    from flows.console import build_funnel_table, describe_labels
    from flows.funnel import build_funnel, count_project_command_results, describe_examples
    from flows.status import state_count, summarise_repositories

    if repo not in overview.states:
        store.list_repository_partitions(repo)  # raises Fatal
    (summary,) = summarise_repositories(store, [repo])
    state = overview.states[repo]
    _print_sentence(console, f'{repo}: {state}, {state.sentence}')
    if summary.validation is not None:
        _print_sentence(console, summary.validation.sentence)
    for walk in summary.walks:
        reached = f', known until {walk.reached:%Y-%m-%d %H:%M}' if walk.reached else ''
        _print_sentence(
            console,
            f'{walk.partition.language}, {walk.partition.walk}: {walk.commits} commits down from '
            f'{walk.head[:12]}{reached}, {walk.pairs} pairs, {walk.unmined} not mined, '
            f'{walk.again} asked for once more, code {walk.engine_version}',
        )
        if walk.budget:
            _print_sentence(
                console,
                f'depth by tasks: {walk.budget.outcome} at {walk.budget.commits} commits, with '
                f'{walk.budget.tasks} tasks in {walk.budget.cpu_seconds:.0f} CPU seconds ({walk.budget.rule})',
            )
        for runtime, count in walk.lacking:
            _print_sentence(console, f'{pluralise(count, "pair")} dropped for want of {runtime}')
        if walk.unmeasured:
            _print_sentence(console, state_count(walk.unmeasured, 'task', 'not measured yet'))
        for part in walk.stale:
            _print_sentence(console, f'{state_count(part.count, "pair", "stale")}: {part.reason}')
        segments = tuple(store.load_current_segments(walk.partition))
        console.print(
            build_funnel_table(tuple(build_funnel(store.load_walk(walk.partition).drops, segments)))
        )
        for sentence in (*describe_examples(segments), *describe_labels(segments)):
            _print_sentence(console, sentence)
        umpire = count_project_command_results(segments).sentence
        if umpire:
            _print_sentence(console, umpire)
    for sentence in _describe_cost_and_failures(store, summary):
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
