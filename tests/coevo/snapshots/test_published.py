"""`coevo verify` of what does not lie in a folder."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.errors import DamagedSnapshot
from coevo.snapshots.verification import Finding, verify_snapshot
from coevo.storage.place import Url
from coevo.storage.places import open_place
from tests.web_server import Site

PAIRS = 'data/pairs/part-0.parquet'

# Puts a snapshot there, and says what a user writes.
Publish = Callable[[Path], str]


@pytest.fixture(params=['zip', 'https', 's3'])
def publish(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Publish]:
    if request.param == 'zip':
        yield lambda snapshot: str(zipped(snapshot, tmp_path / 'snapshot.zip'))
    elif request.param == 's3':
        bucket = request.getfixturevalue('bucket')
        yield lambda snapshot: uploaded(snapshot, bucket)
    else:
        site = Site(tmp_path)
        yield lambda snapshot: f'{site.url}/{snapshot.name}'
        site.close()


def zipped(snapshot: Path, archive: Path) -> Path:
    with zipfile.ZipFile(archive, 'w') as packed:
        for file in sorted(snapshot.rglob('*')):
            packed.write(file, f'2024-01/{file.relative_to(snapshot).as_posix()}')
    return archive


def uploaded(snapshot: Path, bucket: Url) -> str:
    for file in snapshot.rglob('*'):
        if file.is_file():
            name = file.relative_to(snapshot).as_posix()
            open_place(bucket).write_file(name, file.read_bytes())
    return bucket


def found(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(one.table, one.rule) for one in findings]


@pytest.mark.sampled(1)
def test_a_complete_published_snapshot_is_good(
    snapshot: Path, publish: Publish, capsys: pytest.CaptureFixture[str]
) -> None:
    place = publish(snapshot)
    assert main(['verify', place]) == 0
    verdict, counts = capsys.readouterr().out.splitlines()
    assert verdict == f'{place}: good'
    assert counts.startswith('checked: ')


def test_a_changed_byte_is_found(snapshot: Path, publish: Publish) -> None:
    data = bytearray((snapshot / PAIRS).read_bytes())
    data[len(data) // 2] ^= 1
    (snapshot / PAIRS).write_bytes(data)
    assert found(verify_snapshot(publish(snapshot))) == [('pairs', 'file_changed')]


def test_a_missing_file_is_found(
    snapshot: Path, publish: Publish, capsys: pytest.CaptureFixture[str]
) -> None:
    (snapshot / PAIRS).unlink()
    assert main(['verify', publish(snapshot)]) == 1
    assert capsys.readouterr().out.startswith(f'pairs: file_missing: {PAIRS}\n')


@pytest.mark.sampled(1)
def test_a_wrong_count_under_matching_checksums_is_found(snapshot: Path, publish: Publish) -> None:
    manifest = json.loads((snapshot / 'manifest.json').read_bytes())
    manifest['walks'][0]['pairs_unmined'] = 5
    (snapshot / 'manifest.json').write_text(json.dumps(manifest))
    assert found(verify_snapshot(publish(snapshot))) == [('repositories', 'pairs_lost')]


def test_an_extra_file_is_found_where_files_can_be_listed(snapshot: Path, publish: Publish) -> None:
    shutil.copyfile(snapshot / PAIRS, snapshot / 'data/pairs/part-1.parquet')
    place = publish(snapshot)
    unseen = place.startswith('http')
    assert found(verify_snapshot(place)) == ([] if unseen else [('pairs', 'file_not_in_manifest')])


def test_a_published_folder_without_a_manifest_is_damaged(snapshot: Path, publish: Publish) -> None:
    (snapshot / 'manifest.json').unlink()
    with pytest.raises(DamagedSnapshot, match='no manifest'):
        verify_snapshot(publish(snapshot))


@pytest.mark.parametrize('name', ['../outside', '/outside', 'data/../../outside', 'a//b', '.'])
def test_a_manifest_with_a_path_outside_the_snapshot_is_damaged(
    snapshot: Path, tmp_path: Path, name: str
) -> None:
    manifest = json.loads((snapshot / 'manifest.json').read_bytes())
    manifest['files'][name] = {'size': 0, 'sha256': '0' * 64}
    (snapshot / 'manifest.json').write_text(json.dumps(manifest))
    with pytest.raises(DamagedSnapshot, match='damaged: get the snapshot again'):
        verify_snapshot(zipped(snapshot, tmp_path / 'snapshot.zip'))
