"""All rows that one pair yields.

`coevo.model.schema` maps them to Arrow, `coevo.storage.store` keeps them by segment, and
`packagers.release` writes them. A column that a later step fills in is None until then.
"""

from __future__ import annotations

from dataclasses import dataclass

from coevo.model.drops import Drop
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import CellRow, EnvironmentRow, PairRow, TimingRow
from coevo.model.quality import ExecutedRow, MutantRow, RefactoringRow, ReversalRow
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
