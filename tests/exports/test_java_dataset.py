"""A shop in Java, whose one change is a task of each track, exported by the command."""

from __future__ import annotations

import json
import tarfile
import tomllib
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.options import verify_and_get_sha256
from coevo.exports.harbor import grading
from coevo.exports.harbor.grading import VerifierTask
from coevo.model.words import Track
from tests.evaluation.shop import FILES, Shop, make_shop, open_shop
from tests.exports.test_training import contents, lines
from tests.folders import made_once

pytestmark = [pytest.mark.jvm, pytest.mark.slow]


@pytest.fixture(scope='module')
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return open_shop(made_once(tmp_path_factory, 'shop', make_shop))


def export(shop: Shop, out: Path, format: str) -> None:
    words = ['--store', str(shop.store), '--out', str(out), '--format', format]
    assert main(['export', str(shop.snapshot), *words]) == 0


def test_data_set_for_harbor_has_all_tracks_and_the_same_bytes_again(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ('1', '2'):
        export(shop, tmp_path / name, 'harbor')
    files = contents(tmp_path / '1')
    assert files == contents(tmp_path / '2')
    assert not any(str(tmp_path).encode() in content for content in files.values())
    image = f'coevo-verifier:{verify_and_get_sha256(shop.snapshot)[:12]}'
    assert f'verifier: build it first, with the name {image}' in capsys.readouterr().out
    folders = {path.name for path in (tmp_path / '1/tasks').iterdir()}
    assert folders >= {one.task_id for one in shop.tasks.values()}
    for track, assignment in shop.tasks.items():
        folder = tmp_path / '1/tasks' / assignment.task_id
        settings = tomllib.loads((folder / 'task.toml').read_text())
        assert settings['metadata']['track'] == track
        assert settings['artifacts'] == [f'/app/{FILES[track]}']
        assert (folder / 'environment/Dockerfile').read_text().startswith('ARG BASE=maven:3-')
        assert (folder / 'tests/Dockerfile').read_text().startswith(f'ARG BASE={image}\n')
        with tarfile.open(folder / 'environment/start.tar') as tar:
            start = tar.extractfile(FILES[track])
            assert start is not None
            assert start.read().decode() == shop.starts[track]


def test_verifiers_image_has_coevo_and_a_snapshot_that_passes_verification(
    shop: Shop, tmp_path: Path
) -> None:
    export(shop, tmp_path / 'out', 'harbor')
    verifier = tmp_path / 'out/verifier'
    assert main(['verify', str(verifier / 'snapshot')]) == 0
    assert (verifier / 'coevo/exports/harbor/grading.py').is_file()
    assert not [*verifier.rglob('__pycache__')]
    assert 'uv>=' in (verifier / 'requirements.txt').read_text()


def test_extensions_and_suites_have_no_place_in_the_form_of_swebench(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export(shop, tmp_path / 'out', 'swebench')
    said = capsys.readouterr().out
    assert '1 task left out: they are extensions' in said
    rows = {row['metadata']['track']: row for row in lines(tmp_path / 'out/instances.jsonl')}
    assert rows.keys() == {Track.UPDATE, Track.GENERATION, Track.REPAIR}
    targets = {track: json.loads(row['FAIL_TO_PASS']) for track, row in rows.items()}
    assert targets[Track.UPDATE] == ['PriceTest#costs', 'PriceTest#sums']
    assert 'FaultTest.java' not in rows[Track.UPDATE]['patch']


def test_image_is_warmed_without_a_sandbox(shop: Shop, tmp_path: Path) -> None:
    task = VerifierTask(
        task_id=shop.tasks[Track.UPDATE].task_id,
        test_file='/nowhere',
        snapshot=str(shop.snapshot),
        store=str(shop.store),
        rewards=str(tmp_path / 'rewards'),
        answers=str(tmp_path / 'answers'),
        port=0,
    )
    assert grading.grade_gold(task) == 0
    assert not (tmp_path / 'rewards').exists()
