"""A toy repository from its history to a released snapshot: nothing outside of tests/ knows the toy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from coevo.command.main import main
from coevo.model.profiles import load_profile
from coevo.model.words import BreakageCause, Label, Track
from coevo.snapshots import snapshot
from coevo.snapshots.verification import verify_snapshot
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.languages import toys
from tests.projects import QUICK, Mined, write
from tests.repos import git
from tests.settings_files import settings

pytestmark = pytest.mark.usefixtures('toy')

OLD = {
    **toys.BUILD,
    **toys.source('Till', 'price: 1', 'stays: 3'),
    **toys.tests(
        'Till',
        'follows: is Till.price 1',
        'errs: is Till.stays 4',
        'stays: is Till.stays 3',
        'grows: call Till.price',
        'shines: call Till.price',
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
        'grows: is Till.price 2',
        'shines: call Till.stays',
        'rings: use _five',
        '_five: is Till.tax 5',
    ),
}


@pytest.fixture(scope='module')
def found(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('toys')
    repository = write(folder / 'repository', [OLD, NEW])
    # With all that a study asks for, most of which the toy does not offer.
    return toys.mined(repository, folder / 'store', profile=load_profile('whole'))


@pytest.fixture(scope='module')
def released(found: Mined) -> Path:
    folder = found.store.with_name('snapshot')
    publish_release(ReleaseOptions(store=found.store, snapshot=folder))
    return folder


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    files = snapshot.list_data_files(folder, table)
    return [row for file in files for row in pq.read_table(file).to_pylist()]


@pytest.mark.parametrize(
    ('name', 'label', 'track', 'cause'),
    [
        ('follows', Label.UPDATE, Track.UPDATE, BreakageCause.PRODUCTION),
        ('rings', Label.GENERATION, Track.GENERATION, BreakageCause.PRODUCTION),
        ('errs', Label.REPAIR, Track.REPAIR, BreakageCause.TEST),
        ('grows', Label.EXTENSION, Track.EXTENSION, BreakageCause.PRODUCTION),
        ('shines', Label.REFINEMENT, None, None),
        ('rests', Label.UNAFFECTED, None, None),
    ],
)
def test_mined_tests_get_their_expected_label_track_and_cause(
    found: Mined, name: str, label: Label, track: Track | None, cause: BreakageCause | None
) -> None:
    row = found.method(name)
    assert (row.language, row.label, row.track, row.cause) == ('toy', label, track, cause)


def test_refactorings_that_are_not_offered_take_no_track_away(found: Mined, tmp_path: Path) -> None:
    asked = toys.mined(
        write(tmp_path / 'repository', [OLD, NEW]),
        tmp_path / 'store',
        profile=replace(QUICK, refactorings=True),
    )
    assert [pair.refactorings for pair in asked.pairs] == ['not_offered']
    assert {row.test_only_refactored for row in asked.methods} == {None}
    tracks = [{(row.test_method, row.track) for row in one.methods} for one in (asked, found)]
    assert tracks[0] == tracks[1]


def test_a_snapshot_passes_verification_and_has_a_task_for_each_track(released: Path) -> None:
    assert list(verify_snapshot(released)) == []
    tasks = {row['track']: row for row in rows(released, 'tasks')}
    assert {track: row['test_methods'] for track, row in tasks.items()} == {
        'update': ['TillTest#follows'],
        'generation': ['TillTest#rings'],
        'extension': ['TillTest#grows'],
        'repair': ['TillTest#errs'],
    }
    added = [line for line in tasks['generation']['test_patch'].splitlines() if line[:1] == '+']
    assert '+rings: use _five' in added
    assert '+_five: is Till.tax 5' in added  # a helper that it alone uses goes with it
    assert [one['name'] for one in tasks['update']['dependencies']] == ['shop.Till#price()']


def test_a_pair_tells_how_large_its_change_of_production_files_is(released: Path) -> None:
    (pair,) = rows(released, 'pairs')
    assert (pair['lines_added'], pair['lines_removed'], pair['hunks']) == (2, 1, 2)
    assert pair['dmm_size'] is None  # lizard knows no toys


def test_gold_patches_succeed_and_empty_patches_do_not(
    found: Mined, released: Path, tmp_path: Path
) -> None:
    """The command judges patches of a toy as those of any other language; `gold` is a word for them."""
    nothing = tmp_path / 'nothing.jsonl'
    lines = [{'task_id': row['task_id'], 'patch': ''} for row in rows(released, 'tasks')]
    nothing.write_text(''.join(json.dumps(line) + '\n' for line in lines))
    leaking = settings(tmp_path, leaking=True)
    for predictions, patched in (('gold', True), (str(nothing), False)):
        out = tmp_path / f'of-{Path(predictions).stem}'
        command = ['evaluate', str(released), predictions, *leaking, '--jobs', '1']
        places = ['--store', str(found.store), '--out', str(out)]
        assert main([*command, *places]) == 0
        table = pq.read_table(out / 'results.parquet').to_pylist()
        assert [row['outcome'] == 'success' for row in table] == [patched] * 4


@pytest.mark.slow
def test_a_release_records_the_repository_url_or_warns_that_none_is_known(
    found: Mined, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A repository that was mined from a folder has no URL but the one that a person names."""
    address = 'https://example.org/shop/toy'
    (repo,) = {row.repo for row in found.methods}
    for name, urls, told in (('without', (), None), ('with', ('--url', address), address)):
        words = ['release', '--store', str(found.store), '--snapshot', str(tmp_path / name), *urls]
        assert main(words) == 0
        assert (f'no URL is known of {repo}' in capsys.readouterr().out) is (told is None)
        assert {row['url'] for row in rows(tmp_path / name, 'tasks')} == {told}
    words = ['release', '--store', str(found.store), '--snapshot', str(tmp_path / 'wrong')]
    assert main([*words, '--url', f'other/one={address}']) == 2
    assert f'it holds {repo}' in capsys.readouterr().err


@pytest.mark.slow
def test_a_start_state_is_checked_out_as_one_commit(
    found: Mined, released: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same commit wherever it is made; with gold applied it is the file at new."""
    (task,) = (row for row in rows(released, 'tasks') if row['track'] == 'update')
    heads = set()
    for name in ('one', 'other'):
        words = ['checkout', str(released), task['task_id'], str(tmp_path / name)]
        assert main([*words, '--store', str(found.store)]) == 0
        heads.add(git(tmp_path / name, 'rev-parse', 'HEAD'))
        assert git(tmp_path / name, 'rev-list', '--all', '--count') == '1'
        assert git(tmp_path / name, 'status', '--porcelain') == ''
    assert len(heads) == 1
    assert f'coevo prompt {released} {task["task_id"]}' in capsys.readouterr().out
    (tmp_path / 'gold.patch').write_text(task['test_patch'])
    git(tmp_path / 'one', 'apply', str(tmp_path / 'gold.patch'))
    assert (tmp_path / 'one/test_till.toy').read_text() == NEW['test_till.toy']
    assert main(['checkout', str(released), task['task_id'], str(tmp_path / 'one')]) == 2
    assert 'already exists; name a new folder' in capsys.readouterr().err
    assert main(['checkout', str(released), 'none', str(tmp_path / 'new')]) == 2
    assert not (tmp_path / 'new').exists()
