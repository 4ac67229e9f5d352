"""Segments written by the tests: small, whole, and such that verification finds nothing."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from coevo.model import codec
from coevo.model.dependencies import Dependency, Revised
from coevo.model.labels import TRACKS, decide_label, list_deciding_cells
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import CellRow, Environment, EnvironmentRow, PairRow, TimingRow
from coevo.model.quality import (
    ExecutedRow,
    MutantRow,
    Mutation,
    PairEnd,
    RefactoringRow,
    ReversalRow,
    ReversalStatus,
)
from coevo.model.records import Drop, compute_method_id, compute_short_hash
from coevo.model.repository_rows import RepositoryRow
from coevo.model.segment import Segment
from coevo.model.words import BreakageCause, Cell, Label, MethodChange, Outcome, Stage, Walk
from coevo.storage.store import Partition, Store
from coevo.storage.walks import WalkRecord

Moved = TypeVar('Moved', Segment, WalkRecord)

REPO = 'example/ferry'
START = datetime(2024, 1, 1, 12, tzinfo=UTC)
PARTITION = Partition(repo=REPO, language='java', walk=Walk.PARENTS)
RUNS = 3
CODE = '0123456789ab'

P, F, E, C = Outcome.PASS, Outcome.FAIL, Outcome.ERROR, Outcome.COMPILE_ERROR
T, N = (Cell.T_OLD_C_OLD, Cell.T_NEW_C_NEW), (Cell.T_OLD_C_NEW, Cell.T_NEW_C_OLD)
# Of five mutants one did not compile and one was too many; two of three were killed.
MUTATION = Mutation(
    emitted=5,
    compile_failed=1,
    redundant=0,
    capped_out=1,
    not_checked=0,
    count=3,
    equal_compiled=0,
    not_run=0,
    killed=2,
)
UPDATE = {Cell.T_OLD_C_OLD: P, Cell.T_NEW_C_NEW: P, Cell.T_OLD_C_NEW: F}
REFINEMENT = {Cell.T_OLD_C_OLD: P, Cell.T_NEW_C_NEW: P, Cell.T_OLD_C_NEW: P}
GENERATION = {Cell.T_NEW_C_NEW: P, Cell.T_NEW_C_OLD: C}


def rev(number: int) -> str:
    """The id of the commit of that number; a pair leads from `number - 1` to `number`."""
    return hashlib.sha1(str(number).encode()).hexdigest()


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def pair_id(number: int) -> str:
    return compute_short_hash(REPO, 'java', rev(number - 1), rev(number))


def pair(number: int, **changed: Any) -> PairRow:
    row = PairRow(
        engine_version=CODE,
        repo=REPO,
        walk=Walk.PARENTS,
        pair_id=pair_id(number),
        language='java',
        old_rev=rev(number - 1),
        new_rev=rev(number),
        old_author_date=day(number - 1),
        old_committer_date=day(number - 1),
        new_author_date=day(number),
        new_committer_date=day(number),
        gap_hours=24.0,
        old_is_ancestor=True,
        build_changed=False,
        source_changed=True,
        tests_changed=True,
        test_only=False,
        builder_old='maven-loop',
        builder_new='maven-loop',
        build_old='built',
        build_new='built',
        runtime='17',
        tools=('jacoco 0.8', 'refactoring-miner 3.0'),
        candidates=0,
        sandbox='bubblewrap',
    )
    return dataclasses.replace(row, **changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A method of the one test class."""

    test_method: str
    test_file: str = 'src/test/java/ferry/FareTest.java'
    test_class: str = 'ferry.FareTest'
    parameters: tuple[str, ...] = ()


def method_id(number: int, name: str, change: MethodChange = MethodChange.CHANGED) -> str:
    """The id of the method of that name in a pair."""
    return compute_method_id(pair_id(number), change, Declared(test_method=name))


def method(
    number: int, name: str, change: MethodChange, cells: Mapping[Cell, Outcome]
) -> MethodRow:
    """A labelled method of a pair, with the columns that follow from its cells."""
    found = decide_label(change, cells)
    assert isinstance(found, Label)
    track = TRACKS.get(found)
    old, new = change is not MethodChange.INSERTED, change is not MethodChange.DELETED
    return MethodRow(
        method_id=method_id(number, name, change),
        repo=REPO,
        walk=Walk.PARENTS,
        pair_id=pair_id(number),
        language='java',
        old_rev=rev(number - 1),
        new_rev=rev(number),
        old_is_ancestor=True,
        module='.',
        test_file='src/test/java/ferry/FareTest.java',
        test_class='ferry.FareTest',
        test_method=name,
        parameters=(),
        old_module=None,
        old_test_file=None,
        old_test_class=None,
        old_test_method=None,
        change=change,
        label=found,
        track=track,
        label_by_module=found,
        track_by_module=track,
        old_source=f'void {name}() {{ old({number}); }}' if old else None,
        new_source=f'void {name}() {{ now({number}); }}' if new else None,
        **_cell_columns(cells),
        flake_upper_95=0.631597,
        cause=BreakageCause.PRODUCTION if track else None,
        override=None,
        sandbox='bubblewrap',
        focal_method='ferry.Fare#of',
        dependencies=(
            Dependency(
                declaration='public int of(int zones)',
                file='src/main/java/ferry/Fare.java',
                start_line=3,
                end_line=5,
                revised=Revised.MODIFIED,
                rank=1,
            ),
        ),
        dependency_source='static',
        mutation=MUTATION if track else None,
    )


def cell_rows(row: MethodRow) -> Iterator[CellRow]:
    """The runs that a method's columns sum up."""
    for cell in list_deciding_cells(row.change):
        for repeat in range(getattr(row, f'{cell}_runs')):
            yield CellRow(
                repo=row.repo,
                walk=row.walk,
                pair_id=row.pair_id,
                method_id=row.method_id,
                cell=cell,
                repeat=repeat,
                order='given' if getattr(row, f'{cell}_runs') > 1 else 'compile',
                outcome=getattr(row, cell),
                unit_outcome=getattr(row, f'{cell}_unit'),
                signature=getattr(row, f'{cell}_signature'),
                override=None,
            )


def executed(row: MethodRow) -> Iterator[ExecutedRow]:
    """The one production method that a test runs, at both ends."""
    for end in PairEnd:
        yield ExecutedRow(
            **_of(row),
            end=end,
            type='ferry.Fare',
            method='of',
            descriptor='(I)I',
            file='src/main/java/ferry/Fare.java',
            first_line=3,
            last_line=5,
        )


def mutants(row: MethodRow) -> Iterator[MutantRow]:
    """Those that a method's `mutation` counts."""
    killed = row.mutation.killed if row.mutation else None
    for number in range(row.mutation.count if row.mutation else 0):
        dead = killed is not None and number < killed
        yield MutantRow(
            **_of(row),
            mutant_id=compute_short_hash(row.method_id, str(number)),
            file='src/main/java/ferry/Fare.java',
            line=4,
            original='return zones;',
            mutated=f'return {number};',
            equal_compiled=False,
            outcome=F if dead else P,
            signature='fail: here' if dead else None,
            killed=dead,
        )


def reversal(row: MethodRow) -> ReversalRow:
    (dependency,) = row.dependencies
    return ReversalRow(
        **_of(row),
        declaration=dependency.declaration,
        file=dependency.file,
        start_line=dependency.start_line,
        revised=dependency.revised,
        status=ReversalStatus.DETECTED,
        outcome=F,
        signature='fail: here',
    )


def refactoring(number: int) -> RefactoringRow:
    return RefactoringRow(
        repo=REPO,
        walk=Walk.PARENTS,
        pair_id=pair_id(number),
        number=1,
        type='Rename Method',
        description='Rename Method fare(zones int) renamed to of(zones int)',
        left_file='src/main/java/ferry/Fare.java',
        left_start=3,
        left_end=5,
        right_file='src/main/java/ferry/Fare.java',
        right_start=3,
        right_end=5,
    )


def _of(row: MethodRow) -> dict[str, Any]:
    return {
        'repo': row.repo,
        'walk': row.walk,
        'pair_id': row.pair_id,
        'method_id': row.method_id,
    }


def drop(number: int, stage: Stage, key: str, reason: str) -> Drop:
    return Drop(
        repo=REPO,
        walk=Walk.PARENTS,
        pair_id=None if stage is Stage.WALK else pair_id(number),
        stage=stage,
        unit=stage.unit,
        key=key,
        reason=reason,
    )


def segment(number: int, *, key: str = 'engine-1', cpu_seconds: float = 1.5) -> Segment:
    """A pair with an update, a refinement, a generated test, and one drop of filter and label."""
    methods = (
        method(number, 'growsWithZones', MethodChange.CHANGED, UPDATE),
        method(number, 'isNeverNegative', MethodChange.CHANGED, REFINEMENT),
        method(number, f'number{number}', MethodChange.INSERTED, GENERATION),
    )
    drops = (
        drop(number, Stage.FILTER, compute_short_hash(pair_id(number), 'a'), 'not_sampled'),
        drop(number, Stage.LABEL, method_id(number, 'flickers'), 'flaky').with_method(
            Declared(test_method='flickers'), MethodChange.CHANGED
        ),
    )
    return Segment(
        key=key,
        pair=pair(number, candidates=len(methods) + len(drops)),
        methods=methods,
        cells=tuple(row for item in methods for row in cell_rows(item)),
        drops=drops,
        environments=(
            EnvironmentRow(pair_id=pair_id(number), module='.', environment=ENVIRONMENT),
        ),
        timings=(
            TimingRow(
                repo=REPO,
                walk=Walk.PARENTS,
                pair_id=pair_id(number),
                step='run',
                cpu_seconds=cpu_seconds,
                wall_seconds=2 * cpu_seconds,
                count=9,
            ),
        ),
        refactorings=(refactoring(number),),
        executed=tuple(row for item in methods for row in executed(item)),
        mutants=tuple(row for item in methods for row in mutants(item)),
        reversals=tuple(reversal(item) for item in methods if item.track),
    )


ENVIRONMENT = Environment(
    runtime='17',
    build_tool='maven 3.9',
    compile_command='mvn test-compile',
    test_command='mvn test',
    libraries=(),
)


def repository(**changed: Any) -> RepositoryRow:
    row = RepositoryRow(
        repo=REPO,
        url=None,
        language='java',
        walk=Walk.PARENTS,
        ref='HEAD',
        head=rev(9),
        cutoff=None,
        commits_visited=0,
        commits_kept=0,
        pairs_found=0,
        license='Apache-2.0',
        sandbox='bubblewrap',
        engine_version=CODE,
        profile='default',
    )
    return dataclasses.replace(row, **changed)


def walk(*numbers: int, dropped: tuple[int, ...] = (0,)) -> WalkRecord:
    """The record of a walk that made pairs of these commits and dropped those."""
    return WalkRecord(
        repository=repository(),
        pairs=tuple((rev(number), pair_id(number)) for number in numbers),
        drops=tuple(drop(n, Stage.WALK, rev(n), 'no_code_change') for n in dropped),
    )


def fill(store: Store, *numbers: int) -> None:
    """Mine these pairs into the store, in this order."""
    with store.lock_partition(PARTITION):
        store.merge_walk_into_stored(PARTITION, walk(*numbers))
        for number in numbers:
            store.write_segment_unless_intact(PARTITION, segment(number, key=f'key-{number}'))
        store.compact_segments(PARTITION)


def _cell_columns(cells: Mapping[Cell, Outcome]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for cell in Cell:
        outcome = cells.get(cell)
        runs = None if outcome is None else 1 if outcome is C else RUNS
        columns |= {
            f'{cell}': outcome,
            f'{cell}_unit': outcome,
            f'{cell}_passes': runs if outcome in (P, None) else 0,
            f'{cell}_runs': runs,
            f'{cell}_signature': f'{outcome}: here' if outcome in (F, E, C) else None,
        }
    return columns


def fill_elsewhere(store: Store, repo: str, *found: Segment, head: int = 9) -> None:
    """Mine these segments into the store as pairs of another repository."""
    partition = Partition(repo=repo, language='java', walk=Walk.PARENTS)
    numbers = [next(n for n in range(head) if pair_id(n) == one.pair.pair_id) for one in found]
    with store.lock_partition(partition):
        store.merge_walk_into_stored(partition, _moved(WalkRecord, walk(*numbers), repo, numbers))
        for one in found:
            store.write_segment_unless_intact(partition, _moved(Segment, one, repo, numbers))
        store.compact_segments(partition)


def _moved(record: type[Moved], found: Moved, repo: str, numbers: Iterable[int]) -> Moved:
    """The same in another repository, whose pairs and methods have other ids."""
    text = codec.encode_record(found).decode().replace(f'"{REPO}"', f'"{repo}"')
    for number in numbers:
        moved = compute_short_hash(repo, 'java', rev(number - 1), rev(number))
        rows: tuple[MethodRow, ...] = found.methods if isinstance(found, Segment) else ()
        for row in rows:
            if row.pair_id == pair_id(number):
                text = text.replace(row.method_id, compute_method_id(moved, row.change, row))
        text = text.replace(
            method_id(number, 'flickers'),
            compute_method_id(moved, MethodChange.CHANGED, Declared(test_method='flickers')),
        )
        text = text.replace(pair_id(number), moved)
    return codec.decode_record(record, text.encode())
