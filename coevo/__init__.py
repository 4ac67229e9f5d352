"""coevo: executable test-maintenance tasks from the history of public repositories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

__version__ = '0.1.0'


def open(
    path: Path | str,
    *more: Path | str,
    after: str | None = None,
    before: str | None = None,
    model: str | None = None,
    margin: int = 0,
    models: Path | None = None,
) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection with the tables of snapshots as views (`coevo.snapshots.snapshot.open`).

    `path` is a folder, a .zip, a URL, or `latest`: the last month of the catalogue that
    $COEVO_SNAPSHOTS names (./snapshots). With dates every table has what was public strictly later
    than `after` (a day or month as text), or than the cutoff of a `model`, by `margin` days at least,
    and what was public before `before` began. What has no date is left out.
    """
    # only who opens one pays for the imports
    from coevo.snapshots import query
    from coevo.snapshots import snapshot
    from coevo.snapshots.models import chosen

    cutoff = chosen(after=after, before=before, model=model, margin=margin, models=models)
    return snapshot.connect((path, *more), dict(query.conditions(cutoff)))
