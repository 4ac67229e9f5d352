"""The verb `coevo get`, which brings a month here, and the texts that an edition omits."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.listener import Listener
from coevo.options.parser import Parser, add_snapshot


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `get` to the command's parser."""
    verb = verbs.add_parser(
        'get',
        help='get a month: copy a snapshot and fill in source texts that it lacks',
        description='Copies the snapshot of a month to this machine. If it is a code-free edition, coevo '
        'takes the missing source texts from the public Git repositories, and says which '
        'texts it could not get and why. Run it again to continue a folder that is filled in '
        'part. Once all texts are there, every file has the SHA-256 of the release. Exit '
        'status 1 if a text is still missing.',
        example='coevo get 2026-06',
    )
    add_snapshot(verb)
    verb.add_argument(
        '--out',
        type=Path,
        metavar='DIR',
        help='a new folder, or one that an earlier run filled in part (default: the folder `whole` '
        'beside the edition, or snapshots/MONTH)',
    )
    verb.add_argument(
        '--only-repository',
        dest='repository',
        action='append',
        default=[],
        metavar='OWNER/NAME',
        help='fill in only the texts of this repository; can be repeated',
    )
    verb.add_argument(
        '--only-task',
        dest='task',
        action='append',
        default=[],
        metavar='ID',
        help='fill in only the texts of this task; can be repeated',
    )
    verb.add_argument(
        '--clones',
        type=Path,
        metavar='DIR',
        help='a folder with your own clones, named OWNER/NAME, OWNER/NAME.git or OWNER+NAME.git',
    )
    verb.add_argument(
        '--store',
        type=Path,
        metavar='DIR',
        help='a store whose clones are used; other repositories are fetched from their addresses',
    )
    verb.set_defaults(run=_get_snapshot)


def _get_snapshot(arguments: argparse.Namespace) -> int:
    from coevo.snapshots.catalogue import resolve_location
    from coevo.snapshots.copying import choose_target, copy_snapshot
    from coevo.snapshots.locations import SnapshotFolder
    from coevo.snapshots.manifests import has_withheld_texts, load_manifest_at

    for option, folder in (('--clones', arguments.clones), ('--store', arguments.store)):
        if folder is not None and not folder.is_dir():
            raise Fatal(f'{folder} is not a folder; give {option} a folder with clones')
    location = resolve_location(arguments.snapshot)
    if has_withheld_texts(load_manifest_at(location)):
        return _fill_edition(arguments, arguments.out or choose_target(arguments.snapshot))
    if arguments.clones or arguments.store or arguments.repository or arguments.task:
        raise Fatal(
            f'{location.shown} already has all of its texts; leave out all options but --out'
        )
    if arguments.out is None and isinstance(location, SnapshotFolder):
        print(f'{location.shown} is complete: it has all of its texts')
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
