"""From what the cells of a method gave to its label, cause and track, or the reason of its drop.

Two compile verdicts are kept apart (docs/evidence.md): `label` and `track` follow the method,
`label_by_module` and `track_by_module` follow Maven, where one broken test file breaks its module.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from coevo.engine.results import CellResult
from coevo.engine.results import Evidence
from coevo.engine.results import PairEvaluation
from coevo.model.labels import BROKEN_CELL
from coevo.model.labels import TRACKS
from coevo.model.labels import deciding_cells
from coevo.model.labels import label
from coevo.model.reasons import LIBRARY_REASONS
from coevo.model.records import Candidate
from coevo.model.words import Cause
from coevo.model.words import Cell
from coevo.model.words import Label
from coevo.model.words import Outcome
from coevo.model.words import Track

CAUSES_WITH_TRACK = {
    Track.UPDATE: (Cause.PRODUCTION,),
    Track.GENERATION: (Cause.PRODUCTION,),
    Track.REPAIR: (Cause.TEST, Cause.SYNTAX),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """`reason` is set where neither verdict gives a label; `no_track` where a label lost its."""

    label: Label | None
    track: Track | None
    label_by_module: Label | None
    track_by_module: Track | None
    cause: Cause | None
    reason: str | None
    detail: str
    no_track: str | None
    flake_upper_95: float | None


def decide(
    candidate: Candidate, method_id: str, evaluation: PairEvaluation, *, build_changed: bool
) -> Decision:
    """The decision on one executed candidate."""
    cells = evaluation.cells(method_id)
    evidence = evaluation.evidence(method_id)
    if evidence is not Evidence.AGREED:
        return _dropped(str(evidence))
    found = label(candidate.change, {cell: r.outcome for cell, r in cells.items()})
    by_unit = label(candidate.change, {cell: r.unit_outcome for cell, r in cells.items()})
    label_by_module = by_unit if isinstance(by_unit, Label) else None
    if not isinstance(found, Label) and label_by_module is None:
        return _contradicted(found, cells)
    own = found if isinstance(found, Label) else None
    fixed_by_settings = method_id in evaluation.fixed_by_settings
    cause = cause_of(own, cells, fixed_by_settings=fixed_by_settings) if own else None
    no_track = (
        why_no_track(own, cells, cause, build_changed=build_changed)
        if own in TRACKS and own
        else None
    )
    return Decision(
        label=own,
        track=TRACKS.get(own) if own and no_track is None else None,
        label_by_module=label_by_module,
        track_by_module=TRACKS.get(label_by_module) if label_by_module else None,
        cause=cause,
        reason=None,
        detail='',
        no_track=no_track,
        flake_upper_95=flake_upper_95(cells, candidate),
    )


def cause_of(
    found: Label, cells: Mapping[Cell, CellResult], *, fixed_by_settings: bool
) -> Cause | None:
    """Why the deciding cell is broken; fixed by libraries or settings of the other revision."""
    if found not in BROKEN_CELL:
        return None
    verdict = cells[BROKEN_CELL[found]].deciding
    if fixed_by_settings:
        return Cause.BUILD
    if verdict.environment is not None:
        return Cause.ENVIRONMENT
    if found is Label.REPAIR:
        return Cause.SYNTAX if verdict.syntax else Cause.TEST
    return Cause.FIXTURE if found is Label.FIXTURE_UPDATE else Cause.PRODUCTION


def why_no_track(
    found: Label, cells: Mapping[Cell, CellResult], cause: Cause | None, *, build_changed: bool
) -> str | None:
    """The reason why a label that could be a task is none; None where it is one."""
    track = TRACKS[found]
    if cause not in CAUSES_WITH_TRACK[track]:
        return f'cause_{cause}'
    if cells[BROKEN_CELL[found]].outcome is Outcome.TIMEOUT:
        return 'timeout_alone'
    if track is Track.REPAIR and build_changed:
        return 'build_changed'
    return None


def flake_upper_95(cells: Mapping[Cell, CellResult], candidate: Candidate) -> float | None:
    """The bound by the smallest number of runs over the deciding cells that a process decided.

    None where the compiler decided them all.
    """
    runs = [
        len(cells[cell].runs)
        for cell in deciding_cells(candidate.change)
        if cells[cell].outcome is not Outcome.COMPILE_ERROR
    ]
    return upper_95(min(runs)) if runs else None


def upper_95(runs: int) -> float:
    """The exact one-sided 95 % upper bound of the flake rate after n agreeing runs: 1-0.05^(1/n)."""
    return round(1 - math.pow(0.05, 1 / runs), 6)


def _contradicted(reason: str, cells: Mapping[Cell, CellResult]) -> Decision:
    """The drop, with what the cell that the reason names has shown."""
    found = next((r for cell, r in cells.items() if reason.startswith(f'{cell}_')), None)
    if found is None:
        return _dropped(reason)
    verdict = found.deciding
    if verdict.outcome is Outcome.UNBUILDABLE and verdict.signature in LIBRARY_REASONS:
        return _dropped(verdict.signature, reason)
    withheld = f'environment: {verdict.environment}' if verdict.environment else None
    return _dropped(reason, ', '.join(filter(None, (verdict.signature, withheld))))


def _dropped(reason: str, detail: str = '') -> Decision:
    return Decision(
        label=None,
        track=None,
        label_by_module=None,
        track_by_module=None,
        cause=None,
        reason=reason,
        detail=detail,
        no_track=None,
        flake_upper_95=None,
    )
