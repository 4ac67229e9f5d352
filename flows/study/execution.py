"""What labelled methods execute, hence their changed dependencies and what they cover of them."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from coevo.engine.results import SelectedMethod
from coevo.engine.tracing import OWN_CELL
from coevo.engine.tracing import Traces
from coevo.engine.tracing import trace_cells
from coevo.languages.table import reading
from coevo.languages.traces import Trace
from coevo.measures.coverage import coverage_of
from coevo.measures.coverage import covered_by
from coevo.model.dependency_lists import list_for
from coevo.model.dependency_lists import listed
from coevo.model.quality import End
from coevo.model.quality import ExecutedRow
from coevo.model.records import Pair
from coevo.model.words import Cell
from coevo.model.words import Label
from flows.findings import MethodFindings
from flows.rows import DecidedMethod
from flows.study.context import PairContext
from flows.study.context import Study
from flows.study.texts import refinement_kinds
from miners.diffs import delta as deltas
from miners.diffs.changes import PairChange
from miners.diffs.delta import Delta
from miners.diffs.focal import focal_method
from miners.diffs.resources import resource_dependencies


def trace(
    context: PairContext, labelled: Sequence[DecidedMethod], found: Study
) -> dict[str, Delta]:
    """Fill the columns that traces give; the changed dependencies by method id."""
    traces = _traces(context, labelled) if context.is_traced else {}
    changed = {}
    for item in labelled:
        method_id = item.selected.method_id
        delta = _delta(context, item.selected, traces)
        changed[method_id] = delta
        which = list_for(delta.dependencies, context.tools.profile.dependencies)
        known = replace(
            found.methods[method_id],
            dependencies=delta.dependencies,
            dependency_list=which,
            focal_method=focal_method(listed(delta.dependencies, which)),
            dependency_source=delta.source,
        )
        found.methods[method_id] = _with_coverage(known, item, delta, traces)
    found.executed = tuple(_executed(context.pair, changed, traces))
    return changed


def _traces(context: PairContext, labelled: Sequence[DecidedMethod]) -> Traces:
    selected, files = _to_trace(labelled), _files(context.change)
    tracked = {item.selected.method_id for item in labelled if item.decision.track is not None}
    return trace_cells(context.evaluation, selected, files, tracked)


def _to_trace(labelled: Sequence[DecidedMethod]) -> dict[Cell, list[SelectedMethod]]:
    """Each on its own code, old tests of refinements also on the new code."""
    everything = [item.selected for item in labelled]
    refined = [item.selected for item in labelled if item.decision.label is Label.REFINEMENT]
    return {Cell.TOLD_COLD: everything, Cell.TNEW_CNEW: everything, Cell.TOLD_CNEW: refined}


def _files(change: PairChange) -> dict[End, frozenset[str]]:
    """The files of the changed declarations at either end."""
    old = frozenset(one.old.path for one in change.sources if one.old is not None)
    return {End.OLD: old, End.NEW: new_files(change)}


def new_files(change: PairChange) -> frozenset[str]:
    """The files of the changed declarations at new."""
    return frozenset(one.new.path for one in change.sources if one.new is not None)


def _delta(context: PairContext, item: SelectedMethod, traces: Traces) -> Delta:
    """The changed declarations, then the changed resources."""
    own = deltas.Traces(
        old=traces.get((item.method_id, Cell.TOLD_COLD)),
        new=traces.get((item.method_id, Cell.TNEW_CNEW)),
    )
    change = context.change
    references = change.references.get(item.method_id, ())
    found = deltas.delta(item.candidate.method, change.sources, references, own)
    own_reading = reading(context.pair.language)
    tree = own_reading.tree
    ends = (
        (tree(context.tools.repository, context.pair.old.rev), own.old),
        (tree(context.tools.repository, context.pair.new.rev), own.new),
    )
    resources = resource_dependencies(own_reading, change.files, ends, len(found.dependencies) + 1)
    return replace(found, dependencies=(*found.dependencies, *resources))


def _with_coverage(
    known: MethodFindings, item: DecidedMethod, delta: Delta, traces: Traces
) -> MethodFindings:
    """Of the list that is chosen; kinds of refinements go by all that is executed."""
    new, old = (
        traces.get((item.selected.method_id, cell)) for cell in (Cell.TNEW_CNEW, Cell.TOLD_CNEW)
    )
    by_new, by_old = (
        coverage_of(delta.dependencies, trace) if trace else None for trace in (new, old)
    )
    kinds = refinement_kinds(item.decision.label, item.selected.candidate, by_old, by_new)
    known = replace(known, kinds=kinds)
    return known if new is None else covered(known, delta, new)


def covered(known: MethodFindings, delta: Delta, trace: Trace) -> MethodFindings:
    """With what a new test covers, of the list that is chosen and of each dependency."""
    return replace(
        known,
        coverage=coverage_of(listed(delta.dependencies, known.dependency_list), trace),
        covered_dependencies=covered_by(delta.dependencies, trace),
    )


def _executed(pair: Pair, changed: Mapping[str, Delta], traces: Traces) -> Iterator[ExecutedRow]:
    for method_id in changed:
        for end, cell in OWN_CELL.items():
            trace = traces.get((method_id, cell))
            for one in trace.executed if trace else ():
                yield ExecutedRow(
                    repo=pair.repo,
                    walk=pair.walk,
                    pair_id=pair.pair_id,
                    method_id=method_id,
                    end=end,
                    type=one.type,
                    method=one.method,
                    descriptor=one.descriptor,
                    file=one.file,
                    first_line=one.first_line,
                    last_line=one.last_line,
                )
