"""The verb `coevo pipeline publish`: copy an existing snapshot to another place."""

from __future__ import annotations

import argparse
import sys

from coevo.display.terminal import hide_credentials
from coevo.model.errors import DamagedSnapshot
from coevo.options.parser import PIPELINE_STEPS, Parser, add_snapshot_argument
from coevo.storage.place import parse_root


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `publish` with its options to the parsers of `coevo pipeline`."""
    verb = verbs.add_parser(
        'publish',
        help=PIPELINE_STEPS['publish'],
        example='coevo pipeline publish snapshots/2026-06 s3://my-bucket/2026-06',
    )
    add_snapshot_argument(verb)
    verb.add_argument('target', type=parse_root, metavar='DIR|URL', help='a folder, or s3://…')
    verb.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    """Publish a copy of a snapshot, update the catalogue beside it, and return the exit status.

    The status is 1 if the snapshot does not verify; nothing is published then.
    """
    from packagers import publishing
    from packagers.publishing import publish_copy

    try:
        written = publish_copy(arguments.snapshot, arguments.target)
    except DamagedSnapshot as error:
        print(f'coevo: {error}', file=sys.stderr)
        return 1
    done = 'published' if written else 'already there, with the same bytes'
    print(f'{hide_credentials(str(arguments.target))}: {done}')
    catalogue_root = publishing.find_catalogue_root(arguments.target)
    if catalogue_root is not None:
        print(
            f'catalogue: {hide_credentials(publishing.rebuild_catalogue_and_get_address(catalogue_root))}'
        )
        for name in publishing.list_private_releases(catalogue_root):
            print(f'{name} is private and stays out of the catalogue')
    return 0
