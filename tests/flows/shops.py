"""A repository of toys with pairs in two months, its store, and what is released of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from coevo.command.main import main
from coevo.snapshots import snapshot
from tests.languages import toys
from tests.projects import NAME, QUICKLY
from tests.repos import commit, init


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """A repository, its store, and snapshots beside it."""

    folder: Path

    @property
    def repository(self) -> Path:
        return self.folder / 'repository'

    def commit(self, value: int, date: str, thing: str = 'Till') -> None:
        files = {
            **toys.BUILD,
            **toys.source(thing, f'last: {value}'),
            **toys.tests(thing, f'rings: is {thing}.last {value}'),
        }
        commit(self.repository, f'{thing} {value}', files, date=f'{date}T00:00:00Z')

    def mine(self, *more: str) -> int:
        words = ('--store', str(self.folder / 'store'), '--name', NAME, *QUICKLY, '--jobs', '1')
        return main(['mine', str(self.repository), *words, *more])

    def release(self, name: str, month: str, *more: str) -> int:
        words = ('--store', str(self.folder / 'store'), '--snapshot', str(self.folder / name))
        return main(['release', *words, '--month', month, *more])

    def manifest(self, name: str) -> Any:
        return json.loads((self.folder / name / 'manifest.json').read_text())

    def table(self, name: str, table: str) -> list[Mapping[str, Any]]:
        files = snapshot.list_data_files(self.folder / name, table)
        return [row for file in files for row in pq.read_table(file).to_pylist()]

    def tasks(self, name: str) -> list[tuple[str, str]]:
        """When each was released, and the name of its test."""
        rows = self.table(name, 'tasks')
        return sorted((row['released'], f'{row["new_committer_date"]:%m-%d}') for row in rows)


def opened(folder: Path) -> Shop:
    shop = Shop(folder=folder)
    init(shop.repository)
    for value, day in enumerate(('2024-01-01', '2024-01-20', '2024-02-03')):
        shop.commit(value, day)
    assert shop.mine('--reached', '2024-02') == 2  # a month is no day
    assert shop.mine() == 0
    return shop
