"""coevo: executable test-maintenance tasks from the history of public repositories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

__version__ = '0.1.0'


def open(path: Path | str, *more: Path | str) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection with the tables of snapshots as views (`coevo.snapshots.snapshot.open`)."""
    from coevo.snapshots import snapshot  # only who opens one pays for the import

    return snapshot.open(path, *more)
