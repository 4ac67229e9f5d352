"""Decide a method's label, cause and track from its cells, or the reason why it is dropped.

There are two verdicts about compilation (docs/evidence.md). `label` and `track` follow the method
itself. `label_by_module` and `track_by_module` follow Maven, for which one test file that does not
compile breaks its whole module.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from coevo.engine.results import CellResult, Evidence, PairEvaluation
from coevo.languages.verdicts import Verdict
from coevo.model.labels import (
    BROKEN_CELL,
    TRACKS,
    adjust_label_by_cause,
    decide_label,
    decide_published_label,
    find_deciding_cells_of_row,
)
from coevo.model.reasons import LIBRARY_REASONS
from coevo.model.records import Candidate
from coevo.model.words import BreakageCause, Cell, Label, Outcome, Track

_VARIABLE = re.compile(r"'([A-Z][A-Z0-9_]{0,63})'")

CAUSES_WITH_TRACK = {
    Track.UPDATE: (BreakageCause.PRODUCTION,),
    Track.GENERATION: (BreakageCause.PRODUCTION,),
    Track.EXTENSION: (BreakageCause.PRODUCTION,),
    Track.REPAIR: (BreakageCause.TEST, BreakageCause.SYNTAX),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The decision about one candidate.

    reason          why the candidate is dropped; None if one of the two verdicts gives a label
    detail          more about `reason`, such as a failure signature
    no_track        why a label that could have a track has none; None in all other cases
    flake_upper_95  see `compute_flake_bound`
    """

    label: Label | None
    track: Track | None
    label_by_module: Label | None
    track_by_module: Track | None
    cause: BreakageCause | None
    reason: str | None
    detail: str
    no_track: str | None
    flake_upper_95: float | None


def decide_candidate(
    candidate: Candidate, method_id: str, evaluation: PairEvaluation, *, build_changed: bool
) -> Decision:
    """Return the decision about a candidate whose cells were run.

    build_changed  whether the pair changes the build, so that no repair gets a track
    """
    cells = evaluation.get_deciding_cells(method_id)
    evidence = evaluation.get_worst_evidence(method_id)
    if evidence is not Evidence.AGREED:
        return _make_drop(str(evidence))
    label_or_reason = decide_label(candidate.change, {cell: r.outcome for cell, r in cells.items()})
    by_unit = decide_published_label(
        candidate.change, {cell: r.outcome_by_unit for cell, r in cells.items()}
    )
    label_by_module = by_unit if isinstance(by_unit, Label) else None
    if not isinstance(label_or_reason, Label) and label_by_module is None:
        return _drop_contradiction(label_or_reason, cells)
    own = label_or_reason if isinstance(label_or_reason, Label) else None
    fixed_by_settings = method_id in evaluation.fixed_by_settings
    cause = find_cause(own, cells, fixed_by_settings=fixed_by_settings) if own else None
    own = adjust_label_by_cause(own, cause) if own else None
    no_track = (
        explain_no_track(own, cells, cause, build_changed=build_changed)
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
        flake_upper_95=compute_flake_bound(cells, candidate),
    )


def find_cause(
    found: Label, cells: Mapping[Cell, CellResult], *, fixed_by_settings: bool
) -> BreakageCause | None:
    """Return why the cell that decides the label is broken; None for a label without such a cell.

    fixed_by_settings  whether the test passes with libraries or settings of the other revision
    """
    if found not in BROKEN_CELL:
        return None
    verdict = cells[BROKEN_CELL[found]].deciding_verdict
    if fixed_by_settings:
        return BreakageCause.BUILD
    if verdict.environment is not None:
        return BreakageCause.ENVIRONMENT
    if found is Label.REPAIR:
        return BreakageCause.SYNTAX if verdict.syntax else BreakageCause.TEST
    return BreakageCause.FIXTURE if found is Label.FIXTURE_UPDATE else BreakageCause.PRODUCTION


def explain_no_track(
    found: Label,
    cells: Mapping[Cell, CellResult],
    cause: BreakageCause | None,
    *,
    build_changed: bool,
) -> str | None:
    """Return why a label that could have a track has none; None if it has one."""
    track = TRACKS[found]
    if cause not in CAUSES_WITH_TRACK[track]:
        return f'cause_{cause}'
    if cells[BROKEN_CELL[found]].outcome is Outcome.TIMEOUT:
        return 'timeout_alone'
    if track is Track.REPAIR and build_changed:
        return 'build_changed'
    return None


def compute_flake_bound(cells: Mapping[Cell, CellResult], candidate: Candidate) -> float | None:
    """Return the flake rate's upper bound for the smallest number of runs of a deciding cell.

    Cells that the compiler decided do not count; None if it decided all of them.
    """
    runs = [
        len(cells[cell].runs)
        for cell in find_deciding_cells_of_row(
            candidate.change, {c: r.outcome for c, r in cells.items()}
        )
        if cells[cell].outcome is not Outcome.COMPILE_ERROR
    ]
    return compute_upper_95(min(runs)) if runs else None


def compute_upper_95(runs: int) -> float:
    """Return the exact one-sided 95 % upper bound of the flake rate after n agreeing runs.

    It is 1 - 0.05^(1/n), to six decimals.
    """
    return round(1 - math.pow(0.05, 1 / runs), 6)


def _drop_contradiction(reason: str, cells: Mapping[Cell, CellResult]) -> Decision:
    """Return the drop for a contradiction; its detail describes the cell that the reason names.

    If that code was not built because a library is missing, the library's reason takes its place.
    """
    result = next((r for cell, r in cells.items() if reason.startswith(f'{cell}_')), None)
    if result is None:
        return _make_drop(reason)
    verdict = result.deciding_verdict
    if verdict.outcome is Outcome.UNBUILDABLE and verdict.signature in LIBRARY_REASONS:
        return _make_drop(verdict.signature, reason)
    withheld = f'environment: {verdict.environment}' if verdict.environment else None
    parts = (verdict.signature, find_missing_environment_variable(verdict), withheld)
    return _make_drop(reason, ', '.join(filter(None, parts)))


def find_missing_environment_variable(verdict: Verdict) -> str | None:
    """Return the name that a test looked up in vain, if it is written like an environment variable.

    Other messages are not the same in each run.
    """
    match = _VARIABLE.fullmatch(verdict.message)
    is_lookup = (verdict.signature or '').startswith('KeyError@')
    return match[1] if match is not None and is_lookup else None


def _make_drop(reason: str, detail: str = '') -> Decision:
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
