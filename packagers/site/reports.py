"""The evaluations that the leaderboard shows, each under the snapshot that it is of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.report import encode
from coevo.evaluation.reporting.report import make_report
from coevo.evaluation.reporting.report import read_report
from coevo.evaluation.results import read_results
from coevo.evaluation.suites.results import read_suites
from coevo.model.errors import Fatal


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardEntry:
    """A report, and the rows of first attempts that its figures follow from."""

    report: Mapping[str, Any]
    rows: tuple[MethodResult, ...]


def read(folders: Sequence[Path], snapshots: Sequence[str]) -> Mapping[str, Sequence[BoardEntry]]:
    """By the checksum of their snapshot's manifest, in an order of their own.

    Fatal for a folder without a report, with one that does not follow from its results, or with one
    of none of these snapshots.
    """
    found: dict[str, list[BoardEntry]] = {sha256: [] for sha256 in snapshots}
    for folder in folders:
        one = _read(folder)
        sha256 = one.report['snapshot_sha256']
        if sha256 not in found:
            raise Fatal(
                f'{folder} scores a snapshot whose manifest has the SHA-256 {sha256}, which is none '
                'of those named; name that one too'
            )
        found[sha256].append(one)
    return {sha256: sorted(several, key=_order) for sha256, several in found.items()}


def _read(folder: Path) -> BoardEntry:
    report = read_report(folder)
    rows = read_results(folder)
    if json.loads(encode(make_report(rows, read_suites(folder)))) != report:
        raise Fatal(
            f'the report in {folder} is not that of the results beside it; write it anew with '
            f'`coevo regrade {folder}`'
        )
    return BoardEntry(report=report, rows=tuple(row for row in rows if row.attempt == 1))


def _order(one: BoardEntry) -> str:
    """By who submitted, then by all that a report says."""
    return json.dumps([one.report['systems'], one.report], sort_keys=True)
