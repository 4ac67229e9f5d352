"""Apply the label table again to every row of a snapshot, from its change and its cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coevo.model.labels import (
    CELL_ORDER,
    TRACKS,
    EngineRelease,
    adjust_label_by_cause,
    decide_label,
    decide_published_label,
    find_deciding_cells_of_row,
)
from coevo.model.words import BreakageCause, Cell, Label, MethodChange, Outcome
from coevo.snapshots.snapshot import LEAST_RUNS, LEAST_TIMEOUTS

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True, kw_only=True)
class CellEvidence:
    """The columns of one cell in a method row; `unit` is the outcome by module."""

    outcome: Outcome | None
    unit: Outcome | None
    passes: int | None
    runs: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRow:
    """The columns of a method row that its labels depend on.

    name    the method's id and its walk, separated by a space
    engine  the numbered release of the engine that labelled the row; None if its version is a
            digest or its walk is unknown, so that the current label table applies
    """

    name: str
    engine: EngineRelease | None
    change: MethodChange
    cause: BreakageCause | None
    label: Label | None
    track: str | None
    label_by_module: Label | None
    track_by_module: str | None
    sandbox: str
    cells: Mapping[Cell, CellEvidence]


def load_labelled_rows(connection: duckdb.DuckDBPyConnection) -> Iterator[LabelledRow]:
    """Yield all method rows of a snapshot, ordered by id and walk."""
    columns = ', '.join(f'{cell}, {cell}_unit, {cell}_passes, {cell}_runs' for cell in CELL_ORDER)
    sql = (
        "SELECT method_id || ' ' || walk, language, r.engine_version, change, cause, label, track, label_by_module, "
        f'track_by_module, m.sandbox, {columns} FROM methods m '
        'LEFT JOIN repositories r USING (repo, language, walk) ORDER BY method_id, walk'
    )
    result = connection.execute(sql)
    while batch := result.fetchmany(10_000):
        for (
            name,
            language,
            version,
            change,
            cause,
            own,
            track,
            by_module,
            module_track,
            sandbox,
            *cells,
        ) in batch:
            yield LabelledRow(
                name=name,
                engine=_parse_engine(language, version),
                change=MethodChange(change),
                cause=cause and BreakageCause(cause),
                label=own and Label(own),
                track=track,
                label_by_module=by_module and Label(by_module),
                track_by_module=module_track,
                sandbox=sandbox,
                cells=dict(_parse_cells(cells)),
            )


def _parse_engine(language: str, version: str | None) -> EngineRelease | None:
    """Return the numbered release of an engine; None for a digest, which has the current table."""
    is_number = version is not None and version.isdecimal() and len(version) < 4
    return EngineRelease(language=language, version=int(version or 0)) if is_number else None


def find_contradictions(row: LabelledRow) -> Iterator[tuple[str, str]]:
    """Yield the name of each rule that a row breaks, with a phrase that says what was found.

    Nothing for a row whose labels, tracks and evidence follow from its cells.
    """
    outcomes = {cell: item.outcome for cell, item in row.cells.items()}
    units = {cell: item.unit for cell, item in row.cells.items()}
    expected = decide_label(row.change, outcomes, engine=row.engine)
    by_module = decide_published_label(row.change, units, engine=row.engine)
    if isinstance(expected, Label):
        expected = adjust_label_by_cause(expected, row.cause)
    if row.label != _label_or_none(expected):
        yield 'label', f'{row.label}, but the cells say {expected}'
    if row.label_by_module != _label_or_none(by_module):
        yield 'label_by_module', f'{row.label_by_module}, but the cells say {by_module}'
    if row.label is None and row.label_by_module is None:
        yield 'unlabelled', str(expected)
    # A method may lose its track because of its cause; the verdict by module has no cause.
    if row.track not in (None, row.label and TRACKS.get(row.label)):
        yield 'track', f'{row.track} beside the label {row.label}'
    if row.track_by_module != (row.label_by_module and TRACKS.get(row.label_by_module)):
        yield 'track_by_module', f'{row.track_by_module} beside {row.label_by_module}'
    yield from _find_evidence_contradictions(row)


def _find_evidence_contradictions(row: LabelledRow) -> Iterator[tuple[str, str]]:
    if row.sandbox == 'none':
        yield 'sandbox', 'none'
    outcomes = {cell: item.outcome for cell, item in row.cells.items()}
    for cell in find_deciding_cells_of_row(row.change, outcomes, engine=row.engine):
        item = row.cells[cell]
        if row.label is None and item.unit is Outcome.COMPILE_ERROR:
            continue  # the label rests on Maven's verdict, which needs no run
        if item.outcome is None or item.passes is None or item.runs is None:
            yield 'evidence', f'{cell} was not run'
        elif item.runs < _count_required_runs(item.outcome):
            yield 'evidence', f'{cell} is {item.outcome} after {item.runs} runs'
        elif item.passes != (item.runs if item.outcome is Outcome.PASS else 0):
            yield 'flaky', f'{cell} is {item.outcome}, but passed {item.passes} of {item.runs} runs'


def _count_required_runs(outcome: Outcome) -> int:
    if outcome is Outcome.COMPILE_ERROR:
        return 1
    return LEAST_TIMEOUTS if outcome is Outcome.TIMEOUT else LEAST_RUNS


def _label_or_none(found: Label | str) -> Label | None:
    return found if isinstance(found, Label) else None


def _parse_cells(columns: list[str | int | None]) -> Iterator[tuple[Cell, CellEvidence]]:
    for index, cell in enumerate(CELL_ORDER):
        outcome, unit, passes, runs = columns[4 * index : 4 * index + 4]
        assert not isinstance(passes, str)
        assert not isinstance(runs, str)
        yield (
            cell,
            CellEvidence(
                outcome=None if outcome is None else Outcome(str(outcome)),
                unit=None if unit is None else Outcome(str(unit)),
                passes=passes,
                runs=runs,
            ),
        )
