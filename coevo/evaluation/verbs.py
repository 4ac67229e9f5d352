"""The verbs that read results of evaluations: `coevo compare`, `coevo regrade`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coevo.cli import Parser


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    compare = verbs.add_parser('compare', help='set two evaluations of the same tasks side by side')
    compare.add_argument('first', type=Path, metavar='A', help='the --out of a `coevo evaluate`')
    compare.add_argument('second', type=Path, metavar='B', help='another one')
    compare.add_argument('--format', choices=('table', 'json'), default='table')
    compare.set_defaults(run=_compare)
    regrade = verbs.add_parser('regrade', help='report on stored results again, running nothing')
    regrade.add_argument('folder', type=Path, metavar='DIR', help='the --out of a `coevo evaluate`')
    regrade.set_defaults(run=_regrade)


def _compare(arguments: argparse.Namespace) -> int:
    from coevo.evaluation import cells
    from coevo.evaluation import comparison_tables
    from coevo.evaluation.comparison import compare_folders

    found = compare_folders(arguments.first, arguments.second)
    if arguments.format == 'json':
        sys.stdout.write(comparison_tables.encode(found).decode())
    else:
        comparison_tables.show(found, cells.open_console())
    return 0


def _regrade(arguments: argparse.Namespace) -> int:
    from coevo.evaluation import cells
    from coevo.evaluation import tables
    from coevo.evaluation.regrading import regrade

    tables.show(regrade(arguments.folder), cells.open_console())
    return 0
