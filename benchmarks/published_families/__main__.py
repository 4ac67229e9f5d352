"""What is measured beside what is expected.

python -m benchmarks.published_families table-one DATA        a clone of Tech871/tameval
python -m benchmarks.published_families lite DATA             of huangd1999/UnLeakedTestBench
python -m benchmarks.published_families ckmeans DATA          of YiboWANG214/ProjectTest
python -m benchmarks.published_families load DATA             the same: whether all load
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.published_families import ckmeans, lite, load, projects, table_one
from coevo.git.repository import Repository


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('check', choices=tuple(CHECKS))
    parser.add_argument('data', type=Path)
    arguments = parser.parse_args()
    data = Repository(arguments.data)
    for name, measured, expected in CHECKS[arguments.check](data):
        print(f'{name}: measured {measured}, expected {expected}')


Told = Iterator[tuple[str, object, object]]


def _table_one(data: Repository) -> Told:
    for name, values in table_one.table(list(table_one.starts(data))).items():
        yield name, values, table_one.EXPECTED[name]


def _lite(data: Repository) -> Told:
    for name, value in lite.table(lite.functions(data)).items():
        yield name, value, lite.EXPECTED.get(name, 'not said')


def _ckmeans(data: Repository) -> Told:
    for name, values in ckmeans.table(data).items():
        yield name, values, ckmeans.EXPECTED[name]


def _load(data: Repository) -> Told:
    for name, value in load.table(data).items():
        yield name, value, load.EXPECTED[name]


def _projects(data: Repository) -> Told:
    for name, value in projects.table(data).items():
        yield name, value, projects.EXPECTED[name]


CHECKS: dict[str, Callable[[Repository], Told]] = {
    'table-one': _table_one,
    'lite': _lite,
    'ckmeans': _ckmeans,
    'load': _load,
    'projects': _projects,
}


if __name__ == '__main__':
    main()
