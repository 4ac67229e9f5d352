"""A snapshot that is there already, put in other places."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.errors import Fatal
from coevo.snapshots.verification import verify
from coevo.storage.place import Root
from coevo.storage.place import Url
from coevo.storage.places import place_of
from packagers import publishing
from packagers.republishing import publish
from tests import snapshots
from tests.packagers.test_publishing import Dying
from tests.packagers.test_publishing import Killed
from tests.packagers.test_publishing import content
from tests.packagers.test_publishing import files


@pytest.fixture(params=['folder', 's3'])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Root:
    if request.param == 'folder':
        return tmp_path / 'public' / '2024-01'
    return Url(f'{request.getfixturevalue("bucket")}/2024-01')


def test_it_is_the_same_there(
    snapshot: Path, target: Root, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['publish', str(snapshot), str(target)]) == 0
    catalogue = f'{target}'.removesuffix('2024-01') + 'catalogue.json'
    assert capsys.readouterr().out == f'{target}: published\ncatalogue: {catalogue}\n'
    assert content(place_of(target)) == files(snapshot)
    assert verify(target) == []
    assert main(['publish', str(snapshot), str(target)]) == 0
    assert 'already there' in capsys.readouterr().out


def test_it_comes_back_as_it_was(snapshot: Path, target: Root, tmp_path: Path) -> None:
    publish(snapshot, target)
    assert publish(target, tmp_path / 'back')
    assert files(tmp_path / 'back') == files(snapshot)


def test_what_lies_beside_it_stays_behind(snapshot: Path, target: Root) -> None:
    (snapshot / 'notes.txt').write_text('mine')
    publish(snapshot, target)
    assert 'notes.txt' not in content(place_of(target))


def test_another_one_is_not_written_over(snapshot: Path, target: Root, tmp_path: Path) -> None:
    publish(snapshot, target)
    (tmp_path / 'other').mkdir()
    other = snapshots.make(tmp_path / 'other', 1, 2, 3)
    with pytest.raises(Fatal, match='holds another snapshot'):
        publish(other, target)
    assert content(place_of(target)) == files(snapshot)


def test_one_that_is_not_good_is_not_published(
    snapshot: Path, target: Root, capsys: pytest.CaptureFixture[str]
) -> None:
    (snapshot / 'data/pairs/part-0.parquet').unlink()
    assert main(['publish', str(snapshot), str(target)]) == 1
    assert 'pairs: file_missing' in capsys.readouterr().err
    assert not content(place_of(target))


def test_a_kill_leaves_nothing_that_a_reader_takes_for_a_snapshot(
    snapshot: Path, bucket: Url, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(publishing, 'place_of', lambda root: Dying(root, 5))
        with pytest.raises(Killed):
            publish(snapshot, bucket)
    assert content(place_of(bucket)).keys() & {'README.md', 'manifest.json'} == {'README.md'}
    with pytest.raises(Fatal, match='no manifest'):
        verify(bucket)
