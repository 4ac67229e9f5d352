"""A snapshot that is there already, put in other places."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.errors import Fatal
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.place import Root, Url
from coevo.storage.places import open_place
from packagers import publishing
from packagers.publishing import publish_copy
from tests import snapshots
from tests.packagers.test_publishing import Dying, Killed, content, files


@pytest.fixture(params=['folder', 's3'])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Root:
    if request.param == 'folder':
        return tmp_path / 'public' / '2024-01'
    return Url(f'{request.getfixturevalue("bucket")}/2024-01')


@pytest.mark.sampled(1)
def test_published_copy_has_the_bytes_of_the_snapshot(
    snapshot: Path, target: Root, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['pipeline', 'publish', str(snapshot), str(target)]) == 0
    catalogue = f'{target}'.removesuffix('2024-01') + 'catalogue.json'
    assert capsys.readouterr().out == f'{target}: published\ncatalogue: {catalogue}\n'
    assert content(open_place(target)) == files(snapshot)
    assert verify_snapshot(target) == []
    assert main(['pipeline', 'publish', str(snapshot), str(target)]) == 0
    assert 'already there' in capsys.readouterr().out


@pytest.mark.slow
def test_snapshot_copied_back_is_unchanged(snapshot: Path, target: Root, tmp_path: Path) -> None:
    publish_copy(snapshot, target)
    assert publish_copy(target, tmp_path / 'back')
    assert files(tmp_path / 'back') == files(snapshot)


def test_file_that_is_not_of_the_snapshot_is_not_published(snapshot: Path, target: Root) -> None:
    (snapshot / 'notes.txt').write_text('mine')
    publish_copy(snapshot, target)
    assert 'notes.txt' not in content(open_place(target))


@pytest.mark.slow
def test_another_snapshot_is_not_overwritten(snapshot: Path, target: Root, tmp_path: Path) -> None:
    publish_copy(snapshot, target)
    (tmp_path / 'other').mkdir()
    other = snapshots.make(tmp_path / 'other', 1, 2, 3)
    with pytest.raises(Fatal, match='holds another snapshot'):
        publish_copy(other, target)
    assert content(open_place(target)) == files(snapshot)


def test_snapshot_that_fails_verification_is_not_published(
    snapshot: Path, target: Root, capsys: pytest.CaptureFixture[str]
) -> None:
    (snapshot / 'data/pairs/part-0.parquet').unlink()
    assert main(['pipeline', 'publish', str(snapshot), str(target)]) == 1
    assert 'pairs: file_missing' in capsys.readouterr().err
    assert not content(open_place(target))


def test_killed_publication_leaves_nothing_that_readers_take_for_a_snapshot(
    snapshot: Path, bucket: Url, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(publishing, 'open_place', lambda root: Dying(root, 5))
        with pytest.raises(Killed):
            publish_copy(snapshot, bucket)
    assert content(open_place(bucket)).keys() & {'README.md', 'manifest.json'} == {'README.md'}
    with pytest.raises(Fatal, match='no manifest'):
        verify_snapshot(bucket)
