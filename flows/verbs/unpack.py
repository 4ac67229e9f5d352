"""The verb `coevo pipeline unpack`: make a store of a pack and of clones."""

from __future__ import annotations

import argparse
from pathlib import Path

from coevo.options.parser import PIPELINE_STEPS, Parser, check_clones
from flows.verbs.arguments import add_store_option


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb `unpack` with its options to the parsers of `coevo pipeline`."""
    verb = verbs.add_parser(
        'unpack',
        help=PIPELINE_STEPS['unpack'],
        description='Add the pairs of a pack to a store, with the texts cut from clones; each segment gets the bytes '
        'that were packed. The next `coevo mine` goes on from there.',
        example='coevo pipeline unpack pack --store another --clones ~/clones',
    )
    verb.add_argument('pack', type=Path, metavar='PACK', help='what `coevo pipeline pack` wrote')
    add_store_option(verb)
    verb.add_argument(
        '--clones',
        type=Path,
        metavar='DIR',
        help='a folder with clones, as for `coevo get`; what it lacks is fetched where the address is known',
    )
    verb.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    """Run the verb; return 1 if some pairs are lacking, else 0."""
    from coevo.display.console import open_console, show_progress
    from coevo.storage.store import Store
    from packagers.store_unpacking import unpack_store

    clones = check_clones(arguments.clones)
    with show_progress(open_console()) as listener:
        report = unpack_store(arguments.pack, Store(arguments.store), clones, listener)
    for sentence in report.sentences:
        print(sentence)
    return 1 if report.lacking else 0
