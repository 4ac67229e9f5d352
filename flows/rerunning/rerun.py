"""Labels of one pair run again, and compared with what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coevo.engine.evidence import decide
from coevo.engine.execution import evaluate
from coevo.engine.results import PairEvaluation
from coevo.engine.results import SelectedMethod
from coevo.git.repository import Repository
from coevo.languages.engine import Builder
from coevo.languages.table import engine_version
from coevo.languages.verdicts import KILLED
from coevo.model.identity import method_id
from coevo.model.labels import deciding_cells
from coevo.model.method_rows import MethodRow
from coevo.model.records import Pair
from coevo.model.segment import Segment
from coevo.model.words import Outcome
from coevo.storage.reverifications import Reverified
from coevo.storage.reverifications import RunAgain
from coevo.storage.store import Partition
from flows.rows import cell_rows
from miners.diffs.changes import diff


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The methods of one segment that are to be run again."""

    partition: Partition
    segment: Segment
    pair: Pair
    rows: tuple[MethodRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """What came out; `unknown` says by method id why runs say nothing of it."""

    record: Reverified
    unknown: Mapping[str, str]
    cpu_seconds: float


def run_again(repository: Repository, item: Drawn, builder: Builder) -> Rerun:
    """Three fresh runs of each deciding cell, under the segment's override, without the cache."""
    rows = {row.method_id: row for row in item.rows}
    change = diff(repository, item.pair)
    selected = [
        SelectedMethod(method_id=id_, candidate=candidate)
        for candidate in change.candidates
        if (id_ := method_id(item.pair, candidate)) in rows and candidate.change is rows[id_].change
    ]
    unknown = dict.fromkeys(
        rows.keys() - {one.method_id for one in selected},
        'this engine does not find it in its pair',
    )
    evaluation = evaluate(builder, item.pair, selected, override=_override(item.segment))
    methods = []
    for one in selected:
        row = rows[one.method_id]
        trouble = _trouble(row, one, evaluation)
        if trouble is not None:
            unknown[one.method_id] = trouble
            continue
        lost = _otherwise(row, one, evaluation, build_changed=change.build_changed)
        runs = tuple(cell_rows(item.pair, [one], evaluation))
        methods.append(RunAgain(method_id=one.method_id, lost=lost, runs=runs))
    return Rerun(
        record=Reverified(
            pair_id=item.pair.pair_id,
            key=item.segment.key,
            engine_version=engine_version(item.pair.language),
            runtime=evaluation.new.runtime,
            sandbox=item.segment.pair.sandbox,
            methods=tuple(methods),
        ),
        unknown=unknown,
        cpu_seconds=sum(evaluation.cost.cpu_seconds.values()),
    )


def _override(segment: Segment) -> str | None:
    """What all runs of a pair were given against its own word."""
    return next((row.override for row in segment.cells if row.override is not None), None)


def _trouble(row: MethodRow, selected: SelectedMethod, evaluation: PairEvaluation) -> str | None:
    """Why the runs say nothing of the label: its code could be built then, or a process was killed."""
    cells = evaluation.cells(selected.method_id)
    for cell in deciding_cells(row.change):
        was = getattr(row, cell), getattr(row, f'{cell}_signature')
        for run in cells[cell].runs:
            if run.agreement != was and run.verdict.outcome is Outcome.UNBUILDABLE:
                return f'{cell} cannot be built now: {run.verdict.signature}'
            if run.agreement != was and run.verdict.signature in KILLED:
                return f'{cell}: a process was killed'
    return None


def _otherwise(
    row: MethodRow, selected: SelectedMethod, evaluation: PairEvaluation, *, build_changed: bool
) -> str | None:
    """What is otherwise than when the label was made; None where all is as it was."""
    cells = evaluation.cells(selected.method_id)
    for cell in deciding_cells(row.change):
        was = getattr(row, cell), getattr(row, f'{cell}_signature')
        for run in cells[cell].runs:
            if run.agreement != was:
                return f'{cell} is {_told(*run.agreement)}, was {_told(*was)}'
    decision = decide(
        selected.candidate, selected.method_id, evaluation, build_changed=build_changed
    )
    if row.track is not None and decision.track is not row.track:
        return f'no {row.track}: {decision.no_track or decision.reason}'
    return None


def _told(outcome: Outcome | None, signature: str | None) -> str:
    return f'{outcome} ({signature})' if signature else str(outcome)
