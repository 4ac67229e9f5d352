"""All rows of a store, as a release takes them: one segment for each pair, in no one's order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from datetime import UTC
from datetime import datetime
from itertools import chain
from operator import attrgetter
from typing import TypeVar

from coevo.model.errors import Fatal
from coevo.model.quality import ExecutedRow
from coevo.model.quality import MutantRow
from coevo.model.quality import RefactoringRow
from coevo.model.quality import ReversalRow
from coevo.model.records import Change
from coevo.model.records import Drop
from coevo.model.records import Walk
from coevo.model.schema import KEYS
from coevo.model.tables import CellRow
from coevo.model.tables import EnvironmentRow
from coevo.model.tables import MethodRow
from coevo.model.tables import PairRow
from coevo.model.tables import RepositoryRow
from coevo.model.tables import Segment
from coevo.model.tables import StartRow
from coevo.model.tables import TaskRow
from coevo.model.tables import TimingRow
from coevo.model.tables import WithdrawnRow
from coevo.storage import reverifications
from coevo.storage.reverifications import Reverified
from coevo.storage.store import Mined
from coevo.storage.store import Partition
from coevo.storage.store import Store
from coevo.storage.walks import WalkRecord
from packagers.sameness import Identity
from packagers.sameness import edit
from packagers.sameness import groups
from packagers.sameness import path_in_module

# A test that did not change meets another change of the code in every pair: no copy of itself.
_EDITED = (Change.INSERTED, Change.CHANGED, Change.DELETED)
_LATEST = datetime.max.replace(tzinfo=UTC)

_ENVIRONMENT = attrgetter('pair_id', 'module')
_START = attrgetter('pair_id', 'walk', 'track', 'test_file')

Row = TypeVar('Row')


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What becomes the tables of a snapshot; `environments` and `starts` serve the
    making of tasks only.

    keys        of the segment of each (pair_id, walk)
    reverified  what was run again of such segments, or of others of the same pairs
    unmined     how many pairs of a partition are still to be mined, where there are any
    """

    repositories: tuple[RepositoryRow, ...]
    pairs: tuple[PairRow, ...]
    methods: tuple[MethodRow, ...]
    cells: tuple[CellRow, ...]
    drops: tuple[Drop, ...]
    timings: tuple[TimingRow, ...]
    environments: tuple[EnvironmentRow, ...]
    dependency_map: tuple[ExecutedRow, ...] = ()
    mutants: tuple[MutantRow, ...] = ()
    reversals: tuple[ReversalRow, ...] = ()
    refactorings: tuple[RefactoringRow, ...] = ()
    tasks: tuple[TaskRow, ...] = ()
    withdrawn: tuple[WithdrawnRow, ...] = ()
    keys: Mapping[tuple[str, Walk], str] = field(default_factory=dict)
    reverified: tuple[Reverified, ...] = ()
    starts: tuple[StartRow, ...] = ()
    unmined: Mapping[Partition, int] = field(default_factory=dict)


def gather(store: Store) -> Rows:
    """Every partition's rows, sorted; Fatal if there are none or they may not be released."""
    partitions = store.partitions()
    if not partitions:
        raise Fatal(f'{store.root} holds nothing: mine a repository first (coevo mine)')
    # Each once: who mines meanwhile adds to what was read, and to what is read after it.
    mined = {partition: store.mined(partition) for partition in partitions}
    segments = [segment for each in mined.values() for segment in each.segments]
    walks = [each.walk for each in mined.values()]

    def of(table: str, part: Callable[[Segment], Iterable[Row]]) -> tuple[Row, ...]:
        return ordered(table, chain.from_iterable(map(part, segments)))

    found = Rows(
        repositories=ordered('repositories', map(_reached, mined.values())),
        pairs=ordered('pairs', (segment.pair for segment in segments)),
        methods=of('methods', lambda segment: segment.methods),
        cells=of('cells', lambda segment: segment.cells),
        dependency_map=of('dependency_map', lambda segment: segment.executed),
        mutants=of('mutants', lambda segment: segment.mutants),
        reversals=of('reversals', lambda segment: segment.reversals),
        refactorings=of('refactorings', lambda segment: segment.refactorings),
        drops=ordered('drops', chain(_drops(walks), _drops(segments))),
        timings=of('timings', lambda segment: segment.timings),
        environments=_sorted({row for one in segments for row in one.environments}, _ENVIRONMENT),
        starts=_sorted((row for one in segments for row in one.starts), _START),
        keys={(s.pair.pair_id, s.pair.walk): s.key for s in segments},
        unmined={part: len(each.unmined) for part, each in mined.items() if each.unmined},
        reverified=tuple(
            record
            for partition in partitions
            for record in reverifications.records(store.place, partition)
        ),
    )
    _refuse_unsafe(found)
    return found


def _drops(found: Iterable[WalkRecord | Segment]) -> Iterator[Drop]:
    return (drop for one in found for drop in one.drops)


def _sorted(rows: Iterable[Row], key: Callable[[Row], tuple[str, ...]]) -> tuple[Row, ...]:
    return tuple(sorted(rows, key=key))


def ordered(table: str, rows: Iterable[Row]) -> tuple[Row, ...]:
    """The rows of a table by repository and key, whatever their order."""

    def place(row: Row) -> tuple[object, ...]:
        return (getattr(row, 'repo', ''), *(getattr(row, name) for name in KEYS[table]))

    return tuple(sorted(rows, key=place))


def mark_duplicates(rows: Rows) -> tuple[MethodRow, ...]:
    """The methods, `duplicate_of` pointing to the earliest edit of the same test to the same text.

    Branches, cherry-picks and merges repeat an edit in other pairs of the walk, forks in theirs. What
    a pair of branches that interleave repeats is never the original of a pair that somebody made.
    """
    families = {row.repo: row.family or row.repo for row in rows.repositories}

    def identity(row: MethodRow) -> Identity:
        verdict = (families[row.repo], row.language, row.walk, row.label, row.label_by_module)
        content = (*verdict, path_in_module(row), edit([row]))
        return Identity(content=content, repo=row.repo, path=f'{row.module} {row.test_file}')

    edited = (row for row in rows.methods if row.change in _EDITED)
    dates = {(pair.pair_id, pair.walk): pair.new_committer_date for pair in rows.pairs}
    first_of = dict(_copies(groups(edited, identity), dates))
    return tuple(
        dataclasses.replace(row, duplicate_of=first_of.get((row.method_id, row.walk)))
        for row in rows.methods
    )


def _copies(
    found: Iterable[Sequence[MethodRow]], dates: Mapping[tuple[str, Walk], datetime | None]
) -> Iterator[tuple[tuple[str, Walk], str]]:
    def age(row: MethodRow) -> tuple[bool, datetime, str, str]:
        date = dates.get((row.pair_id, row.walk)) or _LATEST
        return row.old_is_ancestor is False, date, row.repo, row.pair_id

    for group in found:
        first, *copies = sorted(group, key=age)
        for row in copies:
            yield (row.method_id, row.walk), first.method_id


def _reached(mined: Mined) -> RepositoryRow:
    """A cutoff that was not given is the newest commit's date: no clock is asked."""
    dates = (segment.pair.new_committer_date for segment in mined.segments)
    repository = mined.walk.repository
    cutoff = repository.cutoff or max(filter(None, dates), default=None)
    return dataclasses.replace(repository, cutoff=cutoff)


def _refuse_unsafe(rows: Rows) -> None:
    seen = {(row.repo, row.sandbox) for row in rows.pairs}
    seen |= {(row.repo, row.sandbox) for row in rows.methods}
    for repo, sandbox in sorted(seen):
        if sandbox == 'none':
            raise Fatal(
                f'{repo} was mined with --sandbox none, which is not released: mine it again '
                'in a sandbox, into another --store'
            )
