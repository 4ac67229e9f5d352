"""Pairs of other code or thresholds stay as they are, if `keep_stale` says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.model.profiles import load_profile
from coevo.storage.store import Store
from flows.pipeline import mine
from flows.plans import plan_mining
from tests.languages import toys
from tests.projects import QUICK, options, write

pytestmark = pytest.mark.usefixtures('toy')

STEPS: list[dict[str, str | bytes | None]] = [
    {
        **toys.BUILD,
        **toys.source('Till', f'price: {price}'),
        **toys.tests('Till', f'follows: is Till.price {price}'),
    }
    for price in (1, 2, 3, 4)
]


@pytest.fixture(scope='module')
def repository(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp('shop') / 'repository', STEPS)


def test_deeper_walk_mines_only_what_no_version_mined(repository: Path, tmp_path: Path) -> None:
    before = replace(options(repository, tmp_path / 'store', profile=QUICK), commits=2)
    assert mine(before).executed == 2
    store = Store(tmp_path / 'store')
    (partition,) = store.list_partitions()
    mined = store.list_keys(partition)
    now = replace(before, profile=load_profile('default'), commits=10)

    kept = replace(now, keep_stale=True)
    assert [pair.is_known for plan in plan_mining(kept) for pair in plan.pairs].count(True) == 2
    report = mine(kept)
    assert (report.executed, report.reused) == (1, 2)
    assert len(store.list_keys(partition) - mined) == 1
    assert len([*store.load_current_segments(partition)]) == 3

    report = mine(now)
    assert (report.executed, report.reused) == (2, 1)


def test_current_segments_stay_current(repository: Path, tmp_path: Path) -> None:
    first = options(repository, tmp_path / 'store', profile=QUICK)
    second = replace(first, profile=load_profile('default'))
    mine(first)
    mine(second)
    store = Store(tmp_path / 'store')
    (partition,) = store.list_partitions()
    current = [*store.load_current_segments(partition)]

    third = replace(QUICK, unchanged_sample=QUICK.unchanged_sample + 1)
    report = mine(replace(first, profile=third, keep_stale=True))
    assert (report.executed, report.reused) == (0, 3)
    assert [*store.load_current_segments(partition)] == current


def test_again_mines_what_keep_stale_would_leave(repository: Path, tmp_path: Path) -> None:
    kept = replace(options(repository, tmp_path / 'store', profile=QUICK), keep_stale=True)
    mine(kept)
    assert mine(replace(kept, again=True)).executed == 3


def test_recompare_mines_again_only_pairs_of_which_other_tests_run(
    toy: None, tmp_path: Path
) -> None:
    def make_files(price: int, rate: int, helper: str) -> dict[str, str | bytes | None]:
        source = toys.source('Till', f'price: {price}', f'rate: {rate}')
        tests = toys.tests('Till', f'_before: {helper}', f'pays: is Till.price {price}')
        return {**toys.BUILD, **source, **tests}

    steps = [
        make_files(1, 1, 'call Till.price'),
        make_files(2, 1, 'call Till.price'),
        make_files(2, 2, 'call Till.rate'),
    ]
    repository = write(tmp_path / 'repository', steps)
    wide = options(repository, tmp_path / 'store', profile=QUICK)
    assert mine(wide).executed == 2
    (partition,) = Store(tmp_path / 'store').list_partitions()
    before = {
        each.pair.new_rev: each
        for each in Store(tmp_path / 'store').load_current_segments(partition)
    }
    narrow = replace(wide, profile=replace(QUICK, context_limit=0), keep_stale=True)

    again = replace(narrow, recompare=True)
    assert [pair.is_known for plan in plan_mining(again) for pair in plan.pairs].count(False) == 1
    report = mine(again)
    assert (report.executed, report.reused) == (1, 1)
    assert mine(again).executed == 0
    after = {
        each.pair.new_rev: each
        for each in Store(tmp_path / 'store').load_current_segments(partition)
    }
    (differing,) = [rev for rev in before if after[rev] != before[rev]]
    assert [row.change for row in before[differing].methods] == ['context_changed']
    assert after[differing].methods == ()
