"""The verb `coevo get`, which brings a month here, and the texts that an edition omits."""

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
        'get',
        help='get a month: copy a snapshot, and fill the texts that an edition omits',
        description='Brings a month here. What lies elsewhere is copied. Texts that an edition omits are cut out of '
        'files in Git, as many as there are, and it says what kept the others away. A folder that was filled in part '
        'is filled further. With all texts every file has the SHA-256 of the release. Status 1 if some text is still '
        'missing.',
        example='coevo get 2026-06',
    )
    add_snapshot(verb)
    verb.add_argument(
        '--out',
        type=Path,
        metavar='DIR',
        help='a new folder, or one that an earlier call filled in part (default: the folder `whole` beside the '
        'edition, or snapshots/MONTH)',
    )
    verb.add_argument(
        '--only-repository',
        dest='repository',
        action='append',
        default=[],
        metavar='OWNER/NAME',
        help='fill the texts of this repository alone; may be given often',
    )
    verb.add_argument(
        '--only-task',
        dest='task',
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
    verb.set_defaults(run=_get_snapshot)


def _get_snapshot(arguments: argparse.Namespace) -> int:
    from coevo.snapshots.catalogue import resolve_location
    from coevo.snapshots.copying import choose_target, copy_snapshot
    from coevo.snapshots.locations import SnapshotFolder
    from coevo.snapshots.manifests import has_withheld_texts, load_manifest_at

    for option, folder in (('--clones', arguments.clones), ('--store', arguments.store)):
        if folder is not None and not folder.is_dir():
            raise Fatal(f'{folder} is no folder; {option} names one with clones')
    location = resolve_location(arguments.snapshot)
    if has_withheld_texts(load_manifest_at(location)):
        return _fill_edition(arguments, arguments.out or choose_target(arguments.snapshot))
    if arguments.clones or arguments.store or arguments.repository or arguments.task:
        raise Fatal(f'{location.shown} has all of its texts; leave out all options but --out')
    if arguments.out is None and isinstance(location, SnapshotFolder):
        print(f'{location.shown} is here, with all of its texts')
        return 0
    out = arguments.out or choose_target(arguments.snapshot)
    copy_snapshot(arguments.snapshot, out)
    print(f'{out}: written')
    return 0


def _fill_edition(arguments: argparse.Namespace, out: Path) -> int:
    from coevo.snapshots.code_free.blobs import CloneLocations
    from coevo.snapshots.code_free.filling import FillSelection, fill_edition

    selection = FillSelection(repositories=tuple(arguments.repository), tasks=tuple(arguments.task))
    clones = CloneLocations(folder=arguments.clones, store=arguments.store)
    try:
        report = fill_edition(
            arguments.snapshot, out, clones, selection, Listener(step=_print_step)
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
