"""A repository and its fork, both mined: one task, published under the licence of the POM."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from coevo.snapshots.verification import verify_snapshot
from flows.options import ReleaseOptions
from flows.pipeline import mine
from flows.publication import publish_release
from tests.projects import junit, options, pom, source, write
from tests.repos import git, init

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

PRICE = '    public static int price() {{ return {}; }}\n'


@pytest.fixture(scope='module')
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('forks')
    steps = [
        {
            'pom.xml': pom(),
            **source('Shop', PRICE.format(price)),
            **junit('ShopTest', f'sells: assertEquals({price}, Shop.price());'),
        }
        for price in (1, 2)
    ]
    upstream = write(folder / 'upstream', steps)
    fork = init(folder / 'fork')
    git(fork, 'fetch', '-q', str(upstream), 'main')
    git(fork, 'reset', '-q', '--hard', 'FETCH_HEAD')
    for name, path in (('upstream/shop', upstream), ('fork/shop', fork)):
        report = mine(dataclasses.replace(options(path, folder / 'store'), name=name))
        assert not report.failures
    publish_release(ReleaseOptions(store=folder / 'store', snapshot=folder / 'snapshot'))
    return folder / 'snapshot'


def rows(snapshot: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(snapshot / 'data' / table).to_pylist()
    return found


def test_the_pairs_of_a_fork_and_its_upstream_become_one_task(snapshot: Path) -> None:
    fork, upstream = sorted(rows(snapshot, 'pairs'), key=lambda row: row['repo'])
    (task,) = rows(snapshot, 'tasks')
    assert (task['repo'], task['track']) == ('fork/shop', 'update')  # of equal dates the first name
    assert (task['pair_id'], task['also_at']) == (fork['pair_id'], [upstream['pair_id']])
    original, copy = sorted(rows(snapshot, 'methods'), key=lambda row: row['repo'])
    assert (original['duplicate_of'], copy['duplicate_of']) == (None, original['method_id'])
    assert original['task_id'] == copy['task_id'] == task['task_id']
    assert {row['family'] for row in rows(snapshot, 'repositories')} == {'fork/shop'}


def test_a_fork_and_its_upstream_have_the_licence_of_their_pom(snapshot: Path) -> None:
    for table in ('pairs', 'repositories', 'tasks'):
        assert {row['license'] for row in rows(snapshot, table)} == {'Apache-2.0'}


def test_a_snapshot_with_a_fork_passes_verification(snapshot: Path) -> None:
    assert verify_snapshot(snapshot) == []
