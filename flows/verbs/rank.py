"""The verb `coevo pipeline rank`: order repositories by the pairs that would be run of them."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from coevo.model.errors import Fatal, Transient
from coevo.options.parser import PIPELINE_STEPS, Parser, parse_positive
from coevo.storage.place import find_local_folder
from flows.verbs.arguments import LOCAL, add_store_option

if TYPE_CHECKING:
    from flows.plans import MiningPlan


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `rank` with its options to the parsers of `coevo pipeline`."""
    verb = verbs.add_parser(
        'rank',
        help=PIPELINE_STEPS['rank'],
        description='Order repositories by the pairs of commits that `coevo mine` would run, for each visited '
        'commit. Commits are read and compared, and nothing is run. Status 2 or 3 if one of the '
        'repositories cannot be read; the others are ranked.',
        example='coevo pipeline rank apache/commons-csv pypa/packaging --commits 100',
    )
    verb.add_argument(
        'repositories',
        nargs='*',
        metavar='REPOSITORY',
        help='a path, a URL, or owner/name (default: the candidates of the latest crawls)',
    )
    add_store_option(verb)
    verb.add_argument(
        '--commits',
        type=parse_positive,
        default=100,
        metavar='N',
        help='how many of the newest commits to visit',
    )
    verb.add_argument('--profile', default='default', metavar='NAME', help='what would be run')
    verb.add_settings(LOCAL)
    verb.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    """Rank the repositories, print the table, and return the most severe status of one."""
    from coevo.display.console import open_console, show_progress
    from coevo.model.profiles import load_profile
    from flows.console import build_ranking_table
    from flows.eligibility import index_candidates
    from flows.options import MineOptions
    from flows.plans import plan_mining, rank_plans

    profile = load_profile(arguments.profile)
    sources = arguments.repositories or sorted(index_candidates(arguments.store))
    if not sources:
        raise Fatal(
            f'{arguments.store} knows no candidates: name repositories, or find some with '
            '`coevo pipeline crawl`'
        )
    console = open_console()
    plans: list[MiningPlan] = []
    status = 0
    for source in sources:
        options = MineOptions(
            source=source,
            store=arguments.store,
            profile=profile,
            commits=arguments.commits,
            walk=profile.walk,
            local=arguments.local or find_local_folder(arguments.store),
        )
        try:
            with show_progress(console) as listener:
                plans += plan_mining(options, listener, asks_store=False)
        except Fatal as error:
            print(f'coevo: {source}: {error}', file=sys.stderr)
            status = 2
        except Transient as error:
            print(f'coevo: {source}: {error}; run the same command again', file=sys.stderr)
            status = status or 3
    if plans:
        console.print(build_ranking_table(rank_plans(plans)))
    return status
