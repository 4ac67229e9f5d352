"""`coevo report statistics`: every statistic is printed, as wide as a terminal, and times where there are some."""

from __future__ import annotations

from pathlib import Path

import pytest

import coevo
from coevo.command.main import main
from coevo.snapshots.statistics import STATISTICS
from tests import snapshots


@pytest.fixture(scope='module')
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return snapshots.make(tmp_path_factory.mktemp('statistics'), 1, 2, 3)


def test_the_papers_tables_fit_the_width_of_a_terminal(
    snapshot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    coevo.evaluate(snapshot, {}, out=tmp_path / 'results')
    assert (
        main(['report', 'statistics', str(snapshot), '--results', str(tmp_path / 'results')]) == 0
    )
    said = capsys.readouterr().out
    for one in STATISTICS:
        assert f'{one.title}\n\n' in said
    assert max(map(len, said.splitlines())) <= 80
    rows = [line.split() for line in said.splitlines()]
    assert ['track', 'generation', 'update'] in rows  # Table 1, turned
    assert ['tasks', '3', '3'] in rows
    assert ['parents', '2024', 'H1', 'update', '3'] in rows  # Figure 2
    assert ['update', '3', '0', '0'] in [
        row[:3] + row[-1:] for row in rows
    ]  # no attempt said a time
    assert ['parents', 'run', '27', '5', '9'] in rows  # mining, of three pairs


def test_a_results_folder_without_results_is_bad_input(
    snapshot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['report', 'statistics', str(snapshot), '--results', str(tmp_path)]) == 2
    assert 'has no results.parquet' in capsys.readouterr().err
