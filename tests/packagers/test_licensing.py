"""What may not be published leaves its counts behind and none of its code."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from coevo.model.words import Stage
from coevo.snapshots import snapshot
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.store import Store
from packagers.funnel import compute_funnel
from packagers.licensing import fill_licences, withhold_unpublishable_rows
from packagers.rows import gather_rows
from tests import segments, snapshots

LICENCES = {segments.rev(1): 'MIT', segments.rev(2): None, segments.rev(3): 'CC0-1.0'}


def licence(repo: str, rev: str) -> str | None:
    return LICENCES.get(rev, 'MIT')


@pytest.fixture(scope='module')
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp('store'))
    segments.fill(store, 1, 2, 3)
    return store


@pytest.fixture
def released(store: Store, tmp_path: Path) -> Path:
    snapshots.write(store, tmp_path / 'snapshot', licence=licence)
    return tmp_path / 'snapshot'


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / 'data' / table).to_pylist()
    return found


def test_snapshot_with_withheld_pairs_passes_verification(released: Path) -> None:
    assert verify_snapshot(released) == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    'table',
    ['methods', 'tasks', 'cells', 'dependency_map', 'mutants', 'reversals', 'refactorings'],
)
def test_unpublishable_pairs_leave_no_row_in_tables_with_code(released: Path, table: str) -> None:
    assert {row['pair_id'] for row in rows(released, table)} == {segments.pair_id(1)}


def test_unpublishable_pairs_keep_their_pair_rows_and_drops(released: Path) -> None:
    assert [row['license'] for row in rows(released, 'pairs')] == [
        licence('', row['new_rev']) for row in rows(released, 'pairs')
    ]
    found = Counter(
        (row['pair_id'], row['reason']) for row in rows(released, 'drops') if row['pair_id']
    )
    for number, reason in ((2, 'licence_unknown'), (3, 'licence_not_osi')):
        pair_id = segments.pair_id(number)
        assert found[pair_id, reason] == 3
        assert found[pair_id, 'flaky'] == found[pair_id, 'not_sampled'] == 1
    details = {row['detail'] for row in rows(released, 'drops') if row['stage'] == 'publish'}
    assert {'update', 'CC0-1.0: generation', 'CC0-1.0: refinement'} <= details


def test_code_of_unpublishable_pairs_is_in_no_file(
    released: Path, store: Store, tmp_path: Path
) -> None:
    def words(folder: Path) -> str:
        return ' '.join(
            str(rows(folder, table.name)) for table in sorted((folder / 'data').iterdir())
        )

    snapshots.write(store, tmp_path / 'all')
    assert 'now(2)' in words(tmp_path / 'all')
    assert 'now(1)' in words(released)
    assert 'now(2)' not in words(released)
    assert 'now(3)' not in words(released)


def test_funnel_accounts_for_every_withheld_method(store: Store) -> None:
    kept = withhold_unpublishable_rows(fill_licences(gather_rows(store), licence), ())
    steps = {step.stage: step for step in compute_funnel(kept)}
    publish, track = steps[Stage.PUBLISH], steps[Stage.TRACK]
    assert (publish.entered, publish.kept_count) == (9, 3)
    assert dict(publish.dropped) == {'licence_not_osi': 3, 'licence_unknown': 3}
    assert steps[Stage.LABEL].kept_count == publish.entered
    assert (track.entered, track.kept_count) == (2, 2)


def test_a_licence_may_be_accepted_by_hand(store: Store, tmp_path: Path) -> None:
    target = tmp_path / 'snapshot'
    snapshots.write(store, target, licence=licence, accepted=('CC0-1.0',))
    assert {row['pair_id'] for row in rows(target, 'methods')} == {
        segments.pair_id(1),
        segments.pair_id(3),
    }
    assert snapshot.load_manifest(target)['parameters'] == {'licences_accepted': 'CC0-1.0'}
    assert verify_snapshot(target) == []


def test_rows_that_lose_their_licence_are_withdrawn_with_that_reason(
    store: Store, tmp_path: Path
) -> None:
    snapshots.write(store, tmp_path / 'before')
    snapshots.write(
        store, tmp_path / 'after', licence=licence, previous=tmp_path / 'before', month='2024-02'
    )
    gone = Counter(row['reason'] for row in rows(tmp_path / 'after', 'withdrawn'))
    assert gone == {'licence_unknown': 2, 'licence_not_osi': 2}
