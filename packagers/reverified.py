"""What running labels again has shown, put into the rows of a release.

Runs that agree count as further runs of the segment whose cells were repeated. A label that did
not come out again is withdrawn, in every walk and for good: its method may not come back by being
mined another time.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from coevo.engine.evidence import compute_upper_95
from coevo.model.drops import Drop
from coevo.model.labels import list_deciding_cells
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import CellRow
from coevo.model.reasons import Reason
from coevo.model.words import Cell, Outcome, Stage, Walk
from coevo.storage.reverifications import ReverificationRecord
from packagers.rows import Rows

Place = tuple[str, Walk, Cell]  # of a method's runs


def apply_reverification(rows: Rows) -> Rows:
    """The rows with the runs of `reverified`, and without the labels that these have refuted."""
    if not rows.reverified:
        return rows
    lost = dict(_find_lost_labels(rows.reverified))
    runs = _collect_runs(rows)
    added = Counter((row.method_id, row.walk, row.cell) for row in runs)
    passed = Counter(
        (row.method_id, row.walk, row.cell) for row in runs if row.outcome is Outcome.PASS
    )
    drops = [
        Drop.make_at_stage(
            Stage.LABEL, row, row.method_id, Reason.NOT_REPRODUCED, lost[row.method_id]
        ).with_method(row, row.change)
        for row in rows.methods
        if row.method_id in lost
    ]
    # A method leaves the funnel once: what has no label any more has no track to lose.
    kept_drops = (d for d in rows.drops if d.stage is not Stage.TRACK or d.key not in lost)
    return rows.replace_tables(
        methods=(
            _add_runs(row, added, passed) for row in rows.methods if row.method_id not in lost
        ),
        cells=chain(rows.cells, runs),
        dependency_map=(row for row in rows.dependency_map if row.method_id not in lost),
        mutants=(row for row in rows.mutants if row.method_id not in lost),
        reversals=(row for row in rows.reversals if row.method_id not in lost),
        drops=chain(kept_drops, drops),
    )


def _find_lost_labels(found: Iterable[ReverificationRecord]) -> Iterator[tuple[str, str]]:
    """Methods whose label is refuted, with what was otherwise when it first was."""
    known: set[str] = set()
    for record in found:
        for method in record.methods:
            if method.lost is not None and method.method_id not in known:
                known.add(method.method_id)
                yield method.method_id, method.lost


def _collect_runs(rows: Rows) -> tuple[CellRow, ...]:
    """The runs of segments that still count, numbered on from those that are there."""
    again = {method.method_id for record in rows.reverified for method in record.methods}
    labelled = {(row.method_id, row.walk) for row in rows.methods if row.method_id in again}
    repeats = Counter(
        (row.method_id, row.walk, row.cell) for row in rows.cells if row.method_id in again
    )
    runs = []
    for record in rows.reverified:
        for row in (run for method in record.methods for run in method.runs):
            counts = rows.keys.get((row.pair_id, row.walk)) == record.key
            if counts and (row.method_id, row.walk) in labelled:
                run_key = row.method_id, row.walk, row.cell
                runs.append(dataclasses.replace(row, repeat=repeats[run_key]))
                repeats[run_key] += 1
    return tuple(runs)


def _add_runs(
    row: MethodRow,
    added: Mapping[Place, int],
    passed: Mapping[Place, int],
) -> MethodRow:
    columns: dict[str, Any] = {}
    for cell in list_deciding_cells(row.change):
        run_key = row.method_id, row.walk, cell
        if added[run_key]:
            columns[f'{cell}_runs'] = getattr(row, f'{cell}_runs') + added[run_key]
            columns[f'{cell}_passes'] = getattr(row, f'{cell}_passes') + passed[run_key]
    if not columns:
        return row
    counted = dataclasses.replace(row, **columns)
    return dataclasses.replace(counted, flake_upper_95=_compute_flake_bound(counted))


def _compute_flake_bound(row: MethodRow) -> float | None:
    """As `coevo.engine.evidence.compute_flake_bound` has it, by the counts of the row."""
    runs = [
        getattr(row, f'{cell}_runs')
        for cell in list_deciding_cells(row.change)
        if getattr(row, cell) is not Outcome.COMPILE_ERROR
    ]
    return compute_upper_95(min(runs)) if runs else None
