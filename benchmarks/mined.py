"""What the engine said of every cell of a store, with the test method that it is about."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from benchmarks.oracles.benches import load_pair
from benchmarks.oracles.driver import Place
from benchmarks.oracles.java_cell import CellTarget
from coevo.engine.results import WORST_FIRST
from coevo.git.repository import Repository
from coevo.model.pair_rows import CellRow, PairRow
from coevo.model.profiles import load_profile
from coevo.model.records import TestMethod, compute_candidate_id
from coevo.model.segment import Segment
from coevo.model.words import Cell, Outcome
from coevo.storage.clone_folders import locate_clone
from coevo.storage.store import Partition, Store
from filters import filter_candidates
from miners.diffs.changes import diff_pair

Key = TypeVar('Key', bound=Hashable)

# Characters of a revision in tables.
REV = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedCell:
    """One method in one cell; outcomes are the worst over its runs, as in a released row."""

    pair: PairRow
    cell: Cell
    method: TestMethod
    method_id: str
    outcome: Outcome
    unit_outcome: Outcome
    signature: str | None
    override: str | None
    agreed: bool  # all runs gave the same outcome

    @property
    def place(self) -> Place:
        return locate_cell(self.pair, self.cell, self.method)

    @property
    def target(self) -> CellTarget:
        return CellTarget(method=self.method)

    @property
    def name(self) -> str:
        method = self.method
        return f'{method.test_class}#{method.test_method}({",".join(method.parameters)})'


def locate_cell(pair: PairRow, cell: Cell, method: TestMethod) -> Place:
    """Give the revisions of a cell, and the method's module."""
    return Place(
        tests_rev=pair.new_rev if cell.tests_are_new else pair.old_rev,
        code_rev=pair.new_rev if cell.code_is_new else pair.old_rev,
        module=method.module,
    )


def open_clone(store: Path, repo: str) -> Repository:
    """Open a store's clone of a repository."""
    return Repository(locate_clone(store, repo))


def list_mined_cells(store: Path, partition: Partition, profile: str) -> Iterator[MinedCell]:
    """List all cells of a partition that were decided, in the order of the store."""
    repository = open_clone(store, partition.repo)
    for segment in Store(store).load_current_segments(partition):
        if segment.cells:
            yield from _list_cells(repository, segment, profile)


def group_cells(
    cells: Iterable[MinedCell], key: Callable[[MinedCell], Key]
) -> dict[Key, list[MinedCell]]:
    """Group cells by what a key says of them."""
    groups: dict[Key, list[MinedCell]] = {}
    for cell in cells:
        groups.setdefault(key(cell), []).append(cell)
    return groups


def sample_pairs(
    cells: Iterable[MinedCell], count: int, chance: random.Random
) -> list[list[MinedCell]]:
    """Draw pairs, with all of their cells."""
    by_pair = group_cells(cells, lambda cell: cell.pair.pair_id)
    return [by_pair[id_] for id_ in chance.sample(sorted(by_pair), min(count, len(by_pair)))]


def _list_cells(repository: Repository, segment: Segment, profile: str) -> Iterator[MinedCell]:
    pair = load_pair(repository, segment.pair)
    # Rows of what was dropped name nothing else than the ids of these.
    kept, _ = filter_candidates(diff_pair(repository, pair), load_profile(profile))
    candidates = {compute_candidate_id(pair, candidate): candidate for candidate in kept}
    runs: dict[tuple[str, Cell], list[CellRow]] = {}
    for row in segment.cells:
        runs.setdefault((row.method_id, row.cell), []).append(row)
    for (owner, cell), rows in runs.items():
        if owner not in candidates:  # mined by another version or profile
            continue
        method = candidates[owner].new if cell.tests_are_new else candidates[owner].old
        assert method is not None, 'a cell has a test at its revision'
        worst = min(rows, key=lambda row: WORST_FIRST.index(row.outcome))
        yield MinedCell(
            pair=segment.pair,
            cell=cell,
            method=method,
            method_id=owner,
            outcome=worst.outcome,
            unit_outcome=worst.unit_outcome,
            signature=worst.signature,
            override=worst.override,
            agreed=len({row.outcome for row in rows}) == 1,
        )
