"""The verb `coevo hydrate`, which fills the texts of an edition."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.listener import Listener
from coevo.options.parser import Parser, add_snapshot


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb to the command's parser."""
    verb = verbs.add_parser(
        'hydrate',
        help='fill the texts that an edition omits from public clones',
        description='Cuts the texts that an edition omits out of files in Git, as many as there are, and says '
        'what kept the others away. A folder that was filled in part is filled further. With all texts '
        'every file has the SHA-256 of the release. Status 1 if some text is still missing.',
        example='coevo hydrate code-free/2026-05 --out whole/2026-05',
    )
    add_snapshot(verb)
    verb.add_argument(
        '--out',
        type=Path,
        required=True,
        metavar='DIR',
        help='a new folder, or one that an earlier call filled in part',
    )
    verb.add_argument(
        '--repository',
        action='append',
        default=[],
        metavar='OWNER/NAME',
        help='fill the texts of this repository alone; may be given often',
    )
    verb.add_argument(
        '--task',
        action='append',
        default=[],
        metavar='ID',
        help='fill the texts of this task alone; may be given often',
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
    verb.set_defaults(run=_fill_edition)


def _fill_edition(arguments: argparse.Namespace) -> int:
    from coevo.snapshots.code_free.blobs import CloneLocations
    from coevo.snapshots.code_free.filling import FillSelection, fill_edition

    for option, folder in (('--clones', arguments.clones), ('--store', arguments.store)):
        if folder is not None and not folder.is_dir():
            raise Fatal(f'{folder} is no folder; {option} names one with clones')
    selection = FillSelection(repositories=tuple(arguments.repository), tasks=tuple(arguments.task))
    clones = CloneLocations(folder=arguments.clones, store=arguments.store)
    try:
        report = fill_edition(
            arguments.snapshot, arguments.out, clones, selection, Listener(step=_print_step)
        )
    except DamagedSnapshot as error:
        print(f'coevo: {error}', file=sys.stderr)
        return 1
    for sentence in report.sentences:
        print(sentence, file=sys.stdout if report.is_complete else sys.stderr)
    return 0 if report.is_complete else 1


def _print_step(step: str, done: int, total: int) -> None:
    """Print a line of progress; the wheel alone has no library for more."""
    print(f'{done} of {total} {step}', file=sys.stderr, flush=True)
