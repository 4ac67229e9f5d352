"""All rows that one pair yields, and the measures of its gold tests, which are made by a later
pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import CellRow, EnvironmentRow, PairRow, TimingRow
from coevo.model.quality import (
    Coverage,
    CoveredDependency,
    ExecutedRow,
    MutantRow,
    Mutation,
    RefactoringRow,
    ReversalRow,
)
from coevo.model.records import Drop
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.task_rows import StartRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """All results of mining one pair; the store writes whole segments.

    key  the name of the segment in the store
    """

    key: str
    pair: PairRow
    methods: tuple[MethodRow, ...]
    cells: tuple[CellRow, ...]
    drops: tuple[Drop, ...]
    environments: tuple[EnvironmentRow, ...]
    timings: tuple[TimingRow, ...]
    refactorings: tuple[RefactoringRow, ...] = ()
    executed: tuple[ExecutedRow, ...] = ()
    mutants: tuple[MutantRow, ...] = ()
    reversals: tuple[ReversalRow, ...] = ()
    starts: tuple[StartRow, ...] = ()
    single_revision: tuple[SingleRevisionRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodMeasures:
    """The columns of a method row that measuring fills; see `MethodRow`."""

    method_id: str
    coverage: Coverage | None
    covered_dependencies: tuple[CoveredDependency, ...] | None
    mutation: Mutation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRecord:
    """The measures of all methods of one segment that have a track.

    segment  the key of the segment
    key      a hash of the segment's key and of everything else that the measures depend on: basis,
             runs and traces
    basis    a hash of the code and the tools that measured
    runs     most runs of tests, half for mutants and half for undone changes
    traces   whether coverage was measured
    number   counts the records of a segment from 1; the last one counts
    """

    pair_id: str
    segment: str
    key: str
    basis: str
    runs: int
    traces: bool
    number: int = 0  # set by `coevo.storage.measures.number_and_add_measures`
    methods: tuple[MethodMeasures, ...]
    mutants: tuple[MutantRow, ...]
    reversals: tuple[ReversalRow, ...]
    timings: tuple[TimingRow, ...]


def has_tasks(segment: Segment) -> bool:
    """Return whether a segment has a method with a track, which alone are measured."""
    return any(row.track is not None for row in segment.methods)


def count_tasks(segment: Segment) -> int:
    """Return the number of tasks of a segment: of its files and tracks with a method.

    A release may make fewer, since it removes duplicates and withholds some.
    """
    rows = [row for row in segment.methods if row.track is not None]
    return len({(row.test_file, row.track) for row in rows})


def join_measures(segment: Segment, record: MeasureRecord | None) -> Segment:
    """Return a segment with the measures of its methods, and `measured` of those with a track.

    record  None if the segment is not measured; segments of earlier versions have measures of
            their own, which stay
    """
    if not has_tasks(segment):
        return segment
    if record is None:
        return replace(segment, methods=tuple(map(_derive_measured_from_mutation, segment.methods)))
    measures = {each.method_id: each for each in record.methods}
    return replace(
        segment,
        methods=tuple(_join_row(row, measures) for row in segment.methods),
        mutants=record.mutants,
        reversals=record.reversals,
        timings=(*segment.timings, *record.timings),
    )


def _derive_measured_from_mutation(row: MethodRow) -> MethodRow:
    return row if row.track is None else replace(row, measured=row.mutation is not None)


def _join_row(row: MethodRow, measures: Mapping[str, MethodMeasures]) -> MethodRow:
    each = measures.get(row.method_id)
    if each is None:
        return row
    return replace(
        row,
        coverage=each.coverage,
        covered_dependencies=each.covered_dependencies,
        mutation=each.mutation,
        measured=True,
    )
