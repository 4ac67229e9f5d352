"""Turn records of mining into the rows of a segment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from coevo.engine.evidence import Decision
from coevo.engine.results import CellResult, PairEvaluation, SelectedMethod
from coevo.git.repository import Repository
from coevo.languages.cells import Build
from coevo.languages.table import LANGUAGES
from coevo.model.labels import CELL_ORDER
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import CellRow, PairRow
from coevo.model.records import Candidate, Pair, TestMethod
from coevo.model.words import Cell
from coevo.storage.documents import SegmentBasis
from miners.diffs.change_metrics import (
    compute_change_metrics,
    compute_file_history,
    measure_functions,
)
from miners.diffs.changes import PairChange


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedMethod:
    """An executed candidate with the decision on it."""

    selected: SelectedMethod
    decision: Decision


def build_pair_row(
    change: PairChange,
    evaluation: PairEvaluation | None,
    *,
    candidates: int,
    sandbox: str,
    basis: SegmentBasis,
    absent_files: tuple[str, ...] | None = None,
) -> PairRow:
    """Return the row of a pair; columns of builds are empty without an evaluation."""
    pair, old, new = change.pair, None, None
    if evaluation is not None:
        old, new = evaluation.old, evaluation.new
    return PairRow(
        repo=pair.repo,
        walk=pair.walk,
        pair_id=pair.pair_id,
        language=pair.language,
        old_rev=pair.old.rev,
        new_rev=pair.new.rev,
        old_author_date=pair.old.author_date,
        old_committer_date=pair.old.committer_date,
        new_author_date=pair.new.author_date,
        new_committer_date=pair.new.committer_date,
        gap_hours=pair.gap_hours,
        old_is_ancestor=pair.old_is_ancestor,
        build_changed=change.build_changed,
        source_changed=change.source_changed,
        tests_changed=change.tests_changed,
        test_only=change.tests_changed and not change.source_changed,
        builder_old=old.builder if old else None,
        builder_new=new.builder if new else None,
        build_old=old.built_or_first_failure if old else None,
        build_new=new.built_or_first_failure if new else None,
        runtime=new.runtime if new else None,
        runtimes_tried=new.runtimes_tried if new else (),
        runtime_missing=(old.runtime_lacking or old.runtime_preferred) if old else None,
        tools=_list_tool_versions(pair, new) if new else (),
        candidates=candidates,
        tests_compared=change.compared,
        tests_alike=change.alike,
        tests_undrawn=change.undrawn,
        tests_apart=change.apart,
        sandbox=sandbox,
        engine_version=basis.code,
        absent_files=absent_files,
        changed_kinds=tuple(map(str, change.kinds)),
    )


def add_source_measures(row: PairRow, repository: Repository, change: PairChange) -> PairRow:
    """Return a pair's row with measures of its change, its functions and its files' history."""
    functions = measure_functions(repository, change)
    paths = {source.old.path for source in change.sources if source.old is not None}
    history = compute_file_history(repository, change.pair.old, sorted(paths))
    metrics = compute_change_metrics(repository, change)
    return replace(
        row,
        functions=functions.functions if functions else None,
        function_lines=functions.lines if functions else None,
        complexity=functions.complexity if functions else None,
        parameters=functions.parameters if functions else None,
        file_commits=history.commits if history else None,
        file_contributors=history.contributors if history else None,
        file_age_days=history.age_days if history else None,
        **(asdict(metrics) if metrics else {}),
    )


def _list_tool_versions(pair: Pair, build: Build) -> tuple[str, ...]:
    """Return `name version` of the tools that measured and ran the pair, sorted."""
    return tuple(sorted((*LANGUAGES[pair.language].list_tool_versions(), *build.runtime_packages)))


def build_method_row(
    pair: Pair, decided: DecidedMethod, evaluation: PairEvaluation, sandbox: str
) -> MethodRow:
    """Return the row of a decided method, without the columns that its study fills later."""
    candidate, decision = decided.selected.candidate, decided.decision
    cells = evaluation.get_deciding_and_recorded_cells(decided.selected.method_id)
    return MethodRow(
        method_id=decided.selected.method_id,
        repo=pair.repo,
        walk=pair.walk,
        pair_id=pair.pair_id,
        language=pair.language,
        old_rev=pair.old.rev,
        new_rev=pair.new.rev,
        old_is_ancestor=pair.old_is_ancestor,
        module=candidate.method.module,
        test_file=candidate.method.test_file,
        test_class=candidate.method.test_class,
        test_method=candidate.method.test_method,
        parameters=candidate.method.parameters,
        **_build_old_location_columns(candidate),
        change=candidate.change,
        label=decision.label,
        track=decision.track,
        label_by_module=decision.label_by_module,
        track_by_module=decision.track_by_module,
        old_source=candidate.old_source,
        new_source=candidate.new_source,
        **_build_cell_columns(cells),
        flake_upper_95=decision.flake_upper_95,
        cause=decision.cause,
        override='+'.join(evaluation.overrides) or None,
        sandbox=sandbox,
        dependencies=(),
        dependency_source=None,
        focal_method=None,
    )


def _build_old_location_columns(candidate: Candidate) -> dict[str, Any]:
    """Return the columns of a test's identity at old; None unless it moved or was renamed."""
    moved = (
        candidate.old
        if candidate.new is not None and _has_moved_or_been_renamed(candidate)
        else None
    )
    return {
        'old_module': moved.module if moved else None,
        'old_test_file': moved.test_file if moved else None,
        'old_test_class': moved.test_class if moved else None,
        'old_test_method': moved.test_method if moved else None,
    }


def _has_moved_or_been_renamed(candidate: Candidate) -> bool:
    return _get_location(candidate.old) != _get_location(candidate.new)


def _get_location(method: TestMethod | None) -> tuple[str, ...]:
    if method is None:
        return ()
    return method.module, method.test_file, method.test_class, method.test_method


def _build_cell_columns(cells: Mapping[Cell, CellResult]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for cell in CELL_ORDER:
        result = cells.get(cell)
        columns |= {
            f'{cell}': result and result.outcome,
            f'{cell}_unit': result and result.outcome_by_unit,
            f'{cell}_passes': None if result is None else result.pass_count,
            f'{cell}_runs': None if result is None else len(result.runs),
            f'{cell}_signature': result and result.deciding_verdict.signature,
        }
    return columns


def build_cell_rows(
    pair: Pair, selected: Sequence[SelectedMethod], evaluation: PairEvaluation
) -> Iterator[CellRow]:
    """Yield one row for each run, in the order of methods, cells and runs."""
    for item in selected:
        for cell, result in evaluation.get_deciding_and_recorded_cells(item.method_id).items():
            for repeat, run in enumerate(result.runs):
                verdict = run.verdict
                yield CellRow(
                    repo=pair.repo,
                    walk=pair.walk,
                    pair_id=pair.pair_id,
                    method_id=item.method_id,
                    cell=cell,
                    repeat=repeat,
                    order=run.order,
                    outcome=verdict.outcome,
                    unit_outcome=result.compute_outcome_by_unit(verdict),
                    signature=verdict.signature,
                    override=evaluation.override,
                )
