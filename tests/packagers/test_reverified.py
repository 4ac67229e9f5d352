"""What running labels again changes in a release, from records that the tests write."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from coevo.engine.evidence import compute_upper_95
from coevo.model.errors import Fatal
from coevo.model.method_rows import MethodRow
from coevo.model.words import Cell, Outcome
from coevo.snapshots import snapshot
from coevo.snapshots.verification import verify_snapshot
from coevo.storage import reverifications
from coevo.storage.place import Root
from coevo.storage.reverifications import ReverificationRecord, ReverifiedLabel
from coevo.storage.store import Store
from tests import segments, snapshots
from tests.segments import PARTITION

UPDATE, REFINEMENT, GENERATION = segments.segment(2).methods


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = Store(tmp_path / 'store')
    segments.fill(found, 2)
    return found


def record(*rows: MethodRow, lost: str | None = None, key: str = 'key-2') -> ReverificationRecord:
    """These methods run again, with the runs that they had."""
    return ReverificationRecord(
        pair_id=segments.pair_id(2),
        key=key,
        engine_version='2',
        runtime='17',
        sandbox='bubblewrap',
        methods=tuple(
            ReverifiedLabel(method_id=row.method_id, lost=lost, runs=tuple(segments.cell_rows(row)))
            for row in rows
        ),
    )


def keep(store: Store, found: ReverificationRecord) -> ReverificationRecord:
    return reverifications.add_reverification(store.storage, PARTITION, found)


def released(store: Store, month: str, previous: Path | None = None) -> Path:
    assert isinstance(store.root, Path)
    target = store.root.with_name(month)
    snapshots.write(store, target, month=month, previous=previous)
    assert verify_snapshot(target) == []
    return target


def table(path: Path, name: str) -> list[Mapping[str, Any]]:
    return [r for f in snapshot.list_data_files(path, name) for r in pq.read_table(f).to_pylist()]


def methods(path: Path) -> dict[str, Mapping[str, Any]]:
    return {row['method_id']: row for row in table(path, 'methods')}


def test_reverification_runs_are_added_only_to_the_cells_that_were_run(store: Store) -> None:
    """A compiler's verdict is asked again, too; it is no process that could be flaky."""
    for _ in range(2):
        keep(store, record(UPDATE, GENERATION))
    keep(store, record(UPDATE, key='of-another-profile'))
    found = methods(released(store, '2024-02'))
    update, generation = found[UPDATE.method_id], found[GENERATION.method_id]
    assert (update['t_old_c_new'], update['t_old_c_new_runs'], update['t_old_c_new_passes']) == (
        *('fail', 9, 0),
    )
    assert (update['t_old_c_old_runs'], update['t_old_c_old_passes']) == (9, 9)
    assert (generation['t_new_c_old'], generation['t_new_c_old_runs']) == ('compile_error', 3)
    assert update['flake_upper_95'] == generation['flake_upper_95'] == compute_upper_95(9)
    untouched = found[REFINEMENT.method_id]
    assert untouched['t_old_c_old_runs'] == 3
    assert untouched['flake_upper_95'] == REFINEMENT.flake_upper_95


def test_verification_reports_disagreeing_runs_as_flaky(store: Store) -> None:
    """Nothing makes such a record; what does would make a snapshot that is not good."""
    found = record(UPDATE)
    (method,) = found.methods
    runs = tuple(
        dataclasses.replace(run, outcome=Outcome.PASS) if run.cell is Cell.T_OLD_C_NEW else run
        for run in method.runs
    )
    keep(store, dataclasses.replace(found, methods=(dataclasses.replace(method, runs=runs),)))
    assert isinstance(store.root, Path)
    snapshots.write_unverified(store, store.root.with_name('bad'), '2024-02')
    assert {finding.rule for finding in verify_snapshot(store.root.with_name('bad'))} == {'flaky'}


@pytest.mark.parametrize(
    'key', ['key-2', pytest.param('of-another-profile', marks=pytest.mark.slow)]
)
def test_lost_label_is_withdrawn_whatever_profile_it_is_mined_with(store: Store, key: str) -> None:
    first = released(store, '2024-02')
    keep(store, record(UPDATE, REFINEMENT, lost='t_old_c_new is pass, was fail', key=key))
    second = released(store, '2024-03', first)
    third = released(store, '2024-04', second)
    assert methods(second).keys() == methods(third).keys() == {GENERATION.method_id}
    (gone,) = (t for t in table(first, 'tasks') if UPDATE.method_id in t['method_ids'])
    reason = 'not_reproduced: t_old_c_new is pass, was fail'
    assert {(row['table'], row['id'], row['reason']) for row in table(second, 'withdrawn')} == {
        ('methods', UPDATE.method_id, reason),
        ('methods', REFINEMENT.method_id, reason),
        ('tasks', gone['task_id'], reason),
    }
    assert table(third, 'withdrawn') == table(second, 'withdrawn')
    for name in ('mutants', 'reversals', 'dependency_map'):
        assert {row['method_id'] for row in table(second, name)} <= {GENERATION.method_id}


def test_card_states_how_many_labels_were_reproduced(store: Store) -> None:
    assert '## Run again' not in (released(store, '2024-02') / 'README.md').read_text()
    keep(store, record(UPDATE, GENERATION))
    keep(store, record(UPDATE, lost='t_new_c_new: fail'))
    card = (released(store, '2024-03') / 'README.md').read_text()
    assert '2 labels were run again' in card
    assert '1 hold, 1 do not' in card
    assert 'at most 97.5% of all labels' in card  # with none of two it would be 77.6%


def test_damaged_reverification_record_is_refused(store: Store) -> None:
    keep(store, record(UPDATE))
    (entry,) = store.storage.list_files(reverifications.FOLDER)
    store.storage.write_file(entry.name, b'{"pair')
    with pytest.raises(Fatal, match='is damaged: remove it and reverify again'):
        released(store, '2024-02')


@pytest.fixture(params=['folder', 'bucket'])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Root:
    found: Root = tmp_path / 'store'
    return found if request.param == 'folder' else request.getfixturevalue('bucket')


def test_reverification_records_are_numbered_and_read_back(root: Root) -> None:
    store = Store(root)
    kept = [keep(store, record(row)) for row in (UPDATE, GENERATION, REFINEMENT)]
    assert [one.number for one in kept] == [1, 2, 3]
    assert list(reverifications.load_reverifications(store.storage, PARTITION)) == kept
