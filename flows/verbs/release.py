"""The verb `coevo release`: write the content of the store as a snapshot."""

from __future__ import annotations

import argparse
import sys

from coevo.model.errors import UnsoundSnapshot
from coevo.model.families import RELEASED_FAMILIES
from coevo.options.parser import PIPELINE_VERBS, Parser, add_jobs_option, to_unicode
from coevo.storage.place import parse_root
from flows.months import parse_day
from flows.verbs.arguments import LOCAL, add_store_option


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `release` with its options to the parsers of `coevo`."""
    verb = verbs.add_parser(
        'release',
        help=PIPELINE_VERBS['release'],
        example='coevo release --snapshot snapshots/2026-06 --month 2026-06',
    )
    add_store_option(verb)
    verb.add_argument(
        '--snapshot',
        type=parse_root,
        required=True,
        metavar='DIR|URL',
        help='where it is written: a folder that is not there yet, or s3://…',
    )
    verb.add_argument(
        '--month',
        metavar='YYYY-MM',
        help='what was committed until its end, the same each time (default: all that was mined)',
    )
    verb.add_argument(
        '--incomplete',
        action='store_true',
        help='release the month though repositories are missing that crawls and validations knew as due '
        'at its end; it names them, and the status is 1',
    )
    verb.add_argument(
        '--reached',
        metavar='DATE',
        help='until when copies have all commits, where `coevo mine --reached` did not say',
    )
    verb.add_argument(
        '--previous',
        type=parse_root,
        metavar='SNAPSHOT',
        help='an earlier one: what it had and this one lacks is told as withdrawn',
    )
    _add_url_and_licence_options(verb)
    _add_family_and_edition_options(verb)
    add_jobs_option(verb)
    verb.add_settings(LOCAL)
    verb.set_defaults(run=_release)


def _add_url_and_licence_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        '--url',
        action='append',
        default=[],
        type=to_unicode,
        metavar='[REPO=]URL',
        help='where a repository that was mined from a folder can be cloned; may be given often',
    )
    verb.add_argument(
        '--accept-licence',
        action='append',
        default=[],
        metavar='SPDX',
        help='a licence that will do though the OSI has not approved it; may be given often',
    )


def _add_family_and_edition_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        '--family',
        metavar='NAMES',
        help='also tasks that are made of labels: `maintenance`, whole test files of a change, and '
        '`implement`, the code of a change; separated by commas',
    )
    verb.add_argument(
        '--untested',
        action='store_true',
        help='also tasks of functions that no test executes, of repositories that were mined with the '
        'family `function`; they have no gold',
    )
    verb.add_argument(
        '--code-free',
        type=parse_root,
        metavar='DIR|URL',
        help='also its edition without any code of others, which `coevo get` fills from clones',
    )
    verb.add_argument(
        '--withhold-gold',
        type=parse_root,
        metavar='DIR|URL',
        help="also its edition without the developers' answers, to be read, prompted and run; answers "
        'are graded at the snapshot itself',
    )


def _release(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console, show_progress
    from flows.console import build_news_table
    from flows.licence import check_accepted_licences
    from flows.options import ReleaseOptions, parse_families
    from flows.publication import parse_urls, publish_release, write_editions

    families = arguments.family.split(',') if arguments.family is not None else ()
    options = ReleaseOptions(
        store=arguments.store,
        snapshot=arguments.snapshot,
        month=arguments.month,
        reached=parse_day(arguments.reached, end=True),
        previous=arguments.previous,
        accepted=check_accepted_licences(arguments.accept_licence),
        local=arguments.local,
        jobs=arguments.jobs,
        urls=parse_urls(arguments.url),
        families=parse_families(families, RELEASED_FAMILIES),
        untested=arguments.untested,
        code_free=arguments.code_free,
        withhold_gold=arguments.withhold_gold,
        incomplete=arguments.incomplete,
    )
    console = open_console()
    try:
        with show_progress(console) as listener:
            report = publish_release(options, listener)
        editions = write_editions(options)
    except UnsoundSnapshot as error:
        print(f'coevo: {error}', file=sys.stderr)
        return 1
    for sentence in (report.sentence, *editions):
        console.print(sentence, highlight=False)
    if report.news:
        console.print(build_news_table(report.news))
    return 0 if report.is_complete else 1
