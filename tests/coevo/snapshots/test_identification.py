"""Table 11 of the paper, counted by hand on snapshots that the tests write."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from coevo.command.main import main
from coevo.model.errors import Fatal
from coevo.model.method_rows import MethodRow
from coevo.model.reasons import Reason
from coevo.model.records import compute_method_id
from coevo.model.segment import Segment
from coevo.model.words import Cell, MethodChange, Outcome, Stage
from coevo.snapshots.cutoffs import Cutoff
from coevo.snapshots.identification import (
    COUNTS,
    IdentificationStudy,
    choose_split,
    create_identification_tables,
    parse_split,
    print_and_export_identification,
)
from coevo.snapshots.snapshot import attach_snapshots
from coevo.snapshots.statistics import STATISTICS, run_statistic
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.store import Store
from filters import sample
from tests import segments, snapshots
from tests.segments import REFINEMENT, UPDATE, F, P
from tests.settings_files import settings

Cells = Mapping[Cell, Outcome]

UNAFFECTED = {Cell.T_OLD_C_OLD: P, Cell.T_NEW_C_NEW: P}
BROKEN = {Cell.T_OLD_C_OLD: P, Cell.T_NEW_C_NEW: F}
OBSOLETE = {Cell.T_OLD_C_OLD: P, Cell.T_OLD_C_NEW: F}
FIXTURE = {Cell.T_OLD_C_OLD: P, Cell.T_NEW_C_NEW: P, Cell.T_OLD_C_NEW: F}
REPAIR = {Cell.T_OLD_C_OLD: F, Cell.T_NEW_C_NEW: P, Cell.T_OLD_C_NEW: F}
OTHER_FILE = 'src/test/java/ferry/PierTest.java'


def method(
    number: int, name: str, change: MethodChange, cells: Cells, **values: object
) -> MethodRow:
    row = segments.method(number, name, change, cells)
    row = dataclasses.replace(row, **values)  # type: ignore[arg-type]
    return dataclasses.replace(row, method_id=compute_method_id(row.pair_id, row.change, row))


def first() -> tuple[MethodRow, ...]:
    """Two updates in one file and one in another, a refinement, and three that did not change.

    Of f1 and f2 a fixture changed: the old one of f1 is broken on the new code, that of f2 is not.
    """
    untracked = {'track': None, 'cause': 'build', 'mutation': None}
    return (
        method(1, 'u1', MethodChange.CHANGED, UPDATE),
        method(1, 'u2', MethodChange.CHANGED, UPDATE),
        method(1, 'u3', MethodChange.CHANGED, UPDATE, test_file=OTHER_FILE),
        method(1, 'r1', MethodChange.CHANGED, REFINEMENT),
        method(1, 'n1', MethodChange.UNCHANGED, UNAFFECTED),
        method(1, 'n2', MethodChange.UNCHANGED, UNAFFECTED),
        method(1, 'n3', MethodChange.UNCHANGED, UNAFFECTED, test_file=OTHER_FILE),
        method(1, 'o1', MethodChange.DELETED, OBSOLETE),
        method(1, 'b1', MethodChange.UNCHANGED, BROKEN),
        method(1, 'f1', MethodChange.CONTEXT_CHANGED, FIXTURE),
        method(1, 'f2', MethodChange.CONTEXT_CHANGED, REFINEMENT),
        method(1, 'lib', MethodChange.CHANGED, UPDATE, **untracked),
        method(
            1, 'none', MethodChange.CHANGED, REFINEMENT, dependencies=(), dependency_source=None
        ),
    )


def second() -> tuple[MethodRow, ...]:
    """An edit that the first pair had made already, and one of its own; a repair."""
    copy = method(1, 'u1', MethodChange.CHANGED, UPDATE)
    return (
        method(
            2,
            'u1',
            MethodChange.CHANGED,
            UPDATE,
            old_source=copy.old_source,
            new_source=copy.new_source,
        ),
        method(2, 'r2', MethodChange.CHANGED, REFINEMENT),
        method(2, 'p1', MethodChange.CHANGED, REPAIR, cause='test'),
    )


def segment(number: int, methods: tuple[MethodRow, ...]) -> Segment:
    found = segments.segment(number, key=f'key-{number}')
    lost = [
        segments.drop(number, Stage.TRACK, row.method_id, 'cause_build')
        for row in methods
        if row.label == 'update' and row.track is None
    ]
    return dataclasses.replace(
        found,
        pair=dataclasses.replace(found.pair, candidates=len(methods)),
        methods=methods,
        cells=tuple(cell for row in methods for cell in segments.cell_rows(row)),
        drops=tuple(lost),
        executed=(),
        reversals=(),
        mutants=tuple(mutant for row in methods for mutant in segments.mutants(row)),
    )


@pytest.fixture(scope='module')
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pairs of one repository, the first of them also in a fork and in one that is none."""
    folder = tmp_path_factory.mktemp('identification')
    store = Store(folder / 'store')
    one, two = segment(1, first()), segment(2, second())
    with store.lock_partition(segments.PARTITION):
        store.merge_walk_into_stored(segments.PARTITION, segments.walk(1, 2))
        for each in (one, two):
            store.write_segment_unless_intact(segments.PARTITION, each)
    segments.fill_elsewhere(store, 'fork/ferry', one)
    segments.fill_elsewhere(store, 'other/ferry', two)
    families = {segments.REPO: segments.REPO, 'fork/ferry': segments.REPO}
    snapshots.write(
        store,
        folder / 'snapshot',
        date=lambda rows: [
            dataclasses.replace(
                row,
                contamination_date=segments.day(1 if row.old_rev == segments.rev(0) else 2),
                contamination_basis='branches_only',
            )
            for row in rows.methods
        ],
        families=lambda repos: {repo: families.get(repo, repo) for repo in repos},
    )
    return folder / 'snapshot'


def counts(
    path: Path, capsys: pytest.CaptureFixture[str], study: IdentificationStudy
) -> dict[tuple[str, str], tuple[int, ...]]:
    print_and_export_identification(path, study)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[2:-1]]
    return {(line[0], line[1]): tuple(map(int, line[2:])) for line in lines}


def test_the_table_11_statistic_matches_the_identification_query(snapshot: Path) -> None:
    connection = create_identification_tables(attach_snapshots((snapshot,)), IdentificationStudy())
    (table,) = (each for each in STATISTICS if each.name == 'table_11')
    counted = [row for row in connection.sql(COUNTS).fetchall() if row[0] != 'left_out']
    assert [tuple(row[1:]) for row in run_statistic(connection, table).rows] == counted
    assert len(counted) == 4


def test_a_snapshot_with_duplicates_of_forks_is_good(snapshot: Path) -> None:
    """Duplicates of forks among it."""
    assert verify_snapshot(snapshot) == []


def test_identification_prints_the_counts_of_table_11(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Repositories, tasks (pair, file, label), methods.

    Of the fork only what nobody edited counts again: all else is a copy of the first pair.
    """
    assert counts(snapshot, capsys, IdentificationStudy()) == {
        # u1 u2 | u3 | r1, r2, and of the other repository u1 | r2
        ('static', 'positive'): (2, 6, 7),
        # n1 n2 | n3 | f2, and the same in the fork
        ('static', 'negative'): (2, 6, 8),
        ('dynamic', 'positive'): (2, 3, 4),
        ('dynamic', 'negative'): (3, 9, 11),
        ('left_out', 'broken_by_change'): (2, 2, 2),
        # of the fork u1 u2 lib | u3 | r1 none | o1, and u1 of the second pair
        ('left_out', 'duplicate'): (2, 5, 8),
        ('left_out', 'fixture_update'): (2, 2, 2),
        ('left_out', 'no_changed_dependency'): (1, 1, 1),
        ('left_out', 'obsolete'): (1, 1, 1),
        ('left_out', 'repair'): (2, 2, 2),
        ('left_out', 'update_without_track'): (1, 1, 1),
    }


def test_both_labellings_cover_the_same_methods_and_lose_none(snapshot: Path) -> None:
    connection = create_identification_tables(attach_snapshots((snapshot,)), IdentificationStudy())
    sql = 'SELECT count(static), count(dynamic), count(left_out), count(*) FROM identification'
    static, dynamic, left_out, rows = connection.execute(sql).fetchall()[0]
    assert static == dynamic == 15
    assert static + left_out == rows == 2 * (len(first()) + len(second()))


def test_a_cutoff_leaves_out_methods_that_were_public(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = counts(snapshot, capsys, IdentificationStudy(cutoff=Cutoff(date='2024-01-02')))
    assert found['dynamic', 'positive'] == (1, 1, 1)
    assert counts(snapshot, capsys, IdentificationStudy(cutoff=Cutoff(date='2024-02'))) == {}


def test_the_export_holds_classes_splits_and_sources(snapshot: Path, tmp_path: Path) -> None:
    print_and_export_identification(snapshot, IdentificationStudy(export=tmp_path / 'out'))
    static, dynamic = (
        pq.read_table(tmp_path / 'out' / f'{n}.parquet').to_pylist() for n in ('static', 'dynamic')
    )
    assert [row['method_id'] for row in static] == sorted(row['method_id'] for row in dynamic)
    for row, other in zip(static, dynamic, strict=True):
        assert (row['class'] == 'positive') is (row['change'] == 'changed')
        assert (other['class'] == 'positive') is (other['label'] == 'update')
        assert row['split'] == other['split'] == choose_split(row['family'], IdentificationStudy())
        assert row['old_source'].startswith('void ')
        assert row['dependencies'][0]['file'] == 'src/main/java/ferry/Fare.java'
    forks = {row['split'] for row in static if row['repo'] in (segments.REPO, 'fork/ferry')}
    assert len(forks) == 1


@pytest.mark.parametrize('format', ['parquet', 'csv'])
def test_the_same_study_exports_the_same_bytes(snapshot: Path, tmp_path: Path, format: str) -> None:
    for name in ('a', 'b'):
        print_and_export_identification(
            snapshot, IdentificationStudy(export=tmp_path / name, format=format)
        )
    for path in sorted((tmp_path / 'a').iterdir()):
        assert path.read_bytes() == (tmp_path / 'b' / path.name).read_bytes()


def test_a_csv_export_holds_every_row(snapshot: Path, tmp_path: Path) -> None:
    print_and_export_identification(
        snapshot, IdentificationStudy(export=tmp_path / 'out', format='csv')
    )
    with (tmp_path / 'out' / 'static.csv').open() as lines:
        assert len(list(csv.DictReader(lines))) == 15


def test_an_existing_export_folder_is_left_alone(snapshot: Path, tmp_path: Path) -> None:
    with pytest.raises(Fatal, match='is there already'):
        print_and_export_identification(snapshot, IdentificationStudy(export=tmp_path))
    with pytest.raises(Fatal, match='folder does not exist'):
        print_and_export_identification(
            snapshot, IdentificationStudy(export=tmp_path / 'no' / 'out')
        )
    assert list(tmp_path.iterdir()) == []


def test_a_split_depends_on_repository_and_seed_alone() -> None:
    names = [f'owner/{number}' for number in range(2000)]
    found = [choose_split(name, IdentificationStudy()) for name in names]
    shares = [found.count(part) for part in ('train', 'validation', 'test')]
    assert all(
        abs(share - wanted) < 60 for share, wanted in zip(shares, (1600, 200, 200), strict=True)
    )
    assert found != [choose_split(name, IdentificationStudy(seed=1)) for name in names]
    wider = [choose_split(name, IdentificationStudy(split=(90, 5, 5))) for name in names]
    assert {b for a, b in zip(found, wider, strict=True) if a == 'train'} == {'train'}
    assert choose_split('owner/7', IdentificationStudy()) == choose_split(
        'owner/7', IdentificationStudy(cutoff=Cutoff(date='2024-01'))
    )


# -- weights ---------------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of 11 unchanged tests 5 were drawn: n1, n2, n3, b1, and one that proved flaky.

    Of 5 context-changed tests 2 were drawn: f1 and f2.
    """
    folder = tmp_path_factory.mktemp('drawn')
    lost = [
        (Stage.FILTER, sample.Reason.NOT_SAMPLED, MethodChange.UNCHANGED, f's{n}') for n in range(6)
    ]
    lost += [
        (Stage.FILTER, sample.Reason.NOT_SAMPLED, MethodChange.CONTEXT_CHANGED, f'x{n}')
        for n in range(3)
    ]
    lost.append((Stage.LABEL, Reason.FLAKY, MethodChange.UNCHANGED, 'l1'))
    lost.append((Stage.LABEL, Reason.FLAKY, MethodChange.CHANGED, 'l2'))
    drops = []
    for stage, reason, change, name in lost:
        cells = UNAFFECTED if change is MethodChange.UNCHANGED else REFINEMENT
        row = method(1, name, change, cells)
        drop = segments.drop(1, stage, row.method_id, reason)
        drops.append(drop.with_method(row, change))
    found = segment(1, first())
    found = dataclasses.replace(
        found,
        pair=dataclasses.replace(found.pair, candidates=len(first()) + len(drops)),
        drops=(*found.drops, *drops),
    )
    store = Store(folder / 'store')
    with store.lock_partition(segments.PARTITION):
        store.merge_walk_into_stored(segments.PARTITION, segments.walk(1))
        store.write_segment_unless_intact(segments.PARTITION, found)
    snapshots.write(store, folder / 'snapshot')
    return folder / 'snapshot'


def test_a_drawn_unchanged_test_is_weighted_for_those_not_drawn(
    drawn: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    print_and_export_identification(drawn, IdentificationStudy(export=tmp_path / 'out'))
    draws = capsys.readouterr().err
    assert 'of 11 unchanged tests of pairs that were run, 5 were drawn' in draws
    assert 'of 5 context-changed tests of pairs that were run, 2 were drawn' in draws
    rows = pq.read_table(tmp_path / 'out' / 'dynamic.parquet').to_pylist()
    weights = {row['test_method']: row['weight'] for row in rows}
    assert weights == {
        **dict.fromkeys(('u1', 'u2', 'u3', 'r1'), 1.0),
        'f2': pytest.approx(5 / 2),
        **dict.fromkeys(('n1', 'n2', 'n3'), pytest.approx(11 / 5)),
    }


def test_the_card_states_how_many_unchanged_tests_were_drawn(drawn: Path) -> None:
    card = ' '.join((drawn / 'README.md').read_text().split())
    assert 'Unchanged tests are a sample, drawn by seed in each pair: 5 of 11 were run' in card


def test_a_cutoff_changes_no_weight(drawn: Path) -> None:
    opened = attach_snapshots((drawn,))
    found = create_identification_tables(opened, IdentificationStudy(cutoff=Cutoff(date='2099-01')))
    assert found.execute('SELECT weight FROM draws ORDER BY change').fetchall() == [
        (pytest.approx(5 / 2),),
        (pytest.approx(11 / 5),),
    ]


@pytest.mark.parametrize('text', ['80/20', '80/10/11', 'a/b/c', '', '100/-5/5', '33.3/33.3/33.4'])
def test_a_malformed_split_is_refused(text: str) -> None:
    with pytest.raises(Fatal, match='80/10/10'):
        parse_split(text)


def test_the_identification_command_writes_counts_and_both_labellings(
    snapshot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        'report',
        'identification',
        str(snapshot),
        '--export',
        str(tmp_path / 'out'),
        '--format',
        'csv',
    ]
    assert main([*words, *settings(tmp_path, split='50/25/25', seed=3)]) == 0
    assert 'labelling' in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / 'out').iterdir()) == [
        'counts.csv',
        'dynamic.csv',
        'static.csv',
    ]
