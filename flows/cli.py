"""The pipeline's verbs of the `coevo` command: mine and release; others have modules of their own."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from datetime import UTC
from datetime import datetime
from datetime import timedelta
from pathlib import Path

from coevo.cli import PIPELINE_VERBS
from coevo.cli import Parser
from coevo.errors import Fatal
from coevo.place import on_disk
from coevo.place import root_of
from coevo.records import Walk
from flows.verbs import crawl as crawl_verb
from flows.verbs import reverify as reverify_verb
from flows.verbs import site as site_verb
from flows.verbs import validate as validate_verb

SANDBOXES = ('bubblewrap', 'docker', 'none')


def add_verbs(verbs: argparse._SubParsersAction[Parser]) -> None:
    mine = verbs.add_parser('mine', help=PIPELINE_VERBS['mine'])
    mine.add_argument('repository', help='a path, a URL, or owner/name on GitHub')
    mine.add_argument('--profile', default='default', metavar='NAME')
    mine.add_argument('--store', type=root_of, default=Path('store'), metavar='DIR|URL')
    mine.add_argument('--name', metavar='OWNER/NAME', help='the key of the repository in the data')
    mine.add_argument('--ref', help='where the walk starts (default: the default branch)')
    mine.add_argument('--commits', metavar='N|all', help='how many commits to visit (300)')
    mine.add_argument('--since', metavar='DATE', help='no commits older than this')
    mine.add_argument('--until', metavar='DATE', help='no commits newer than this')
    mine.add_argument('--walk', choices=[str(one) for one in Walk])
    mine.add_argument(
        '--measure',
        type=_seconds,
        metavar='SECONDS',
        help='CPU seconds that mutants and reversals of a pair may use; 0 makes none',
    )
    mine.add_argument('--jobs', type=_positive, default=os.cpu_count() or 1, metavar='N')
    mine.add_argument('--sandbox', choices=SANDBOXES, default='bubblewrap')
    mine.add_argument(
        '--cache',
        type=Path,
        metavar='DIR',
        help='where tools, libraries and verdicts that can be used again lie',
    )
    mine.add_argument(
        '--local',
        type=Path,
        metavar='DIR',
        help='where clones and caches lie (default: in the store; with a URL, in the tool cache)',
    )
    mine.set_defaults(run=_mine)
    release = verbs.add_parser('release', help=PIPELINE_VERBS['release'])
    release.add_argument('--store', type=root_of, default=Path('store'), metavar='DIR|URL')
    release.add_argument('--snapshot', type=root_of, required=True, metavar='DIR|URL')
    release.add_argument('--month', metavar='YYYY-MM')
    release.add_argument('--previous', type=root_of, metavar='SNAPSHOT')
    release.add_argument(
        '--accept-licence',
        action='append',
        default=[],
        metavar='SPDX',
        help='a licence that will do though the OSI has not approved it; may be given often',
    )
    release.add_argument(
        '--local',
        type=Path,
        metavar='DIR',
        help='where clones and caches lie (default: in the store; with a URL, in the tool cache)',
    )
    release.set_defaults(run=_release)
    crawl_verb.add(verbs)
    validate_verb.add(verbs)
    site_verb.add(verbs)
    reverify_verb.add(verbs)


def _mine(arguments: argparse.Namespace) -> int:
    from coevo import profiles
    from coevo.console import open_console
    from coevo.console import showing
    from coevo.store import Store
    from flows.console import print_report
    from flows.funnel import funnel
    from flows.options import MineOptions
    from flows.pipeline import mine

    profile = profiles.load_profile(arguments.profile)
    if arguments.measure is not None:
        profile = replace(profile, measure_cpu_seconds=arguments.measure)
    commits = _commits(arguments.commits) if arguments.commits else profile.commits
    options = MineOptions(
        source=arguments.repository,
        store=arguments.store,
        profile=profile,
        name=arguments.name,
        ref=arguments.ref,
        commits=commits,
        since=_day(arguments.since, end=False),
        until=_day(arguments.until, end=True),
        walk=Walk(arguments.walk or profile.walk),
        jobs=arguments.jobs,
        sandbox=arguments.sandbox,
        cache=arguments.cache,
        local=arguments.local or on_disk(arguments.store),  # which is not where --cache says
    )
    if arguments.cache:
        os.environ['COEVO_CACHE'] = str(arguments.cache.absolute())
    console = open_console()
    with showing(console) as listener:
        report = mine(options, listener)
    store = Store(arguments.store)
    segments = tuple(store.segments(report.partition))
    walked = store.walk(report.partition)
    print_report(console, report, tuple(funnel(walked.drops, segments)), segments)
    return 1 if report.failures else 0


def _release(arguments: argparse.Namespace) -> int:
    from coevo.console import open_console
    from flows.options import ReleaseOptions
    from flows.publication import publish

    options = ReleaseOptions(
        store=arguments.store,
        snapshot=arguments.snapshot,
        month=arguments.month,
        previous=arguments.previous,
        accepted=tuple(sorted(set(arguments.accept_licence))),
        local=arguments.local,
    )
    report = publish(options)
    open_console().print(report.sentence)
    return 0


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'{text!r} is not a number from 1 on')
    return int(text)


def _seconds(text: str) -> float:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'{text!r} is not a number of seconds')
    return float(text)


def _commits(text: str) -> int | None:
    if text == 'all':
        return None
    if not text.isdecimal() or int(text) < 1:
        raise Fatal(f'--commits takes a number from 1 on, or `all`, not {text!r}')
    return int(text)


def _day(text: str | None, *, end: bool) -> datetime | None:
    """A date or time in UTC; a bare date is its first moment, or its last one where `end`."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise Fatal(f'{text!r} is not a date; write it as 2026-01-31') from None
    found = found.replace(tzinfo=found.tzinfo or UTC)
    if end and len(text) == len('2026-01-31'):
        found += timedelta(days=1) - timedelta(microseconds=1)
    return found
