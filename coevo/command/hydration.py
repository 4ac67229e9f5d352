"""The verb `coevo get`, which brings a month here and restores what a code-free edition leaves out."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.options.parser import Parser, add_snapshot


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb to the command's parser."""
    verb = verbs.add_parser(
        'get',
        help='get a month: copy a snapshot, and fill the texts of a code-free edition',
        description='Writes the whole release of a month. What lies elsewhere is copied; of a code-free edition the '
        'texts that it leaves out are cut out of files in Git, and every file has the SHA-256 of the release, or '
        'nothing is written. Status 1 if some text cannot be had, with the repository and the reason.',
        example='coevo get 2026-06',
    )
    add_snapshot(verb)
    verb.add_argument(
        '--out',
        type=Path,
        metavar='DIR',
        help='a folder that is not there yet (default: beside the edition, or snapshots/MONTH)',
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
    for option, folder in (('--clones', arguments.clones), ('--store', arguments.store)):
        if folder is not None and not folder.is_dir():
            raise Fatal(f'{folder} is no folder; {option} names one with clones')
    from coevo.snapshots.catalogue import resolve_location
    from coevo.snapshots.copying import choose_target, copy_snapshot
    from coevo.snapshots.locations import SnapshotFolder
    from coevo.snapshots.manifests import is_code_free, load_manifest_at

    location = resolve_location(arguments.snapshot)
    if is_code_free(load_manifest_at(location)):
        arguments.out = arguments.out or choose_target(arguments.snapshot)
        return _hydrate_edition(arguments)
    if arguments.clones or arguments.store:
        raise Fatal(f'{location.shown} has its texts; leave out --clones and --store')
    if arguments.out is None and isinstance(location, SnapshotFolder):
        print(f'{location.shown} is here, with all of its texts')
        return 0
    out = arguments.out or choose_target(arguments.snapshot)
    copy_snapshot(arguments.snapshot, out)
    print(f'{out}: written')
    return 0


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
