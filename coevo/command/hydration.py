"""The verb `coevo hydrate`, which restores the full release from a code-free edition."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.options.parser import Parser, add_snapshot


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb to the command's parser."""
    verb = verbs.add_parser(
        'hydrate',
        help='fill the texts of a code-free edition from public clones',
        description='Writes the release that a code-free edition is of: the texts that it leaves out are '
        'cut out of files in Git, and every file has the SHA-256 of the release, or nothing is written. '
        'Status 1 if some text cannot be had, with the repository and the reason.',
        example='coevo hydrate code-free/2026-05 --out whole/2026-05',
    )
    add_snapshot(verb)
    verb.add_argument(
        '--out', type=Path, required=True, metavar='DIR', help='a folder that is not there yet'
    )
    verb.add_argument(
        '--clones',
        type=Path,
        metavar='DIR',
        help='clones of your own, as OWNER/NAME, OWNER/NAME.git or OWNER+NAME.git in it',
    )
    verb.add_argument(
        '--store',
        type=Path,
        metavar='DIR',
        help='a store whose clones are used; what neither has is fetched from its address',
    )
    verb.set_defaults(run=_hydrate_edition)


def _hydrate_edition(arguments: argparse.Namespace) -> int:
    from coevo.snapshots.code_free.blobs import CloneLocations
    from coevo.snapshots.code_free.hydration import hydrate_edition

    for option, folder in (('--clones', arguments.clones), ('--store', arguments.store)):
        if folder is not None and not folder.is_dir():
            raise Fatal(f'{folder} is no folder; {option} names one with clones')
    clones = CloneLocations(folder=arguments.clones, store=arguments.store)
    try:
        result = hydrate_edition(arguments.snapshot, arguments.out, clones)
    except DamagedSnapshot as error:
        print(f'coevo: {error}', file=sys.stderr)
        return 1
    for sentence in result.sentences:
        print(sentence, file=sys.stdout if result.is_whole else sys.stderr)
    return 0 if result.is_whole else 1
