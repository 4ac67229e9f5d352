"""Gather all rows of a store for a release: one segment for each pair, in a fixed order.

A table may not fit in memory, so its rows are in a file (`packagers.row_files`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from coevo.model.errors import Fatal
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import CellRow, EnvironmentRow, PairRow, TimingRow
from coevo.model.quality import ExecutedRow, MutantRow, RefactoringRow, ReversalRow
from coevo.model.records import Drop
from coevo.model.repository_rows import RepositoryRow
from coevo.model.schema import KEYS, TABLES
from coevo.model.segment import Segment, join_measures
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.task_rows import StartRow, TaskRow, WithdrawnRow
from coevo.model.words import Walk
from coevo.storage import measures, reverifications, withdrawals
from coevo.storage.measures import MeasuresName
from coevo.storage.packed_segments import MinedPartition
from coevo.storage.reverifications import ReverificationRecord
from coevo.storage.store import Partition, Store
from coevo.storage.withdrawals import Withdrawal
from packagers.months import MonthCut
from packagers.row_files import Key, RowFile, Sorter

# The tables of segments, and the attributes that hold their rows.
_OF_SEGMENTS = {
    'pairs': None,
    'methods': 'methods',
    'single_revision': 'single_revision',
    'cells': 'cells',
    'dependency_map': 'executed',
    'mutants': 'mutants',
    'reversals': 'reversals',
    'refactorings': 'refactorings',
    'drops': None,
    'timings': 'timings',
}

Row = TypeVar('Row')


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The tables of a snapshot; `environments` and `starts` are only used to build tasks.

    keys        the segment's key for each (pair_id, walk)
    withdrawals tasks, pairs and repositories that a person withdrew
    reverified  repeated runs of these segments, or of other segments of the same pairs
    unmined     the number of unmined pairs of each partition that has some
    space       the folder for files of rows; None uses the default for temporary files
    """

    repositories: Sequence[RepositoryRow]
    pairs: Sequence[PairRow]
    methods: Sequence[MethodRow]
    cells: Sequence[CellRow]
    drops: Sequence[Drop]
    timings: Sequence[TimingRow]
    environments: Sequence[EnvironmentRow]
    dependency_map: Sequence[ExecutedRow] = ()
    mutants: Sequence[MutantRow] = ()
    reversals: Sequence[ReversalRow] = ()
    single_revision: Sequence[SingleRevisionRow] = ()
    refactorings: Sequence[RefactoringRow] = ()
    tasks: Sequence[TaskRow] = ()
    withdrawn: Sequence[WithdrawnRow] = ()
    keys: Mapping[tuple[str, Walk], str] = field(default_factory=dict)
    reverified: tuple[ReverificationRecord, ...] = ()
    withdrawals: tuple[Withdrawal, ...] = ()
    starts: Sequence[StartRow] = ()
    unmined: Mapping[Partition, int] = field(default_factory=dict)
    space: Path | None = None

    def replace_tables(self, **tables: Iterable[Any]) -> Rows:
        """Return these rows with some tables replaced; the new tables are sorted."""
        new: dict[str, Any] = {
            name: sort_rows(name, rows, self.space) for name, rows in tables.items()
        }
        return dataclasses.replace(self, **new)


class _RowGatherer:
    """Collects the rows of segments by table, each table in its order."""

    def __init__(self, space: Path | None) -> None:
        self.space = space
        self.keys: dict[tuple[str, Walk], str] = {}
        self.environments = Sorter(EnvironmentRow, space)
        self.starts = Sorter(StartRow, space)
        self._tables: dict[str, Sorter[Any]] = {
            name: Sorter(TABLES[name], space) for name in _OF_SEGMENTS
        }

    def add_rows(self, name: str, rows: Iterable[Any]) -> None:
        """Add rows to a table."""
        for row in rows:
            self._tables[name].add(_get_sort_key(name, row), row)

    def add_drops(self, language: str, drops: Iterable[Drop]) -> None:
        """Add drops with the language of their walk, which drops from before schema 2.2 lack."""
        self.add_rows('drops', (dataclasses.replace(drop, language=language) for drop in drops))

    def add_segment(self, repo: str, segment: Segment) -> None:
        """Add all rows of a segment; Fatal if it was mined without a sandbox."""
        _refuse_unsandboxed_rows(segment)
        self.keys[segment.pair.pair_id, segment.pair.walk] = segment.key
        self.add_rows('pairs', [segment.pair])
        self.add_drops(segment.pair.language, segment.drops)
        for name, part in _OF_SEGMENTS.items():
            self.add_rows(name, getattr(segment, part) if part else ())
        for environment in segment.environments:
            self.environments.add((repo, environment.pair_id, environment.module), environment)
        for start in segment.starts:
            start_key = (start.pair_id, str(start.walk), str(start.track), start.test_file)
            self.starts.add((repo, *start_key), start)

    def finish_tables(self) -> dict[str, Sequence[Any]]:
        """Return the sorted rows of each table."""
        return {name: sorter.finish() for name, sorter in self._tables.items()}


def gather_rows(store: Store, space: Path | None = None, month: MonthCut | None = None) -> Rows:
    """Return the rows of all partitions of a store, sorted.

    Environments and starts are sorted by repository; a pair that several walks have is in them
    several times.

    month  selects what belongs to a month; None takes everything

    Raises: Fatal if there are none, or one was mined without a sandbox.
    """
    partitions = store.list_partitions()
    if not partitions:
        raise Fatal(f'{store.root} holds nothing: mine a repository first (coevo mine)')
    gathering = _RowGatherer(space)
    repositories: list[RepositoryRow] = []
    unmined: dict[Partition, int] = {}
    reverified: list[ReverificationRecord] = []
    for partition in partitions:
        # Read this once: concurrent mining may add segments between two reads.
        mined = (
            month.select_mined(store, partition) if month else store.load_mined_partition(partition)
        )
        if mined is None:
            continue
        gathering.add_drops(partition.language, mined.walk.drops)
        names = measures.find_latest_measures(store.storage, partition)
        if month is not None:
            names = month.select_measures_if_fixed(store, partition, names)
        row, keys = _gather_partition(gathering, store, partition, mined, names)
        repositories.append(row)
        if mined.unmined:
            unmined[partition] = len(mined.unmined)
        again = tuple(reverifications.load_reverifications(store.storage, partition))
        if month is not None:
            again = tuple(month.filter_reverified_if_fixed(partition, again))
            month.add_partition(partition, mined, keys, again, names)
        reverified += again
    taken_back = withdrawals.list_withdrawals(store.storage)
    if month is not None:
        month.check_over_and_not_empty(store.root)
    return Rows(
        repositories=sort_rows('repositories', repositories, space),
        **gathering.finish_tables(),
        environments=gathering.environments.finish(),
        starts=gathering.starts.finish(),
        keys=gathering.keys,
        unmined=unmined,
        reverified=tuple(reverified),
        withdrawals=month.record_or_filter_withdrawals(taken_back) if month else taken_back,
        space=space,
    )


def _gather_partition(
    gathering: _RowGatherer,
    store: Store,
    partition: Partition,
    mined: MinedPartition,
    names: Mapping[str, MeasuresName],
) -> tuple[RepositoryRow, Mapping[str, str]]:
    """Add the segments of a partition; return its row, and the keys of its segments by pair.

    names  the measures to join, by the key of their segment

    If no cutoff was given, it is the date of the newest commit, not the current time.
    """
    newest: datetime | None = None
    keys: dict[str, str] = {}
    for segment in mined.segments:
        name = names.get(segment.key)
        record = measures.load_measures(store.storage, partition, name) if name else None
        gathering.add_segment(partition.repo, join_measures(segment, record))
        keys[segment.pair.pair_id] = segment.key
        date = segment.pair.new_committer_date
        newest = max(filter(None, (newest, date)), default=None)
    repository = mined.walk.repository
    return dataclasses.replace(repository, cutoff=repository.cutoff or newest), keys


def sort_rows(table: str, rows: Iterable[Row], space: Path | None = None) -> Sequence[Row]:
    """Return the rows of a table sorted by repository and key."""
    sorter: Sorter[Row] = Sorter(TABLES[table], space)
    for row in rows:
        sorter.add(_get_sort_key(table, row), row)
    return sorter.finish()


def _get_sort_key(table: str, row: object) -> Key:
    names = KEYS[table]
    values = (getattr(row, 'repo', ''), *(getattr(row, name) for name in names))
    return tuple(str(value) if isinstance(value, str) else value for value in values)


def list_rows_of_repo(rows: Sequence[Row], repo: str) -> Iterable[Row]:
    """Return the rows of one repository.

    Rows without a column `repo` are all returned, unless they are in a file sorted by repository.
    """
    if isinstance(rows, RowFile):
        return rows.load_section(repo)
    return (row for row in rows if getattr(row, 'repo', repo) == repo)


def _refuse_unsandboxed_rows(segment: Segment) -> None:
    sandboxes = {segment.pair.sandbox, *(row.sandbox for row in segment.methods)}
    if 'none' in sandboxes:
        raise Fatal(
            f'{segment.pair.repo} was mined with --sandbox none, which is not released: mine it '
            'again in a sandbox, into another --store'
        )
