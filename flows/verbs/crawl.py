"""The verb `coevo pipeline crawl`: search for candidates on GitHub."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from coevo.options.parser import PIPELINE_STEPS, Parser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flows.discovery import CrawlReport


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `crawl` with its options to the parsers of `coevo pipeline`."""
    from miners.discovery.candidates import load_candidate_profiles

    crawl = verbs.add_parser(
        'crawl',
        help=PIPELINE_STEPS['crawl'],
        description='Look for candidates on GitHub: what a profile asks for, each with a reason.',
        example='GITHUB_TOKENS=… coevo pipeline crawl --profile testevo',
    )
    crawl.add_argument(
        '--profile',
        default='testevo',
        metavar='NAME',
        help=f'what is asked of a repository: {", ".join(load_candidate_profiles())}, or one of --profiles',
    )
    crawl.add_argument(
        '--profiles', type=Path, metavar='FILE', help='a file with profiles beside our own'
    )
    crawl.add_argument('--store', default='store', metavar='DIR|URL', help='where crawls are kept')
    crawl.add_argument(
        '--tokens',
        type=Path,
        metavar='FILE',
        help='tokens, one a line (default: $GITHUB_TOKENS, else $GITHUB_TOKEN)',
    )
    crawl.add_argument(
        '--api',
        metavar='URL',
        help="GitHub's API (default: $COEVO_GITHUB_API, else the public one)",
    )
    crawl.set_defaults(run=_crawl)


def _crawl(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console, show_progress
    from coevo.storage.place import parse_root
    from flows.discovery import CrawlOptions, crawl
    from miners.discovery.budgets import parse_tokens
    from miners.discovery.candidates import load_candidate_profile
    from miners.discovery.github_requests import PUBLIC_API

    options = CrawlOptions(
        store=parse_root(arguments.store),
        profile=load_candidate_profile(arguments.profile, arguments.profiles),
        tokens=parse_tokens(os.environ, arguments.tokens),
        api=arguments.api or os.environ.get('COEVO_GITHUB_API') or PUBLIC_API,
    )
    console = open_console()
    with show_progress(console) as listener:
        report = crawl(options, listener)
    for line in _format_report(report):
        console.print(line, markup=False, highlight=False)
    return 0


def _format_report(report: CrawlReport) -> Iterator[str]:
    yield (
        f'{report.profile} {report.stamp}: {report.found} repositories found, {report.kept} kept, '
        f'{report.unknown} unknown, {report.seen - report.kept - report.unknown} dropped'
    )
    if not report.proven:
        yield 'the searches are not proven to be whole: see queries.parquet'
    for query in report.unsplit:
        yield f'more repositories than GitHub shows, and nothing to split by: {query}'
    kinds = Counter(event.kind for event in report.events)
    if kinds:
        yield 'events: ' + ', '.join(f'{kind} {count}' for kind, count in sorted(kinds.items()))
    requests = report.requests
    yield (
        f'requests: {requests.counted["search"]} searches, {requests.counted["graphql"]} of GraphQL '
        f'and {requests.counted["core"]} others counted, '
        f'{requests.unchanged} unchanged, {sum(requests.failed.values())} failed, '
        f'{requests.waited:.0f} s waited'
    )
    yield from report.warnings
    yield report.folder
