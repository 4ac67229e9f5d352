"""`coevo regrade DIR`: make the report of stored results again, without running anything."""

from __future__ import annotations

from pathlib import Path

from coevo.evaluation.report import Report
from coevo.evaluation.report import write_report
from coevo.evaluation.results import read_results


def regrade(folder: Path) -> Report:
    """Write `report.json` from `results.parquet`: the bytes that the evaluation wrote."""
    return write_report(folder, read_results(folder))
