"""What a month and the backfill would cost, by arithmetic on what was measured."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.storage.store import Store
from flows.forecast import BATCH, BUSY, REPOSITORY_SECONDS, RUN_SECONDS, Machines, forecast_costs
from tests import segments
from tests.flows.crawling import crawled, github, many, validated


def test_the_forecast_is_computed_from_measured_pairs(
    toy: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four pairs of one repository, of 1.5 CPU s each; two more that are valid wait for the backfill."""
    folder = tmp_path / 'store'
    store = Store(folder)
    segments.fill(store, 1, 2, 3, 4)
    with github(*many(3)) as server:
        crawled(server, folder)
    for name in ('ada/r1', 'ada/r2'):
        validated(folder, name)
    found = forecast_costs(store, folder, Machines(count=2, cores=4))
    assert found is not None
    assert (found.measured.pairs, found.measured.pair_seconds) == (4, 1.5)
    assert found.measured.clone_bytes is None  # none lies here
    backfill = found.backfill
    assert (backfill.repositories, backfill.pairs) == (2, 8.0)
    seconds = 8 * 1.5 + 2 * (REPOSITORY_SECONDS + RUN_SECONDS / BATCH)
    assert backfill.cpu_hours == pytest.approx(seconds / 3600)
    assert backfill.hours == pytest.approx(backfill.cpu_hours / (2 * 4 * BUSY))
    assert found.month.repositories == 3
    assert found.month.pairs == pytest.approx(3 * 4 / 3)  # four in the last three months

    (partition,) = store.list_partitions()
    late = datetime(2025, 1, 1, tzinfo=UTC)  # a year without a commit
    store.merge_walk_into_stored(
        partition, dataclasses.replace(store.load_walk(partition), reached=late)
    )
    quiet = forecast_costs(store, folder, Machines(count=2, cores=4))
    assert quiet is not None
    assert (quiet.month.pairs, quiet.month.cpu_hours) == (0, 0)

    assert (
        main(['pipeline', 'forecast', '--store', str(folder), '--machines', '2', '--cores', '4'])
        == 0
    )
    told = capsys.readouterr().out
    assert told.startswith('measured: 4 pairs of 1 repositories, 1.5 CPU s a pair, 4 pairs a')
    assert 'backfill: 2 repositories, 8 pairs, 0.0 CPU hours, 0.0 hours on 2 x 4 cores' in told


def test_a_forecast_of_an_empty_store_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['pipeline', 'forecast', '--store', str(tmp_path)]) == 2
    assert 'mine a few repositories first' in capsys.readouterr().err
