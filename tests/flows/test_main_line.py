"""Projects that merge code and tests in separate commits, mined along their main line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from coevo.model.profiles import load_profile
from coevo.snapshots.verification import verify_snapshot
from flows.options import ReleaseOptions
from flows.pipeline import mine
from flows.publication import publish_release
from tests.languages import toys
from tests.projects import options
from tests.repos import commit, init

pytestmark = pytest.mark.usefixtures('toy')

MAIN_LINE = replace(load_profile('main-line'), measure_runs=0)
PARENTS = replace(load_profile('default'), measure_runs=0)

CODE = toys.source('Till', 'price: 1', 'stays: 3')
TAXED = toys.source('Till', 'price: 1', 'stays: 3', 'tax: 5')
DEARER = toys.source('Till', 'price: 2', 'stays: 3')
TEST = toys.tests('Till', 'follows: is Till.price 1', 'stays: is Till.stays 3')
FOLLOWED = toys.tests('Till', 'follows: is Till.price 2', 'stays: is Till.stays 3')
RINGS = 'rings: is Till.tax 5'


def day(number: int) -> str:
    return f'2020-01-{number:02}T00:00:00Z'


def make_separate(folder: Path) -> Path:
    """A pull request with the code in one commit and its test in another."""
    repo = init(folder)
    base = commit(repo, 'base', {**toys.BUILD, **CODE, **TEST}, date=day(1))
    commit(repo, 'code', TAXED, date=day(2))
    tests = toys.tests('Till', 'follows: is Till.price 1', 'stays: is Till.stays 3', RINGS)
    branch = commit(repo, 'test', tests, date=day(3))
    commit(repo, 'merge', {**TAXED, **tests}, date=day(4), parents=[base, branch])
    return repo


def make_joint(folder: Path) -> Path:
    """A pull request whose commits are tasks already: an update, and a repair after its code."""
    repo = init(folder)
    base = commit(repo, 'base', {**toys.BUILD, **CODE, **TEST}, date=day(1))
    commit(repo, 'dearer', {**DEARER, **FOLLOWED}, date=day(2))
    code = toys.source('Till', 'price: 2', 'stays: 4')
    commit(repo, 'code', code, date=day(3))
    repaired = toys.tests('Till', 'follows: is Till.price 2', 'stays: is Till.stays 4')
    branch = commit(repo, 'test', repaired, date=day(4))
    commit(repo, 'merge', {**code, **repaired}, date=day(5), parents=[base, branch])
    return repo


def list_tasks(repo: Path, store: Path, *profiles: Any) -> list[tuple[Any, ...]]:
    """Mine under the walks of some profiles, and return the walk and targets of each task."""
    for profile in profiles:
        mine(options(repo, store, profile=profile, walk=profile.walk))
    snapshot = store.with_name(f'{store.name}-snapshot')
    publish_release(ReleaseOptions(store=store, snapshot=snapshot))
    assert list(verify_snapshot(snapshot)) == []
    files = snapshot / 'data/tasks/*.parquet'
    return duckdb.sql(f"SELECT walk, test_methods FROM '{files}' ORDER BY ALL").fetchall()


def test_code_and_test_of_separate_commits_are_one_pair_of_the_main_line(tmp_path: Path) -> None:
    repo = make_separate(tmp_path / 'repository')
    assert list_tasks(repo, tmp_path / 'parents', PARENTS) == []
    found = list_tasks(repo, tmp_path / 'main', MAIN_LINE)
    assert found == [('first-parent', ['TillTest#rings'])]
    assert list_tasks(repo, tmp_path / 'both', PARENTS, MAIN_LINE) == found


def test_merge_that_repeats_edits_of_commits_gives_no_second_task(tmp_path: Path) -> None:
    repo = make_joint(tmp_path / 'repository')
    assert list_tasks(repo, tmp_path / 'main', MAIN_LINE) == [
        ('first-parent', ['TillTest#follows', 'TillTest#stays'])
    ]
    assert list_tasks(repo, tmp_path / 'both', PARENTS, MAIN_LINE) == [
        ('parents', ['TillTest#follows']),
        ('parents', ['TillTest#stays']),
    ]
    drops = tmp_path / 'both-snapshot/data/drops/*.parquet'
    sql = f"SELECT count(*) FROM '{drops}' WHERE reason = 'in_another_walk'"
    assert duckdb.sql(sql).fetchall() == [(1,)]
