"""A toy repository from its history to a released snapshot: nothing outside of tests/ knows the toy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from coevo.command.main import main
from coevo.model.profiles import load_profile
from coevo.model.records import Cause
from coevo.model.records import Label
from coevo.model.records import Track
from coevo.snapshots import snapshot
from coevo.snapshots.verification import verify
from flows.options import ReleaseOptions
from flows.publication import publish
from tests.languages import toys
from tests.languages.table import known_toy
from tests.projects import QUICK
from tests.projects import Mined
from tests.projects import write

OLD = {
    **toys.BUILD,
    **toys.source('Till', 'price: 1', 'stays: 3'),
    **toys.tests(
        'Till', 'follows: is Till.price 1', 'errs: is Till.stays 4', 'stays: is Till.stays 3'
    ),
    **toys.tests('Calm', 'rests: call Till.price'),
}
NEW = {
    **toys.source('Till', 'price: 2', 'stays: 3', 'tax: 5'),
    **toys.tests(
        'Till',
        'follows: is Till.price 2',
        'errs: is Till.stays 3',
        'stays: is Till.stays 3',
        'rings: use _five',
        '_five: is Till.tax 5',
    ),
}


@pytest.fixture(scope='module', autouse=True)
def toy() -> Iterator[None]:
    with known_toy():
        yield


@pytest.fixture(scope='module')
def found(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('toys')
    repository = write(folder / 'repository', [OLD, NEW])
    # With all that a study asks for, most of which the toy does not offer.
    return toys.mined(repository, folder / 'store', profile=load_profile('default'))


@pytest.fixture(scope='module')
def released(found: Mined) -> Path:
    folder = found.store.with_name('snapshot')
    publish(ReleaseOptions(store=found.store, snapshot=folder))
    return folder


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    files = snapshot.data_files(folder, table)
    return [row for file in files for row in pq.read_table(file).to_pylist()]


@pytest.mark.parametrize(
    ('name', 'label', 'track', 'cause'),
    [
        ('follows', Label.UPDATE, Track.UPDATE, Cause.PRODUCTION),
        ('rings', Label.GENERATION, Track.GENERATION, Cause.PRODUCTION),
        ('errs', Label.REPAIR, Track.REPAIR, Cause.TEST),
        ('rests', Label.UNAFFECTED, None, None),
    ],
)
def test_tests_have_their_labels(
    found: Mined, name: str, label: Label, track: Track | None, cause: Cause | None
) -> None:
    row = found.method(name)
    assert (row.language, row.label, row.track, row.cause) == ('toy', label, track, cause)


def test_refactorings_that_nobody_looks_for_take_no_track(found: Mined, tmp_path: Path) -> None:
    asked = toys.mined(
        write(tmp_path / 'repository', [OLD, NEW]),
        tmp_path / 'store',
        profile=replace(QUICK, refactorings=True),
    )
    assert [pair.refactorings for pair in asked.pairs] == ['not_offered']
    assert {row.test_only_refactored for row in asked.methods} == {None}
    tracks = [{(row.test_method, row.track) for row in one.methods} for one in (asked, found)]
    assert tracks[0] == tracks[1]


def test_a_release_is_sound_and_has_a_task_for_each_track(released: Path) -> None:
    assert list(verify(released)) == []
    tasks = {row['track']: row for row in rows(released, 'tasks')}
    assert {track: row['test_methods'] for track, row in tasks.items()} == {
        'update': ['TillTest#follows'],
        'generation': ['TillTest#rings'],
        'repair': ['TillTest#errs'],
    }
    added = [line for line in tasks['generation']['test_patch'].splitlines() if line[:1] == '+']
    assert '+rings: use _five' in added
    assert '+_five: is Till.tax 5' in added  # a helper that it alone uses goes with it
    assert [one['name'] for one in tasks['update']['dependencies']] == ['shop.Till#price()']


def test_gold_succeeds_and_nothing_does_not(found: Mined, released: Path, tmp_path: Path) -> None:
    """The command judges patches of a toy as those of any other language."""
    for name, patched in (('gold', True), ('nothing', False)):
        predictions = tmp_path / f'{name}.jsonl'
        lines = [
            {'task_id': row['task_id'], 'patch': row['test_patch'] if patched else ''}
            for row in rows(released, 'tasks')
        ]
        predictions.write_text(''.join(json.dumps(line) + '\n' for line in lines))
        command = ['evaluate', str(released), str(predictions), '--leaking', '--jobs', '1']
        places = ['--store', str(found.store), '--out', str(tmp_path / name)]
        assert main([*command, *places]) == 0
        table = pq.read_table(tmp_path / name / 'results.parquet').to_pylist()
        assert [row['outcome'] == 'success' for row in table] == [patched] * 3
