"""The reports of evaluations that the leaderboard shows, each under the snapshot that it is of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coevo.evaluation.reporting.report import read_report
from coevo.model.errors import Fatal

Report = Mapping[str, Any]


def read(folders: Sequence[Path], snapshots: Sequence[str]) -> Mapping[str, Sequence[Report]]:
    """By the checksum of their snapshot's manifest, in an order of their own.

    Fatal for a folder without a report, or with one of none of these snapshots.
    """
    found: dict[str, list[Report]] = {sha256: [] for sha256 in snapshots}
    for folder in folders:
        report = read_report(folder)
        sha256 = report['snapshot_sha256']
        if sha256 not in found:
            raise Fatal(
                f'{folder} scores a snapshot whose manifest has the SHA-256 {sha256}, which is none '
                'of those named; name that one too'
            )
        found[sha256].append(report)
    return {sha256: sorted(reports, key=_order) for sha256, reports in found.items()}


def _order(report: Report) -> str:
    return json.dumps(report, sort_keys=True)
