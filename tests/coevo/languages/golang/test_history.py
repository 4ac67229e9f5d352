"""A Go history from its commits to scores: mined, released, verified, judged."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from coevo.command.main import main
from coevo.languages.golang.toolchains import find_toolchains
from coevo.snapshots.verification import verify_snapshot
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests import projects
from tests.coevo.languages.golang.histories import STEPS
from tests.projects import Mined, write
from tests.settings_files import settings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not find_toolchains(), reason='there is no Go here'),
]


@pytest.fixture(scope='module')
def found(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('history')
    return projects.mined(write(folder / 'repository', STEPS), folder / 'store')


def test_each_change_of_the_go_history_has_its_label(found: Mined) -> None:
    labels = {(row.test_method, str(row.label), str(row.track)) for row in found.methods}
    assert labels >= {
        ('TestSells', 'update', 'update'),
        ('TestBuysTwo', 'generation', 'generation'),
        ('TestSums', 'repair', 'repair'),
    }, labels


def test_go_release_verifies_and_only_gold_succeeds(found: Mined, tmp_path: Path) -> None:
    snapshot = tmp_path / 'snapshot'
    publish_release(ReleaseOptions(store=found.store, snapshot=snapshot))
    assert list(verify_snapshot(snapshot)) == []
    nothing = tmp_path / 'nothing.jsonl'
    tasks = pq.read_table(snapshot / 'data' / 'tasks').to_pylist()
    assert len(tasks) == 3
    lines = (json.dumps({'task_id': one['task_id'], 'patch': ''}) + '\n' for one in tasks)
    nothing.write_text(''.join(lines))
    leaking = settings(tmp_path, leaking=True)
    for predictions, succeed in (('gold', True), (str(nothing), False)):
        out = tmp_path / f'of-{Path(predictions).stem}'
        command = ['evaluate', str(snapshot), predictions, *leaking, '--jobs', '1']
        assert main([*command, '--store', str(found.store), '--out', str(out)]) == 0
        rows = pq.read_table(out / 'results.parquet').to_pylist()
        assert {row['outcome'] == 'success' for row in rows} == {succeed}, rows
        # `quick` undoes nothing and makes no mutants, so strict success cannot be asked of a task
        assert {row['strict_askable'] for row in rows} == {None}
        assert {row['success_strict'] for row in rows} == {None}
        seen = [row['adequacy'] for row in rows if row['adequacy'] is not None]
        reaching = [one['reaches_assertion'] for one in seen]
        covering = [one['executes_delta'] for one in seen]
        assert (reaching, sorted(covering, key=str)) == (
            ([True] * 3, [None, True, True]) if succeed else ([], [])
        )
