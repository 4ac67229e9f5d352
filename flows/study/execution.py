"""Trace labelled methods, and derive their changed dependencies and their coverage of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from coevo.engine.further_runs import OWN_CELL, Traces, trace_passing_cells
from coevo.engine.results import SelectedMethod
from coevo.languages.table import get_reading
from coevo.languages.verdicts import Trace
from coevo.measures.coverage import measure_coverage_of_methods, measure_each_method
from coevo.model.dependencies import (
    Dependency,
    choose_dependency_list,
    select_called_or_all_dependencies,
)
from coevo.model.method_rows import MethodRow
from coevo.model.quality import ExecutedRow, PairEnd
from coevo.model.records import Pair
from coevo.model.words import Cell
from flows.rows import DecidedMethod
from flows.study.context import PairContext, Study
from flows.study.texts import REFINED, find_refinement_kinds
from miners.diffs import coupling
from miners.diffs.changes import PairChange
from miners.diffs.coupling import Delta, find_focal_method
from miners.diffs.resources import find_resource_dependencies


def trace_and_find_changed_dependencies(
    context: PairContext, labelled: Sequence[DecidedMethod], found: Study
) -> dict[str, Delta]:
    """Trace methods, and fill the columns of their rows that depend on traces.

    Return the changed dependencies by method id.
    """
    traces = _run_traces(context, labelled) if context.is_traced else {}
    changed = {}
    for item in labelled:
        method_id = item.selected.method_id
        delta = _compute_delta(context, item.selected, traces)
        changed[method_id] = delta
        which = choose_dependency_list(delta.dependencies, context.tools.profile.dependencies)
        known = replace(
            found.methods[method_id],
            dependencies=delta.dependencies,
            dependency_list=which,
            focal_method=find_focal_method(
                select_called_or_all_dependencies(delta.dependencies, which)
            ),
            dependency_source=delta.source,
        )
        found.methods[method_id] = _add_coverage_and_kinds(known, item, delta, traces)
    found.executed = tuple(_list_executed_rows(context.pair, changed, traces))
    return changed


def _run_traces(context: PairContext, labelled: Sequence[DecidedMethod]) -> Traces:
    selected, files = _select_traced_methods(labelled), _list_changed_files(context.change)
    tracked = {item.selected.method_id for item in labelled if item.decision.track is not None}
    return trace_passing_cells(context.evaluation, selected, files, tracked)


def _select_traced_methods(labelled: Sequence[DecidedMethod]) -> dict[Cell, list[SelectedMethod]]:
    """Return the methods to trace in each cell.

    Each test runs on its own code; old tests of refinements and extensions also on the new code.
    """
    everything = [item.selected for item in labelled]
    refined = [item.selected for item in labelled if item.decision.label in REFINED]
    return {Cell.T_OLD_C_OLD: everything, Cell.T_NEW_C_NEW: everything, Cell.T_OLD_C_NEW: refined}


def _list_changed_files(change: PairChange) -> dict[PairEnd, frozenset[str]]:
    """Return the files of the changed declarations at either end."""
    old = frozenset(source.old.path for source in change.sources if source.old is not None)
    return {PairEnd.OLD: old, PairEnd.NEW: _list_changed_files_at_new(change)}


def _list_changed_files_at_new(change: PairChange) -> frozenset[str]:
    """Return the files of the changed declarations at the new revision."""
    return frozenset(source.new.path for source in change.sources if source.new is not None)


def _compute_delta(context: PairContext, item: SelectedMethod, traces: Traces) -> Delta:
    """Return the changed dependencies of a method: declarations, then resources."""
    own = coupling.Traces(
        old=traces.get((item.method_id, Cell.T_OLD_C_OLD)),
        new=traces.get((item.method_id, Cell.T_NEW_C_NEW)),
    )
    change = context.change
    references = change.references.get(item.method_id, ())
    delta = coupling.compute_delta(item.candidate.method, change.sources, references, own)
    own_reading = get_reading(context.pair.language)
    tree = own_reading.open_tree
    ends = (
        (tree(context.tools.repository, context.pair.old.rev), own.old),
        (tree(context.tools.repository, context.pair.new.rev), own.new),
    )
    resources = find_resource_dependencies(
        own_reading, change.files, ends, len(delta.dependencies) + 1
    )
    return replace(delta, dependencies=(*delta.dependencies, *resources))


def _add_coverage_and_kinds(
    known: MethodRow, item: DecidedMethod, delta: Delta, traces: Traces
) -> MethodRow:
    """Return the row with the coverage of the chosen dependencies and the kinds of a refinement.

    The kinds are judged by all executed dependencies. Without a trace of the new test there is no
    coverage.
    """
    new, old = (
        traces.get((item.selected.method_id, cell)) for cell in (Cell.T_NEW_C_NEW, Cell.T_OLD_C_NEW)
    )
    by_new, by_old = (
        measure_coverage_of_methods(delta.dependencies, trace) if trace else None
        for trace in (new, old)
    )
    kinds = find_refinement_kinds(item.decision.label, item.selected.candidate, by_old, by_new)
    known = replace(known, kinds=kinds)
    return known if new is None else add_coverage(known, delta.dependencies, new)


def add_coverage(known: MethodRow, dependencies: tuple[Dependency, ...], trace: Trace) -> MethodRow:
    """Return the row with a new test's coverage of the chosen list and of each dependency."""
    return replace(
        known,
        coverage=measure_coverage_of_methods(
            select_called_or_all_dependencies(dependencies, known.dependency_list), trace
        ),
        covered_dependencies=measure_each_method(dependencies, trace),
    )


def _list_executed_rows(
    pair: Pair, changed: Mapping[str, Delta], traces: Traces
) -> Iterator[ExecutedRow]:
    for method_id in changed:
        for end, cell in OWN_CELL.items():
            trace = traces.get((method_id, cell))
            for executed_method in trace.executed if trace else ():
                yield ExecutedRow(
                    repo=pair.repo,
                    walk=pair.walk,
                    pair_id=pair.pair_id,
                    method_id=method_id,
                    end=end,
                    type=executed_method.type,
                    method=executed_method.method,
                    descriptor=executed_method.descriptor,
                    file=executed_method.file,
                    first_line=executed_method.first_line,
                    last_line=executed_method.last_line,
                )
