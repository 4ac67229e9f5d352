"""The label table: a total, pure function from cell outcomes to labels (docs/evidence.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from coevo.model.words import BreakageCause, Cell, Label, MethodChange, Outcome, Track

# Cells are checked in this order, so it decides which cell a drop names.
CELL_ORDER = (Cell.T_OLD_C_OLD, Cell.T_NEW_C_NEW, Cell.T_OLD_C_NEW, Cell.T_NEW_C_OLD)

NO_CHANGED_DEPENDENCY = 'no_changed_dependency'


class CellDemand(Enum):
    """The outcome that a row of the table requires of a cell."""

    PASS = 'pass'
    BROKEN = 'broken'

    def is_met_by(self, outcome: Outcome) -> bool:
        """Return whether an outcome satisfies the requirement."""
        return outcome.is_broken if self is CellDemand.BROKEN else outcome is Outcome.PASS


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTableRow:
    """One row of the label table.

    demands  the outcomes that the label requires
    if_run   outcomes that it requires of cells that are run for some methods only
    since    the first engine version that gave the label, by language; languages that are absent
             gave it from their first version on
    is_new   whether the row is younger than all engines with a number as their version; no such
             engine gave the label
    """

    label: Label
    change: MethodChange
    demands: Mapping[Cell, CellDemand]
    if_run: Mapping[Cell, CellDemand]
    since: Mapping[str, int]
    is_new: bool = False

    def allows(self, cell: Cell, outcome: Outcome) -> bool:
        """Return whether the label remains possible if a cell has an outcome.

        True for a cell of which the row requires nothing.
        """
        demand = self.demands.get(cell) or self.if_run.get(cell)
        return demand is None or demand.is_met_by(outcome)


def _make_row(
    label: Label,
    change: MethodChange,
    since: Mapping[str, int] | None = None,
    if_run: Mapping[Cell, CellDemand] | None = None,
    *,
    is_new: bool = False,
    **demands: CellDemand,
) -> LabelTableRow:
    return LabelTableRow(
        label=label,
        change=change,
        demands={Cell(name): want for name, want in demands.items()},
        if_run=if_run or {},
        since=since or {},
        is_new=is_new,
    )


P, B = CellDemand.PASS, CellDemand.BROKEN

TABLE = (
    _make_row(Label.UPDATE, MethodChange.CHANGED, t_old_c_old=P, t_new_c_new=P, t_old_c_new=B),
    _make_row(
        Label.EXTENSION,
        MethodChange.CHANGED,
        is_new=True,
        t_old_c_old=P,
        t_new_c_new=P,
        t_old_c_new=P,
        t_new_c_old=B,
    ),
    _make_row(Label.REFINEMENT, MethodChange.CHANGED, t_old_c_old=P, t_new_c_new=P, t_old_c_new=P),
    _make_row(Label.REPAIR, MethodChange.CHANGED, t_old_c_old=B, t_new_c_new=P, t_old_c_new=B),
    _make_row(
        Label.CURED_BY_CODE, MethodChange.CHANGED, t_old_c_old=B, t_new_c_new=P, t_old_c_new=P
    ),
    _make_row(Label.GENERATION, MethodChange.INSERTED, t_new_c_new=P, t_new_c_old=B),
    _make_row(Label.REDUNDANT, MethodChange.INSERTED, t_new_c_new=P, t_new_c_old=P),
    _make_row(
        Label.UNAFFECTED,
        MethodChange.UNCHANGED,
        if_run={Cell.T_OLD_C_NEW: P},
        t_old_c_old=P,
        t_new_c_new=P,
    ),
    _make_row(
        Label.BROKEN_BY_CHANGE,
        MethodChange.UNCHANGED,
        if_run={Cell.T_OLD_C_NEW: B},
        t_old_c_old=P,
        t_new_c_new=B,
    ),
    _make_row(
        Label.FIXTURE_UPDATE,
        MethodChange.CONTEXT_CHANGED,
        t_old_c_old=P,
        t_new_c_new=P,
        t_old_c_new=B,
    ),
    _make_row(
        Label.FIXTURE_REFINEMENT,
        MethodChange.CONTEXT_CHANGED,
        {'java': 5},
        t_old_c_old=P,
        t_new_c_new=P,
        t_old_c_new=P,
    ),
    _make_row(Label.OBSOLETE, MethodChange.DELETED, t_old_c_old=P, t_old_c_new=B),
    _make_row(Label.RETIRED, MethodChange.DELETED, t_old_c_old=P, t_old_c_new=P),
)

TRACKS = {
    Label.GENERATION: Track.GENERATION,
    Label.UPDATE: Track.UPDATE,
    Label.EXTENSION: Track.EXTENSION,
    Label.REPAIR: Track.REPAIR,
}


# The broken cell that decides a label; labels without one are absent.
BROKEN_CELL = {
    Label.UPDATE: Cell.T_OLD_C_NEW,
    Label.REPAIR: Cell.T_OLD_C_NEW,
    Label.CURED_BY_CODE: Cell.T_OLD_C_OLD,
    Label.GENERATION: Cell.T_NEW_C_OLD,
    Label.EXTENSION: Cell.T_NEW_C_OLD,
    Label.BROKEN_BY_CHANGE: Cell.T_NEW_C_NEW,
    Label.FIXTURE_UPDATE: Cell.T_OLD_C_NEW,
    Label.OBSOLETE: Cell.T_OLD_C_NEW,
}


# The cell that tells an extension from a refinement. It is run if all other cells pass.
LATER_CELL = Cell.T_NEW_C_OLD

# The cell that is also run if all cells are wanted, and the labels that it is run for. It decides
# nothing.
RECORDED_CELL = Cell.T_NEW_C_OLD
RECORDED_LABELS = (Label.UPDATE, Label.REPAIR, Label.REFINEMENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRelease:
    """A version of one language's engine, which determines the rows of the table in force."""

    language: str
    version: int

    def has_row(self, row: LabelTableRow) -> bool:
        """Return whether this release could give the row's label."""
        return not row.is_new and row.since.get(self.language, 1) <= self.version


def select_rows(
    change: MethodChange, engine: EngineRelease | None = None
) -> tuple[LabelTableRow, ...]:
    """Return an engine release's rows for a kind of change; None selects today's rows."""
    return tuple(
        row for row in TABLE if row.change is change and (engine is None or engine.has_row(row))
    )


def list_deciding_cells(
    change: MethodChange, *, surroundings_differ: bool = False
) -> tuple[Cell, ...]:
    """Return the cells that are run for all methods with a change, in the order of `CELL_ORDER`.

    A changed method is run in `LATER_CELL` only where `can_be_extension` says so.
    surroundings_differ  whether the test trees of the revisions differ in anything beside the
                         method's own body, so that an unchanged method needs `t_old_c_new` as well
    """
    rows = select_rows(change)
    wanted = {cell for row in rows for cell in row.demands}
    if surroundings_differ:
        wanted |= {cell for row in rows for cell in row.if_run}
    if change is MethodChange.CHANGED:
        wanted.discard(LATER_CELL)
    return tuple(cell for cell in CELL_ORDER if cell in wanted)


def find_deciding_cells_of_row(
    change: MethodChange,
    outcomes: Mapping[Cell, Outcome | None],
    *,
    engine: EngineRelease | None = None,
) -> tuple[Cell, ...]:
    """Return the cells that decide the label of a method, given the outcomes in its row.

    outcomes  the outcome of each cell of the row; None, or no entry, if the cell was not run
    engine    as for `decide_label`: `LATER_CELL` was only recorded before there were extensions
    """
    ran = outcomes.get(Cell.T_OLD_C_NEW) is not None
    cells = list_deciding_cells(change, surroundings_differ=ran)
    knows_later_cell = any(LATER_CELL in row.demands for row in select_rows(change, engine))
    is_later = knows_later_cell and _depends_on_later_cell(change, outcomes)
    return (*cells, LATER_CELL) if is_later else cells


def _depends_on_later_cell(change: MethodChange, outcomes: Mapping[Cell, Outcome | None]) -> bool:
    """Return whether the verdict of `LATER_CELL` decides the label."""
    later = outcomes.get(LATER_CELL)
    return (
        can_be_extension(change, outcomes)
        and later is not None
        and (later is Outcome.PASS or later.is_broken)
    )


def can_be_extension(change: MethodChange, outcomes: Mapping[Cell, Outcome | None]) -> bool:
    """Return whether `LATER_CELL` has to be run: all other cells of a changed method pass."""
    others = (outcomes.get(cell) for cell in CELL_ORDER if cell is not LATER_CELL)
    return change is MethodChange.CHANGED and all(other is Outcome.PASS for other in others)


def correct_change_by_cells(
    change: MethodChange, cells: Mapping[Cell, Outcome | None]
) -> MethodChange:
    """Return CONTEXT_CHANGED for an unchanged method whose cells show that, else the change given.

    `t_old_c_new` and `t_new_c_new` run the same body of an unchanged method on the same code. If
    one of them passes, or is broken, and the other is not, then something in the test tree differs
    that the method uses, however it reaches the method.
    """
    if change is not MethodChange.UNCHANGED:
        return change
    with_old_test, with_new_test = cells.get(Cell.T_OLD_C_NEW), cells.get(Cell.T_NEW_C_NEW)
    if (
        with_old_test is None
        or with_new_test is None
        or _replace_broken_by_none(with_old_test) == _replace_broken_by_none(with_new_test)
    ):
        return change
    return MethodChange.CONTEXT_CHANGED


def _replace_broken_by_none(outcome: Outcome) -> Outcome | None:
    """Return None for every broken outcome, and any other outcome unchanged.

    Labels do not distinguish broken outcomes.
    """
    return None if outcome.is_broken else outcome


def decide_label(
    change: MethodChange,
    cells: Mapping[Cell, Outcome | None],
    *,
    dependency_changed: bool = True,
    engine: EngineRelease | None = None,
) -> Label | str:
    """Return the label, or the reason of the drop: the first contradicting cell and its outcome.

    A cell that was not run contradicts as `<cell>_not_run`, unless it is run for some methods only.
    An unchanged test without a changed dependency is not a candidate: `no_changed_dependency`.

    engine  the release whose table applies, for rows that an earlier engine labelled; None is the
            current one
    """
    if change is MethodChange.UNCHANGED and not dependency_changed:
        return NO_CHANGED_DEPENDENCY
    open_rows = select_rows(change, engine)
    for cell in find_deciding_cells_of_row(change, cells, engine=engine):
        outcome = cells.get(cell)
        if outcome is None:
            return f'{cell}_not_run'
        open_rows = tuple(row for row in open_rows if row.allows(cell, outcome))
        if not open_rows:
            return f'{cell}_{outcome}'
    return next(
        row.label
        for row in open_rows
        if all(
            (outcome := cells.get(cell)) is not None and row.allows(cell, outcome)
            for cell in row.demands
        )
    )


def decide_published_label(
    change: MethodChange,
    cells: Mapping[Cell, Outcome | None],
    *,
    engine: EngineRelease | None = None,
) -> Label | str:
    """Return what `decide_label` returns, but a refinement for an extension.

    That is the table of TestEvo-Bench, which has no extensions.
    """
    label = decide_label(change, cells, engine=engine)
    return Label.REFINEMENT if label is Label.EXTENSION else label


def adjust_label_by_cause(label: Label, cause: BreakageCause | None) -> Label:
    """Return the label of a method once the cause of its broken cell is known.

    An extension becomes a refinement unless the cause is the production code: its new version then
    fails on the old code for another reason, such as a library. All other labels stay as they are.
    """
    is_extended = label is Label.EXTENSION and cause is not BreakageCause.PRODUCTION
    return Label.REFINEMENT if is_extended else label


def list_contradiction_reasons(engine: EngineRelease | None = None) -> tuple[str, ...]:
    """Return every reason for a drop that `decide_label` can derive from a cell, in a fixed order.

    Examples: `t_old_c_old_fail`, `t_new_c_new_not_run`. None as the engine is the current one.
    """
    reasons = {
        f'{cell}_{outcome}': None
        for change in MethodChange
        for cell in list_deciding_cells(change)
        for outcome in (*Outcome, 'not_run')
        if outcome == 'not_run'
        or not any(
            row.allows(cell, Outcome(outcome))
            for row in select_rows(change, engine)
            if cell in row.demands
        )
    }
    return tuple(reasons)


def list_former_contradiction_reasons() -> tuple[str, ...]:
    """Return the reasons that only earlier engines gave; released data still holds them."""
    earlier = [
        EngineRelease(language=language, version=first - 1)
        for row in TABLE
        for language, first in row.since.items()
    ]
    reasons = dict.fromkeys(
        reason for engine in earlier for reason in list_contradiction_reasons(engine)
    )
    return tuple(reason for reason in reasons if reason not in list_contradiction_reasons())
