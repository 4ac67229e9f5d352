"""Repositories that licences keep out of a release, and a store that is for its owner alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.git.repository import Repository
from coevo.model.errors import Fatal
from coevo.snapshots.catalogue import load_catalogue
from coevo.snapshots.snapshot import open_snapshots
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.place import Url
from flows.licence import check_accepted_licences, refuse_object_store
from flows.missing_pairs import MineReport
from flows.options import MineOptions, ReleaseOptions
from flows.pipeline import mine
from flows.publication import publish_release
from packagers import publishing
from packagers.code_free import write_edition
from packagers.editions import write_edition_without_gold
from tests.languages import toys
from tests.projects import QUICK, write
from tests.repos import commit

pytestmark = pytest.mark.usefixtures('toy')

OLD = {
    'toy.build': 'build: true\n',
    **toys.source('Till', 'price: 1'),
    **toys.tests('Till', 'follows: is Till.price 1'),
}
NEW = {**toys.source('Till', 'price: 2'), **toys.tests('Till', 'follows: is Till.price 2')}


def mined(repository: Path, store: Path, **changed: object) -> MineReport:
    options = MineOptions(source=str(repository), store=store, profile=QUICK, name='me/project')
    return mine(replace(options, **changed))  # type: ignore[arg-type]


def released(store: Path, snapshot: Path, **changed: object) -> str:
    options = ReleaseOptions(store=store, snapshot=snapshot)
    return publish_release(replace(options, **changed)).sentence  # type: ignore[arg-type]


def count_tasks(snapshot: Path) -> int:
    ((count,),) = open_snapshots(snapshot).sql('SELECT count(*) FROM tasks').fetchall()
    return int(count)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return write(tmp_path / 'project', [OLD, NEW])


def test_mining_and_releasing_say_what_a_missing_licence_keeps_out(
    repository: Path, tmp_path: Path
) -> None:
    said = '1 labelled test method of me/project, since no licence was found at their commits'
    assert said in '\n'.join(mined(repository, tmp_path / 'store').warnings)
    sentence = released(tmp_path / 'store', tmp_path / 'snapshot')
    assert said in sentence
    assert '--private' in sentence
    assert count_tasks(tmp_path / 'snapshot') == 0


def test_private_release_holds_all_rows_and_is_marked(repository: Path, tmp_path: Path) -> None:
    report = mined(repository, tmp_path / 'store', private=True)
    assert report.warnings == ()
    sentence = released(tmp_path / 'store', tmp_path / 'snapshot')
    assert 'It is private' in sentence
    assert 'URL' not in sentence
    assert verify_snapshot(tmp_path / 'snapshot') == []
    assert count_tasks(tmp_path / 'snapshot') == 1
    assert json.loads((tmp_path / 'snapshot/manifest.json').read_text())['private'] is True
    card = (tmp_path / 'snapshot/README.md').read_text()
    assert '**This release is private.**' in card
    assert 'ATTRIBUTION' not in card
    assert not (tmp_path / 'snapshot/ATTRIBUTION').exists()


def test_private_release_is_refused_wherever_others_would_see_it(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, snapshot = tmp_path / 'store', tmp_path / 'snapshots/mine'
    mined(repository, store, private=True)
    released(store, snapshot)
    assert main(['pipeline', 'publish', str(snapshot), str(tmp_path / 'elsewhere')]) == 2
    assert 'is private' in capsys.readouterr().err
    assert not (tmp_path / 'elsewhere').exists()
    publishing.rebuild_catalogue_and_get_address(tmp_path / 'snapshots')
    assert json.loads((tmp_path / 'snapshots/catalogue.json').read_text())['snapshots'] == []
    assert publishing.list_private_releases(tmp_path / 'snapshots') == ('mine',)
    assert load_catalogue(tmp_path / 'snapshots') == ()  # so that `latest` never means it
    for changed in (
        {'snapshot': Url('s3://bucket/mine')},
        {'snapshot': tmp_path / 'other', 'code_free': tmp_path / 'free'},
        {'snapshot': tmp_path / 'other', 'accepted': ('CC0-1.0',)},
    ):
        with pytest.raises(Fatal, match='is private'):
            publish_release(replace(ReleaseOptions(store=store, snapshot=snapshot), **changed))


def test_private_release_is_refused_before_its_target_is_asked(
    repository: Path, tmp_path: Path
) -> None:
    store, private = tmp_path / 'store', tmp_path / 'snapshots/mine'
    mined(repository, store, private=True)
    released(store, private)
    target = Url('s3://bucket/mine')  # no bucket answers, and no key is there
    for write_copy in (
        lambda: publishing.publish_copy(private, target),
        lambda: write_edition(private, target, Repository),
        lambda: write_edition_without_gold(private, target, Repository),
    ):
        with pytest.raises(Fatal, match='is private'):
            write_copy()


def test_private_release_gets_no_site(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, private, site = (tmp_path / name for name in ('store', 'mine', 'site'))
    mined(repository, store, private=True)
    released(store, private)
    assert main(['pipeline', 'site', str(private), '--out', str(site)]) == 2
    assert 'is private' in capsys.readouterr().err
    assert not site.exists()


def test_store_is_either_private_or_not(repository: Path, tmp_path: Path) -> None:
    store = tmp_path / 'store'
    mined(repository, store)
    with pytest.raises(Fatal, match='name another by --store'):
        mined(repository, store, private=True, name='me/another')
    assert mined(repository, store, private=True).reused == 1
    with pytest.raises(Fatal, match='add --private'):
        mined(repository, store)


def test_private_store_is_a_folder_of_this_machine() -> None:
    with pytest.raises(Fatal, match='is not on this machine'):
        refuse_object_store(Url('s3://bucket/store'))


@pytest.mark.slow
def test_licence_that_was_added_later_lets_older_rows_in_without_their_texts(
    repository: Path, tmp_path: Path
) -> None:
    commit(repository, 'licence', {'LICENSE': toys.LICENCE}, date='2024-01-01T09:00:00Z')
    assert mined(repository, tmp_path / 'store').warnings == ()
    released(tmp_path / 'store', tmp_path / 'snapshot')
    assert verify_snapshot(tmp_path / 'snapshot') == []
    sql = 'SELECT p.license, later_license, texts_withheld FROM tasks JOIN pairs p USING (pair_id)'
    rows = open_snapshots(tmp_path / 'snapshot').sql(sql).fetchall()
    assert rows == [(None, 'Apache-2.0', True)]


def test_unknown_licence_file_is_not_replaced_by_a_later_licence(tmp_path: Path) -> None:
    steps = [{**OLD, 'LICENSE': 'All rights reserved.\n'}, NEW, {'LICENSE': toys.LICENCE}]
    repository = write(tmp_path / 'project', steps)
    said = 'the licence file at their commits is none that coevo knows'
    assert said in '\n'.join(mined(repository, tmp_path / 'store').warnings)
    assert said in released(tmp_path / 'store', tmp_path / 'snapshot')
    assert count_tasks(tmp_path / 'snapshot') == 0


def test_unapproved_licence_is_named_with_the_option_that_accepts_it(tmp_path: Path) -> None:
    steps = [{**OLD, 'LICENSE': 'CC0 1.0 Universal\n'}, NEW]
    repository = write(tmp_path / 'project', steps)
    said = 'their licence CC0-1.0 is not approved by the OSI; `coevo release --accept-licence`'
    assert said in '\n'.join(mined(repository, tmp_path / 'store').warnings)
    assert said in released(tmp_path / 'store', tmp_path / 'one')
    assert said not in released(tmp_path / 'store', tmp_path / 'two', accepted=('CC0-1.0',))
    assert count_tasks(tmp_path / 'two') == 1


@pytest.mark.parametrize('word', ['UNKNOWN', 'LicenseRef-Proprietary', 'mit', ''])
def test_word_that_is_no_licence_is_refused_with_those_that_are(word: str) -> None:
    with pytest.raises(Fatal, match=r'CC-BY-4\.0, .*WTFPL, and not'):
        check_accepted_licences([word])
    assert check_accepted_licences(['WTFPL', 'MIT', 'WTFPL']) == ('MIT', 'WTFPL')
