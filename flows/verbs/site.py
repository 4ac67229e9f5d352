"""The verb `coevo pipeline site`: write a static site over one or several snapshots."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from coevo.options.parser import PIPELINE_STEPS, Parser


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `site` with its options to the parsers of `coevo pipeline`."""
    site = verbs.add_parser(
        'site',
        help=PIPELINE_STEPS['site'],
        example='coevo pipeline site snapshots/2026-06 --results results --out site',
    )
    site.add_argument(
        'snapshots',
        nargs='+',
        metavar='SNAPSHOT',
        help='the months of one site: each a month of this folder, such as 2026-07, the word `latest`, or a folder',
    )
    site.add_argument(
        '--out', type=Path, required=True, metavar='DIR', help='where the site is written'
    )
    site.add_argument(
        '--results',
        nargs='+',
        action='extend',
        type=Path,
        default=[],
        metavar='DIR',
        help='evaluations of these snapshots (`coevo evaluate --out DIR`), for the leaderboard',
    )
    for name in ('repository', 'manual'):
        site.add_argument(
            f'--{name}', metavar='URL', help=f'the https:// address of the {name}, to link to'
        )
    site.set_defaults(run=_write_site)


def _write_site(arguments: argparse.Namespace) -> int:
    from packagers.site.folder import write_site

    links = {'repository': arguments.repository, 'manual': arguments.manual}
    out = write_site(
        arguments.snapshots,
        arguments.out,
        _print_message,
        arguments.results,
        {name: address for name, address in links.items() if address},
    )
    folder = shlex.quote(str(out))
    print(f'{out}: written; look at it with: python3 -m http.server --directory {folder} 8000')
    return 0


def _print_message(text: str) -> None:
    print(f'coevo: {text}', file=sys.stderr)
