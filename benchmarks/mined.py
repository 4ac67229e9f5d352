"""What the engine said of every cell of a store, with the test method that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.oracles.cell import Place
from coevo.engine.results import WORST_FIRST
from coevo.git.repository import Repository
from coevo.model.pair_rows import CellRow, PairRow
from coevo.model.profiles import load_profile
from coevo.model.records import Candidate, Pair, TestMethod, compute_candidate_id
from coevo.model.segment import Segment
from coevo.model.words import Cell, Outcome, Walk
from coevo.storage.clone_folders import locate_clone
from coevo.storage.store import Partition, Store
from filters import filter_candidates
from miners.diffs.changes import diff_pair


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
        row = self.pair
        return Place(
            tests_rev=row.new_rev if self.cell.tests_are_new else row.old_rev,
            code_rev=row.new_rev if self.cell.code_is_new else row.old_rev,
            module=self.method.module,
        )

    @property
    def runtime(self) -> str:
        """The version of the JDK or interpreter that ran it."""
        assert self.pair.runtime is not None, 'what ran has a runtime'
        return self.pair.runtime

    @property
    def name(self) -> str:
        method = self.method
        return f'{method.test_class}#{method.test_method}({",".join(method.parameters)})'


def open_clone(store: Path, repo: str) -> Repository:
    return Repository(locate_clone(store, repo))


def partitions(store: Path) -> tuple[Partition, ...]:
    return Store(store).list_partitions()


def mined_cells(store: Path, partition: Partition, profile: str) -> Iterator[MinedCell]:
    """All cells of a partition that were decided, in the order of the store."""
    repository = open_clone(store, partition.repo)
    for segment in Store(store).load_segments(partition):
        if segment.cells:
            yield from _cells(repository, segment, profile)


def pair_of(repository: Repository, row: PairRow) -> Pair:
    return Pair(
        repo=row.repo,
        language=row.language,
        walk=Walk(row.walk),
        old=repository.get_commit(row.old_rev),
        new=repository.get_commit(row.new_rev),
        old_is_ancestor=row.old_is_ancestor,
    )


def candidates(repository: Repository, pair: Pair, profile: str) -> dict[str, Candidate]:
    """What was worth running, by method id: rows of what was dropped name nothing else."""
    kept, _ = filter_candidates(diff_pair(repository, pair), load_profile(profile))
    return {compute_candidate_id(pair, item): item for item in kept}


def _cells(repository: Repository, segment: Segment, profile: str) -> Iterator[MinedCell]:
    known = candidates(repository, pair_of(repository, segment.pair), profile)
    runs: dict[tuple[str, Cell], list[CellRow]] = {}
    for row in segment.cells:
        runs.setdefault((row.method_id, row.cell), []).append(row)
    for (owner, cell), rows in runs.items():
        method = known[owner].new if cell.tests_are_new else known[owner].old
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
