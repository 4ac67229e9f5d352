"""Run labels of one pair again, and compare the outcomes with those that made the labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from coevo.engine.evidence import decide_candidate
from coevo.engine.execution import evaluate_pair
from coevo.engine.results import PairEvaluation, SelectedMethod
from coevo.git.repository import Repository
from coevo.languages.engine import Builder
from coevo.languages.table import get_engine_version
from coevo.languages.verdicts import KILLED
from coevo.model.method_rows import MethodRow, list_deciding_cells_of_row
from coevo.model.records import Candidate, Pair, compute_candidate_id
from coevo.model.segment import Segment
from coevo.model.words import MethodChange, Outcome
from coevo.storage.reverifications import ReverificationRecord, ReverifiedLabel
from flows.measuring import find_override
from flows.rows import build_cell_rows
from miners.diffs.changes import diff_pair


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunResult:
    """The result of running some labels of a pair again.

    record       the labels about which the runs say something, whether they hold or not
    unknown      by method id, why the runs say nothing about a label
    cpu_seconds  CPU time of all runs
    """

    record: ReverificationRecord
    unknown: Mapping[str, str]
    cpu_seconds: float


def rerun_methods(
    repository: Repository,
    segment: Segment,
    method_ids: Collection[str],
    pair: Pair,
    builder: Builder,
) -> RerunResult:
    """Run each deciding cell of some methods three times in fresh processes, and compare.

    The runs have the segment's override and no cache. Nothing is written to the store.

    method_ids  of the methods; others than the segment's are ignored
    pair        the pair of the segment
    """
    rows = {row.method_id: row for row in segment.methods if row.method_id in method_ids}
    change = diff_pair(repository, pair)
    selected = [
        SelectedMethod(method_id=id_, candidate=restored)
        for candidate in change.candidates
        if (id_ := compute_candidate_id(pair, candidate)) in rows
        and (restored := _restore_candidate(candidate, rows[id_])) is not None
    ]
    unknown = dict.fromkeys(
        rows.keys() - {method.method_id for method in selected},
        'this engine does not find it in its pair',
    )
    evaluation = evaluate_pair(builder, pair, selected, override=find_override(segment))
    methods = []
    for method in selected:
        row = rows[method.method_id]
        trouble = _explain_inconclusive_rerun(row, method, evaluation)
        if trouble is not None:
            unknown[method.method_id] = trouble
            continue
        lost = _find_difference(row, method, evaluation, build_changed=change.build_changed)
        runs = tuple(build_cell_rows(pair, [method], evaluation))
        methods.append(ReverifiedLabel(method_id=method.method_id, lost=lost, runs=runs))
    return RerunResult(
        record=ReverificationRecord(
            pair_id=pair.pair_id,
            key=segment.key,
            engine_version=get_engine_version(pair.language),
            runtime=evaluation.new.runtime,
            sandbox=segment.pair.sandbox,
            methods=tuple(methods),
        ),
        unknown=unknown,
        cpu_seconds=sum(evaluation.cost.cpu_seconds.values()),
    )


def _restore_candidate(candidate: Candidate, row: MethodRow) -> Candidate | None:
    """Return a candidate of the diff with the change and the cells of its row.

    None if the diff finds another change than the row has. The runs may have shown that the
    surroundings of a test changed which the diff takes for unchanged (`labels.correct_change_by_cells`).
    """
    shown_by_runs = (MethodChange.UNCHANGED, MethodChange.CONTEXT_CHANGED)
    if candidate.change is not row.change and (candidate.change, row.change) != shown_by_runs:
        return None
    return replace(candidate, change=row.change, surroundings_differ=row.t_old_c_new is not None)


def _explain_inconclusive_rerun(
    row: MethodRow, selected: SelectedMethod, evaluation: PairEvaluation
) -> str | None:
    """Return why the new runs say nothing about a label; None if they say something.

    Either the code cannot be built any more, or a process was killed, and the outcome differs.
    """
    cells = evaluation.get_deciding_cells(selected.method_id)
    for cell in list_deciding_cells_of_row(row):
        was = getattr(row, cell), getattr(row, f'{cell}_signature')
        for run in cells[cell].runs if cell in cells else ():  # `LATER_CELL` may not be run again
            if run.agreement_key != was and run.verdict.outcome is Outcome.UNBUILDABLE:
                return f'{cell} cannot be built now: {run.verdict.signature}'
            if run.agreement_key != was and run.verdict.signature in KILLED:
                return f'{cell}: a process was killed'
    return None


def _find_difference(
    row: MethodRow, selected: SelectedMethod, evaluation: PairEvaluation, *, build_changed: bool
) -> str | None:
    """Return what differs from the runs that made the label; None if nothing does."""
    cells = evaluation.get_deciding_cells(selected.method_id)
    for cell in list_deciding_cells_of_row(row):
        was = getattr(row, cell), getattr(row, f'{cell}_signature')
        for run in cells[cell].runs if cell in cells else ():  # `LATER_CELL` may not be run again
            if run.agreement_key != was:
                return (
                    f'{cell} is {_format_outcome(*run.agreement_key)}, was {_format_outcome(*was)}'
                )
    decision = decide_candidate(
        selected.candidate, selected.method_id, evaluation, build_changed=build_changed
    )
    if row.track is not None and decision.track is not row.track:
        return f'no {row.track}: {decision.no_track or decision.reason}'
    return None


def _format_outcome(outcome: Outcome | None, signature: str | None) -> str:
    return f'{outcome} ({signature})' if signature else str(outcome)
