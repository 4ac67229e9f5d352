"""A release of bounded memory gives the bytes of one that holds all rows at once."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from coevo.model.quality import SiblingState, SiblingTargets
from coevo.model.schema import TABLES, build_table
from coevo.model.words import Walk
from coevo.snapshots.table_files import build_row_groups
from coevo.storage.store import Store
from packagers.row_files import write_table
from packagers.rows import Rows, gather_rows
from tests import segments, snapshots

GOLDEN = Path(__file__).parent.parent / 'golden' / 'release.json'
COLUMNS = {
    'methods': (
        *('repo', 'method_id', 'walk', 'task_id', 'leak', 'contamination_date'),
        *('duplicate_of', 'near_duplicate_of'),
    ),
    'tasks': ('repo', 'task_id', 'license', 'released', 'method_ids', 'contamination_date'),
    'cells': ('repo', 'method_id', 'walk', 'cell', 'repeat', 'outcome'),
    'dependency_map': ('repo', 'method_id', 'walk', 'end', 'method'),
    'mutants': ('repo', 'method_id', 'walk', 'mutant_id', 'killed'),
    'reversals': ('repo', 'method_id', 'walk', 'file', 'start_line', 'status'),
    'refactorings': ('repo', 'pair_id', 'walk', 'number'),
    'pairs': ('repo', 'pair_id', 'walk', 'license', 'new_committer_date'),
    'repositories': ('repo', 'walk', 'cutoff', 'license', 'family'),
    'drops': ('repo', 'walk', 'stage', 'key'),
    'withdrawn': ('table', 'id', 'reason', 'month', 'reissued'),
    'timings': ('repo', 'pair_id', 'walk', 'step'),
}
FORK, OTHER = 'fork/ferry', 'other/boat'


def fill(store: Store) -> None:
    segments.fill(store, *range(1, 9))
    for repo in (FORK, OTHER):
        segments.fill_elsewhere(store, repo, *(segments.segment(n) for n in (2, 3, 5)))


def families(repos: Sequence[str]) -> dict[str, str]:
    return {repo: FORK if repo == segments.REPO else repo for repo in repos}


def licence(repo: str, rev: str) -> str | None:
    """Some may not be published."""
    return {segments.rev(4): None, segments.rev(6): 'Proprietary'}.get(rev, 'MIT')


def released(folder: Path) -> Path:
    """A snapshot after an earlier one that knew less."""
    store = Store(folder / 'store')
    segments.fill(store, 1, 2, 4)
    snapshots.write(store, folder / 'earlier', month='2024-01')
    fill(store)
    changed: dict[str, Any] = {'families': families, 'licence': licence}
    previous = folder / 'earlier'
    snapshots.write(store, folder / 'later', month='2024-02', previous=previous, **changed)
    return folder / 'later'


def test_release_has_the_rows_of_the_former_release_in_memory(tmp_path: Path) -> None:
    """As of commit d9817ed, in their order, by columns that have the same names since.

    Of drops later: those of the moved pairs have keys of their own now.
    """
    assert told(released(tmp_path)) == json.loads(GOLDEN.read_bytes())


def told(path: Path) -> dict[str, str]:
    """By file: the hash of its rows."""
    found = {}
    for name, columns in COLUMNS.items():
        for file in sorted((path / 'data' / name).iterdir()):
            rows = [
                [str(row[column]) for column in columns] for row in pq.read_table(file).to_pylist()
            ]
            found[f'{name}/{file.name}'] = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
    return found


@pytest.fixture(scope='module')
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    store = Store(tmp_path_factory.mktemp('rows') / 'store')
    fill(store)
    found = gather_rows(store)
    chance = random.Random(1)
    methods = [
        dataclasses.replace(
            row,
            walk=chance.choice(list(Walk)),
            contamination_date=chance.choice([None, segments.day(chance.randrange(900))]),
            mutation=chance.choice([None, row.mutation]),
            dependencies=row.dependencies * chance.randrange(3),
        )
        for row in found.methods
    ]
    siblings = [
        SiblingTargets(test_file='A.java', test_methods=('A#a',), undone=undone, why=None)
        for undone in SiblingState
    ]
    tasks = [
        dataclasses.replace(
            row,
            walk=chance.choice(list(Walk)),
            siblings=chance.choice([None, (), tuple(chance.sample(siblings, 2))]),
        )
        for row in snapshots.build_family(found).tasks
    ]
    return dataclasses.replace(found, methods=methods, tasks=tasks)


@pytest.mark.sampled(13)
@pytest.mark.parametrize('name', TABLES)
@pytest.mark.parametrize('size', [1, 7, 5000])
def test_row_groups_equal_those_of_the_whole_table(
    tmp_path: Path, rows: Rows, name: str, size: int
) -> None:
    """Dictionaries stand in them by the order of the whole table, nested ones as well."""
    whole = build_table(TABLES[name], list(getattr(rows, name)))
    made = partial(build_table, TABLES[name])
    groups = list(
        build_row_groups(whole.schema, getattr(rows, name), size, make_table=made, at_once=3)
    )
    assert [len(group) for group in groups[:-1]] == [size] * (len(groups) - 1)
    with pq.ParquetWriter(tmp_path / 'whole', whole.schema) as file:
        if len(whole):
            file.write_table(whole, row_group_size=size)
    with pq.ParquetWriter(tmp_path / 'groups', whole.schema) as file:
        for group in groups:
            file.write_table(group, row_group_size=size)
    assert (tmp_path / 'groups').read_bytes() == (tmp_path / 'whole').read_bytes()


def test_rows_in_any_order_give_the_same_files(tmp_path: Path, rows: Rows) -> None:
    (one,) = write_table(tmp_path / 'one', 'methods', rows.methods)
    (other,) = write_table(tmp_path / 'other', 'methods', list(reversed(rows.methods)))
    assert one.read_bytes() == other.read_bytes()
