"""Labels that are run again: those that hold gain runs, one that does not is withdrawn for good."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from coevo.command.main import main
from coevo.engine.evidence import compute_upper_95
from coevo.model.segment import Segment
from coevo.model.words import BreakageCause, Cell, Label, Outcome, Track
from coevo.snapshots import snapshot
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.store import Store
from flows.options import ReleaseOptions
from flows.publication import publish_release
from flows.reverification import Reverification, ReverifyOptions, reverify_labels
from tests.flows.mining_runs import OF_TOYS, different
from tests.languages import toys
from tests.languages.specimens import starve_toy
from tests.projects import write

OTHERWISE = 't_old_c_new is pass, was fail (made.Up@made.Up.here)'

pytestmark = pytest.mark.usefixtures('toy')


REACHED = datetime(2024, 5, 1, tzinfo=UTC)


def till(value: int, *, rings: int, counts: str) -> dict[str, str]:
    return {
        **toys.BUILD,
        **toys.source('Till', f'last: {value}'),
        **toys.tests('Till', f'rings: is Till.last {rings}', f'counts: {counts}'),
    }


@pytest.fixture(scope='module')
def store(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An update, and a refinement that its segment takes for another update."""
    folder = tmp_path_factory.mktemp('reverified')
    steps = [
        till(1, rings=1, counts='call Till.last'),
        till(2, rings=2, counts='call Till.last then pass'),
    ]
    found = toys.mined(write(folder / 'repository', steps), folder / 'store')
    labels = {row.test_method: row.label for row in found.methods}
    assert labels == {'rings': Label.UPDATE, 'counts': Label.REFINEMENT}
    forge(found.store, found.method('counts').method_id)
    return found.store


def forge(folder: Path, method_id: str) -> None:
    """Let the store claim that the old test failed on the new code."""
    store = Store(folder)
    (segment,) = store.load_current_segments(OF_TOYS)
    for path in (folder / 'partitions').rglob('segments.coevo'):
        path.unlink()
    with store.lock_partition(OF_TOYS):
        store.write_segment_unless_intact(OF_TOYS, with_update(segment, method_id))
        store.compact_segments(OF_TOYS)


def with_update(segment: Segment, method_id: str) -> Segment:
    verdict: dict[str, Any] = {'outcome': Outcome.FAIL, 'signature': 'made.Up@made.Up.here'}
    claimed: dict[str, Any] = {
        'label': Label.UPDATE,
        'track': Track.UPDATE,
        'label_by_module': Label.UPDATE,
        'track_by_module': Track.UPDATE,
        't_old_c_new': Outcome.FAIL,
        't_old_c_new_unit': Outcome.FAIL,
        't_old_c_new_passes': 0,
        't_old_c_new_signature': verdict['signature'],
        'cause': BreakageCause.PRODUCTION,
    }
    return dataclasses.replace(
        segment,
        methods=tuple(
            dataclasses.replace(row, **claimed) if row.method_id == method_id else row
            for row in segment.methods
        ),
        cells=tuple(
            dataclasses.replace(row, **verdict, unit_outcome=Outcome.FAIL)
            if (row.method_id, row.cell) == (method_id, Cell.T_OLD_C_NEW)
            else row
            for row in segment.cells
        ),
    )


@pytest.fixture
def own(store: Path, tmp_path: Path) -> Path:
    shutil.copytree(store, tmp_path / 'store')
    return tmp_path / 'store'


def again(store: Path, *, sample: int = 9, seed: int = 0) -> Reverification:
    return reverify_labels(ReverifyOptions(store=store, sample=sample, seed=seed))


def released(store: Path, month: str, previous: Path | None = None) -> Path:
    target = store.with_name(f'snapshot-{month}')
    publish_release(
        ReleaseOptions(
            store=store, snapshot=target, month=month, previous=previous, reached=REACHED
        )
    )
    assert verify_snapshot(target) == []
    return target


def table(path: Path, name: str) -> list[Mapping[str, Any]]:
    files = snapshot.list_data_files(path, name)
    return [row for file in files for row in pq.read_table(file).to_pylist()]


def test_a_confirmed_label_gains_runs_and_an_unconfirmed_label_is_withdrawn(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = released(own, '2024-02')
    ids = {row['test_method']: row['method_id'] for row in table(first, 'methods')}
    (task,) = table(first, 'tasks')
    assert set(task['method_ids']) == set(ids.values())

    assert main(['pipeline', 'reverify', str(first), '--store', str(own), '--sample', '9']) == 0
    told = capsys.readouterr().out
    assert '2 of 2 labels drawn: 1 hold, 1 do not, 0 could not be run; 21 runs' in told
    assert f'{ids["counts"]} is withdrawn at the next release: {OTHERWISE}' in told

    second = released(own, '2024-03', first)
    (row,) = table(second, 'methods')
    assert row['test_method'] == 'rings'
    for cell, passes in (('t_old_c_old', 6), ('t_new_c_new', 6), ('t_old_c_new', 0)):
        assert (row[f'{cell}_passes'], row[f'{cell}_runs']) == (passes, 6)
    assert row['flake_upper_95'] == compute_upper_95(6)
    gone = {(row['table'], row['id']): row for row in table(second, 'withdrawn')}
    reason = f'not_reproduced: {OTHERWISE}'
    assert {place: (row['reason'], row['reissued']) for place, row in gone.items()} == {
        ('methods', ids['counts']): (reason, False),
        ('tasks', task['task_id']): (reason, True),
    }
    drops = {(row['stage'], row['key']): row['reason'] for row in table(second, 'drops')}
    assert drops['label', ids['counts']] == 'not_reproduced'

    stays_withdrawn_and_is_not_drawn_again(own, second)


def stays_withdrawn_and_is_not_drawn_again(store: Path, before: Path) -> None:
    shutil.copytree(before, before.with_name('kept'))
    assert not publish_release(
        ReleaseOptions(
            store=store,
            snapshot=before,
            month='2024-03',
            previous=before.with_name('snapshot-2024-02'),
            reached=REACHED,
        )
    ).written
    assert different(before, before.with_name('kept')) == []
    with pytest.MonkeyPatch.context() as patch:
        starve_toy(patch)  # so that nothing is run
        assert again(store, seed=1).population == 1
    third = released(store, '2024-04', before)
    assert table(third, 'methods') == table(before, 'methods')
    assert table(third, 'withdrawn') == table(before, 'withdrawn')


def test_same_draw_runs_no_label_twice(own: Path) -> None:
    first = again(own, seed=3)
    assert (first.drawn, first.confirmed, len(first.lost), first.reused) == (2, 1, 1, 0)
    with pytest.MonkeyPatch.context() as patch:
        starve_toy(patch)  # so that nothing is run
        second = again(own, seed=3)
    assert (second.drawn, second.confirmed, second.lost) == (2, 1, first.lost)
    assert (second.reused, second.runs, second.unknown) == (2, 0, {})
    other = again(own, seed=4)
    assert (other.drawn, other.confirmed, other.reused) == (1, 1, 0)


@pytest.mark.parametrize('missing', ['start', 'clone'])
def test_infrastructure_trouble_neither_confirms_nor_withdraws_a_label(
    own: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if missing == 'start':
        starve_toy(monkeypatch)
    else:
        shutil.rmtree(own / 'clones')
    report = again(own)
    assert (report.drawn, report.confirmed, report.lost, len(report.unknown)) == (2, 0, {}, 2)
    assert all(missing in sentence.lower() for sentence in report.unknown.values())
    assert not (own / 'reverifications').exists()
