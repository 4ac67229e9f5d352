"""Load the evaluations that the leaderboard shows, by the snapshot to which they belong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.report import encode_report, load_report, make_report
from coevo.evaluation.results import load_results
from coevo.evaluation.suites.results import load_suites
from coevo.model.errors import Fatal


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardEntry:
    """A report, and the rows of first attempts on which its figures are based."""

    report: Mapping[str, Any]
    rows: tuple[MethodResult, ...]


def load_board_entries(
    folders: Sequence[Path], snapshots: Mapping[str, Sequence[str]]
) -> Mapping[str, Sequence[BoardEntry]]:
    """Return the evaluations of each snapshot, by the snapshot's key, in a fixed order.

    snapshots  the checksums by which evaluations may name a snapshot, by its key

    Raises: Fatal for a folder without a report, with a report that does not follow from its
    results, or with a report on none of these snapshots.
    """
    entries: dict[str, list[BoardEntry]] = {key: [] for key in snapshots}
    keys = {sha256: key for key, names in snapshots.items() for sha256 in names}
    for folder in folders:
        entry = _load_entry(folder)
        sha256 = entry.report['snapshot_sha256']
        if sha256 not in keys:
            raise Fatal(
                f'{folder} scores a snapshot whose manifest has the SHA-256 {sha256}, which is none '
                'of those named; name that one too'
            )
        entries[keys[sha256]].append(entry)
    return {key: sorted(several, key=_get_sort_key) for key, several in entries.items()}


def _load_entry(folder: Path) -> BoardEntry:
    report = load_report(folder)
    rows = load_results(folder)
    if json.loads(encode_report(make_report(rows, load_suites(folder)))) != report:
        raise Fatal(
            f'the report in {folder} is not that of the results beside it; write it anew with '
            f'`coevo report regrade {folder}`'
        )
    return BoardEntry(report=report, rows=tuple(row for row in rows if row.attempt == 1))


def _get_sort_key(one: BoardEntry) -> str:
    """Return the key by which evaluations are sorted: their systems, then the whole report."""
    return json.dumps([one.report['systems'], one.report], sort_keys=True)
