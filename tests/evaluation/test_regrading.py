from __future__ import annotations

from pathlib import Path

import pytest

from coevo.cli import main
from coevo.evaluation.records import TaskOutcome
from coevo.evaluation.report import write_report
from coevo.evaluation.results import write_results
from tests.evaluation.rows import row


def test_a_report_is_made_again_byte_by_byte(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row('a'), row('b', outcome=TaskOutcome.CMPL_FAIL, repo='other/name', cost_usd=0.1)]
    results = write_results(tmp_path, rows).read_bytes()
    write_report(tmp_path, rows)
    report = tmp_path / 'report.json'
    before = report.read_bytes()
    report.unlink()
    assert main(['regrade', str(tmp_path)]) == 0
    assert 'Test update on 2 methods across 2 tasks' in capsys.readouterr().out
    assert report.read_bytes() == before
    assert (tmp_path / 'results.parquet').read_bytes() == results


def test_where_nothing_is_stored_one_sentence_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['regrade', str(tmp_path)]) == 2
    assert 'has no results.parquet; name the --out of a `coevo evaluate`' in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
