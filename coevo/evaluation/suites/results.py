"""`suites.parquet`: the suites of an evaluation, a row for each task and attempt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coevo.evaluation.results import TableFormat, load_rows, write_rows
from coevo.evaluation.suites.records import SuiteResult

# Increased when a column is removed or changes its meaning.
SUITES_VERSION = 3

NAME = 'suites.parquet'

_FORM = TableFormat(
    record=SuiteResult, name=NAME, key=b'coevo.suites_version', version=SUITES_VERSION
)


def write_or_remove_suites(folder: Path, rows: Sequence[SuiteResult]) -> None:
    """Write the rows sorted by their key; without rows, remove an earlier file."""
    if rows:
        write_rows(folder, _FORM, sorted(rows, key=lambda row: row.key))
    else:
        (folder / NAME).unlink(missing_ok=True)


def load_suites(folder: Path) -> tuple[SuiteResult, ...]:
    """Return the rows of a folder; none if no suite was graded.

    Raises: Fatal if the file is damaged or of another version.
    """
    return load_rows(folder, _FORM) if (folder / NAME).is_file() else ()
