"""The verb `coevo mine`: mine one repository under one walk into segments of the store."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from coevo.model.errors import Fatal
from coevo.model.families import SINGLE_REVISION_FAMILIES
from coevo.model.words import Walk
from coevo.options.parser import PIPELINE_VERBS, Parser, add_jobs_option, add_sandbox_option
from coevo.options.settings import Setting
from coevo.storage.place import find_local_folder
from flows.months import parse_day
from flows.verbs.arguments import LOCAL, add_store_option

if TYPE_CHECKING:
    from coevo.model.profiles import Profile
    from flows.options import MineOptions


BY_TASKS = 'by-tasks'


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `mine` with its options to the parsers of `coevo`."""
    verb = verbs.add_parser(
        'mine',
        help=PIPELINE_VERBS['mine'],
        description='Mine one repository into the store. What the store has is not run again.',
        example='coevo mine apache/commons-csv --commits 100',
    )
    verb.add_argument('repository', help='a path, a URL, or owner/name on GitHub')
    _add_profile_and_store(verb)
    _add_history_options(verb)
    _add_run_options(verb)
    verb.set_defaults(run=_mine)


def _add_profile_and_store(verb: Parser) -> None:
    from coevo.model import profiles

    known = '; '.join(
        f'`{profile.name}`, {profile.about}' for profile in profiles.load_profiles().values()
    )
    verb.add_argument(
        '--profile', default='default', metavar='NAME', help=f'what is run, and how far: {known}'
    )
    add_store_option(verb)
    verb.add_argument(
        '--private',
        action='store_true',
        help='for yourself alone: a release of this store holds all rows, whatever the licence, and is '
        'refused by publish, submit and the catalogue',
    )
    verb.add_argument(
        '--name',
        metavar='OWNER/NAME',
        help='the key of the repository in the data (default: by its source)',
    )


def _add_history_options(verb: Parser) -> None:
    verb.add_argument(
        '--ref',
        help='the branch or revision where the walk starts (default: the default branch, or the latest '
        'release if the profile asks for it)',
    )
    verb.add_argument(
        '--commits',
        metavar='N|all|by-tasks',
        help='how many commits to visit (default: 300); by-tasks: ever more while their tasks are cheap, and '
        'no more once 60 CPU seconds gave none',
    )
    verb.add_argument('--since', metavar='DATE', help='no commits older than this')
    verb.add_argument('--until', metavar='DATE', help='no commits newer than this')
    verb.add_argument(
        '--reached',
        metavar='DATE',
        help='of a copy: until when it has all commits (its newest one); a release of a month asks',
    )
    verb.add_argument(
        '--walk',
        choices=[str(walk) for walk in Walk],
        help='which commits make a pair (default: as the profile says)',
    )
    verb.add_argument(
        '--family',
        metavar='NAME,…',
        help='instead of changes: test files as they stand at the head and the latest release '
        '(the walk `single_revision`), for tasks of '
        + ' and '.join(f'`{family}`' for family in SINGLE_REVISION_FAMILIES)
        + '; families that were asked for before stay',
    )


def _add_run_options(verb: Parser) -> None:
    verb.add_argument(
        '--dry',
        action='store_true',
        help='print which pairs and how many tests would be run, and run nothing; only the clone is written',
    )
    verb.add_argument(
        '--no-measure',
        action='store_true',
        help='label only: mutants and undone changes of tasks wait for `coevo pipeline measure`, and '
        'without them no strict score can be given',
    )
    add_jobs_option(verb)
    add_sandbox_option(verb)
    verb.add_argument(
        '--again',
        action='store_true',
        help='execute the pairs of this walk once more, past what is known; what came out before counts '
        'until then, and a month that was released stays as it is',
    )
    verb.add_settings(*_SETTINGS)


_SETTINGS = (
    Setting(
        name='measure_runs',
        kind=int,
        example=100,
        least=0,
        help='most runs of tests with mutants and reversals of a pair; 0 makes none (without it as the '
        'profile says)',
    ),
    Setting(
        name='all_cells',
        kind=bool,
        example=True,
        help='true: run new tests on old code where no label asks for it, too (without it as the profile says)',
    ),
    Setting(
        name='bring_runtimes',
        kind=bool,
        default=True,
        help='whether JDKs and interpreters that this machine lacks are brought once a pair is to be built with '
        'one, as `coevo doctor --install` does; false: mine with those that are here',
    ),
    Setting(
        name='keep_stale',
        kind=bool,
        default=False,
        help='leave pairs as they are that another version of coevo, other thresholds or other tools mined; '
        'without it they are mined again',
    ),
    Setting(
        name='recompare',
        kind=bool,
        default=False,
        help='with keep_stale: compare the pairs that would stay, without running them, and mine those again of '
        'which this version of coevo runs other tests',
    ),
    Setting(
        name='most_tests',
        kind=int,
        example=50,
        least=1,
        help='leave pairs with more tests to run for a later call without this setting: a pair that changes '
        'hundreds of tests by rote can take hours (without it all pairs are mined)',
    ),
    Setting(
        name='retry_bugs',
        kind=bool,
        default=False,
        help='try again the pairs that this very build of coevo could not mine',
    ),
    Setting(
        name='cache',
        kind=Path,
        example='cache',
        help='where tools, libraries and verdicts that can be used again lie (without it in the tool cache, and the '
        'store)',
    ),
    LOCAL,
)


def _mine(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console, show_progress
    from coevo.display.terminal import hide_credentials
    from coevo.storage.store import Store
    from flows.console import describe_next_step, print_report
    from flows.funnel import build_funnel
    from flows.pipeline import mine

    options = _make_options(arguments)
    if arguments.dry:
        return _print_plans(options)
    if arguments.cache:
        os.environ['COEVO_CACHE'] = str(arguments.cache.absolute())
    console = open_console()
    with show_progress(console) as listener:
        report = mine(options, listener)
    store = Store(arguments.store)
    segments = tuple(
        segment for each in report.partitions for segment in store.load_current_segments(each)
    )
    drops = [drop for each in report.partitions for drop in store.load_walk(each).drops]
    print_report(console, report, tuple(build_funnel(drops, segments)), segments)
    shown = hide_credentials(str(arguments.store))
    console.print(
        describe_next_step(report, shown, segments),
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    unfinished = report.measures.waiting or report.measures.bugs
    return 1 if report.failures or report.bugs or report.unmined or unfinished else 0


def _make_options(arguments: argparse.Namespace) -> MineOptions:
    from flows.options import MineOptions, choose_walk, parse_families

    profile = _load_changed_profile(arguments)
    families = parse_families(arguments.family.split(',') if arguments.family is not None else ())
    walk = choose_walk(arguments.walk, families, profile)
    if walk is Walk.SINGLE_REVISION:
        _refuse_history_options(arguments)
    by_tasks = arguments.commits == BY_TASKS
    if by_tasks and arguments.dry:
        raise Fatal(
            '--dry runs nothing, so that no task can say how far to go: give --commits a number'
        )
    commit_option = None if by_tasks else arguments.commits
    return MineOptions(
        source=arguments.repository,
        store=arguments.store,
        profile=profile,
        name=arguments.name,
        ref=arguments.ref,
        commits=_parse_commit_count(commit_option) if commit_option else profile.commits,
        since=parse_day(arguments.since, end=False),
        until=parse_day(arguments.until, end=True),
        reached=parse_day(arguments.reached, end=True),
        walk=walk,
        families=families,
        jobs=arguments.jobs,
        sandbox=arguments.sandbox,
        cache=arguments.cache,
        local=arguments.local
        or find_local_folder(arguments.store),  # `cache` does not move the clones
        brings_runtimes=arguments.bring_runtimes,
        keep_stale=arguments.keep_stale,
        recompare=arguments.recompare,
        retry_bugs=arguments.retry_bugs,
        most_tests=arguments.most_tests,
        again=arguments.again,
        private=arguments.private,
        measures=not arguments.no_measure,
        by_tasks=by_tasks,
    )


def _load_changed_profile(arguments: argparse.Namespace) -> Profile:
    """Return the profile with the settings that the user gave instead of its own."""
    from coevo.model import profiles

    profile = profiles.load_profile(arguments.profile)
    if arguments.measure_runs is not None:
        profile = replace(profile, measure_runs=arguments.measure_runs)
    if arguments.all_cells is not None:
        profile = replace(profile, all_cells=arguments.all_cells)
    return profile


def _print_plans(options: MineOptions) -> int:
    from coevo.display.console import open_console, show_progress
    from flows.console import print_plan
    from flows.plans import plan_mining

    console = open_console()
    with show_progress(console) as listener:
        plans = plan_mining(options, listener)
    for plan in plans:
        print_plan(console, plan)
    return 0


def _refuse_history_options(arguments: argparse.Namespace) -> None:
    """Raise Fatal for `--commits` or `--since`, which the walk `single_revision` does not use."""
    for option in ('commits', 'since'):
        if getattr(arguments, option) is not None:
            raise Fatal(
                f'--{option} has no effect on the walk single_revision, which takes the head and the latest '
                'release; leave it out, or leave out --family to mine changes'
            )


def _parse_commit_count(text: str) -> int | None:
    if text == 'all':
        return None
    if not text.isdecimal() or int(text) < 1:
        raise Fatal(f'--commits takes a number from 1 on, `all` or `by-tasks`, not {text!r}')
    return int(text)
