"""The verb `coevo pipeline pack`: write a store without the code of the mined projects."""

from __future__ import annotations

import argparse
from pathlib import Path

from coevo.options.parser import PIPELINE_STEPS, Parser
from flows.verbs.arguments import add_store_option


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `pack` with its options to the parsers of `coevo pipeline`."""
    verb = verbs.add_parser(
        'pack',
        help=PIPELINE_STEPS['pack'],
        description='Write the current segments and measures of a store, without code: the texts of the mined '
        'projects become slices of files of their repositories. `coevo pipeline unpack` makes the store again.',
        example='coevo pipeline pack --store store --out pack',
    )
    add_store_option(verb)
    verb.add_argument(
        '--out',
        type=Path,
        required=True,
        metavar='DIR',
        help='where the pack is written; an earlier pack there is replaced as a whole',
    )
    verb.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from coevo.display.console import open_console, show_progress
    from coevo.storage.place import find_local_folder
    from coevo.storage.store import Store
    from flows.clones import ReleaseClones
    from packagers.packed_store import pack_store

    store = Store(arguments.store)
    with (
        show_progress(open_console()) as listener,
        ReleaseClones(find_local_folder(arguments.store), store) as clones,
    ):
        report = pack_store(store, arguments.out, clones.get_repository, listener)
    print(report.sentence)
    return 0
