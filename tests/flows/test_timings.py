"""What a pair cost is counted once, though some steps are parts of others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.storage.store import Store
from flows.budgets import select_disjoint_timings
from flows.forecast import Machines, forecast_costs
from flows.status import compute_repository_cost
from tests import segments

SPENT = {'pair': 0.5, 'diff': 0.25, 'build': 2.0, 'run_given': 1.0, 'tests': 0.75}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """One pair of 3.5 CPU seconds: the diff is a part of its thread, the tests are one of their run."""
    segment = segments.segment(1)
    (row,) = segment.timings
    timings = tuple(replace(row, step=step, cpu_seconds=cpu) for step, cpu in SPENT.items())
    store = Store(tmp_path / 'store')
    with store.lock_partition(segments.PARTITION):
        store.merge_walk_into_stored(segments.PARTITION, segments.walk(1))
        store.write_segment_unless_intact(segments.PARTITION, replace(segment, timings=timings))
    return store


def test_disjoint_timings_count_no_second_twice(store: Store) -> None:
    (segment,) = store.load_current_segments(segments.PARTITION)
    assert sum(row.cpu_seconds for row in select_disjoint_timings(segment.timings)) == 3.5


def test_a_forecast_counts_test_time_only_as_part_of_the_runs(store: Store, tmp_path: Path) -> None:
    found = forecast_costs(store, tmp_path, Machines(count=1, cores=1))
    assert found is not None
    assert found.measured.pair_seconds == 3.5


def test_a_status_counts_test_time_only_as_part_of_the_runs(store: Store) -> None:
    cost = compute_repository_cost(store, segments.REPO)
    cpu = {step: seconds for step, (seconds, _) in cost.seconds.items()}
    assert cpu == {'pair': 0.5, 'build': 2.0, 'run_given': 1.0}
