"""The verb `coevo get`, which brings a month here, and the texts that an edition omits."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.listener import Listener
from coevo.options.parser import Parser, add_clones_option, add_snapshot_argument, check_clones


def add_get_verb(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `get` to the command's parser."""
    verb = verbs.add_parser(
        'get',
        help='get a month: copy a snapshot and fill in source texts that it lacks',
        description='Copies the snapshot of a month to this machine. If it is a code-free edition, coevo '
        'takes the missing source texts from the public Git repositories, and says which '
        'texts it could not get and why. Run it again to continue a folder that is filled in '
        'part. Once all texts are there, every file has the SHA-256 of the release. Exit '
        'status 1 if a text is still missing.',
        example='coevo get 2026-07',
    )
    add_snapshot_argument(verb)
    verb.add_argument(
        '--out',
        type=Path,
        metavar='DIR',
        help='a new folder, or one that an earlier run filled in part (default: the folder `whole` '
        'beside the edition, or snapshots/MONTH)',
    )
    verb.add_argument(
        '--only-repositories',
        '--only-repository',
        dest='repositories',
        nargs='+',
        action='extend',
        default=[],
        metavar='OWNER/NAME',
        help='fill in only the texts of these repositories',
    )
    verb.add_argument(
        '--only-tasks',
        '--only-task',
        dest='tasks',
        nargs='+',
        action='extend',
        default=[],
        metavar='ID',
        help='fill in only the texts of these tasks; @FILE names a file with one id on each line',
    )
    add_clones_option(verb)
    verb.set_defaults(run=_copy_or_fill_snapshot)


def _copy_or_fill_snapshot(arguments: argparse.Namespace) -> int:
    from coevo.snapshots.catalogue import resolve_location
    from coevo.snapshots.copying import choose_download_folder, copy_and_verify_snapshot
    from coevo.snapshots.locations import SnapshotFolder
    from coevo.snapshots.manifests import (
        has_withheld_texts,
        load_manifest_at,
        refuse_without_gold,
    )

    check_clones(arguments.clones)
    location = resolve_location(arguments.snapshot)
    refuse_without_gold(location, 'nothing fills them in')
    if has_withheld_texts(load_manifest_at(location)):
        return _fill_edition(arguments, arguments.out or choose_download_folder(arguments.snapshot))
    if arguments.clones or arguments.repositories or arguments.tasks:
        raise Fatal(
            f'{location.shown} already has all of its texts; leave out all options but --out'
        )
    if arguments.out is None and isinstance(location, SnapshotFolder):
        print(f'{location.shown} is complete: it has all of its texts')
        return 0
    out = arguments.out or choose_download_folder(arguments.snapshot)
    copy_and_verify_snapshot(arguments.snapshot, out)
    print(f'{out}: written')
    return 0


def _fill_edition(arguments: argparse.Namespace, out: Path) -> int:
    from coevo.evaluation.verbs import parse_task_ids
    from coevo.snapshots.code_free.filling import FillSelection, fill_edition

    selection = FillSelection(
        repositories=tuple(arguments.repositories),
        tasks=tuple(sorted(parse_task_ids(arguments.tasks) or ())),
    )
    try:
        report = fill_edition(
            arguments.snapshot, out, arguments.clones, selection, Listener(step=_print_step)
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
