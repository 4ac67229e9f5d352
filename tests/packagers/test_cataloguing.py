"""The index beside published snapshots, and those who ask it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import coevo
from coevo.command.main import main
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.snapshots.catalogue import find_latest, load_catalogue
from coevo.storage.place import Root, Url
from coevo.storage.store import Store
from packagers import publishing
from tests import segments, snapshots
from tests.web_server import Site


@pytest.fixture(scope='module')
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two months of one store; the first has a pair less."""
    folder = tmp_path_factory.mktemp('published')
    store = Store(folder / 'store')
    segments.fill(store, 1, 2)
    first, second = folder / 'public' / '2024-01', folder / 'public' / '2024-02'
    snapshots.write(store, first, month='2024-01')
    segments.fill(store, 1, 2, 3)
    snapshots.write(store, second, month='2024-02', previous=first)
    return folder / 'public'


def test_catalogue_is_rebuilt_from_the_published_snapshots(
    published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not (published / 'catalogue.json').exists()
    listed = load_catalogue(published)  # a folder of this machine tells by itself
    for _ in range(2):
        publishing.rebuild_catalogue_and_get_address(published)
        assert load_catalogue(published) == listed
    assert [one.name for one in listed] == ['2024-01', '2024-02']
    assert main(['query', '--list', str(published)]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == [
        'snapshot',
        'month',
        'schema',
        'tasks',
        'methods',
        'pairs',
        'repositories',
        'MB',
    ]
    assert [row.split()[0] for row in rows] == ['2024-01', '2024-02']
    assert main(['query', '--list', str(published), '--format', 'json']) == 0
    assert capsys.readouterr().out == (published / 'catalogue.json').read_text()


@pytest.mark.sampled(1)
@pytest.mark.parametrize('kind', ['folder', 'http', 's3'])
def test_latest_snapshot_is_opened(
    published: Path, kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    publishing.rebuild_catalogue_and_get_address(published)
    place: Root | str = published
    if kind == 's3':
        place = Url(f'{request.getfixturevalue("bucket")}/public')
        for name in ('2024-02', '2024-01'):
            target = publishing.locate_snapshot(place, name)
            assert main(['pipeline', 'publish', str(published / name), str(target)]) == 0
    if kind == 'http':
        site = Site(published)
        request.addfinalizer(site.close)
        place = site.url
    assert find_latest(place) == f'{place}/2024-02'
    assert find_latest(f'{place}/catalogue.json') == f'{place}/2024-02'
    monkeypatch.setenv('COEVO_SNAPSHOTS', str(place))
    monkeypatch.chdir(published.parent)
    counted = coevo.open('latest').execute('SELECT count(*) FROM tasks').fetchone()
    assert (
        counted
        == coevo.open(published / '2024-02').execute('SELECT count(*) FROM tasks').fetchone()
    )


@pytest.mark.parametrize(
    ('content', 'error'),
    [
        ('[]', DamagedSnapshot),
        ('{"coevo-catalogue": 2, "snapshots": []}', DamagedSnapshot),
        ('../../etc', DamagedSnapshot),
        ('2024-13', DamagedSnapshot),
        ('{"coevo-catalogue": 1, "snapshots": []}', Fatal),
    ],
)
def test_damaged_or_empty_catalogue_is_refused(
    tmp_path: Path, content: str, error: type[Fatal]
) -> None:
    """A name that leaves the place is none; Damaged is Fatal, too."""
    if content[:1] not in '[{':
        one = {'name': 'a', 'month': '2024-01', 'schema': '2.0', 'rows': {}, 'size': 1}
        one['month' if content[:2] == '20' else 'name'] = content
        content = json.dumps({'coevo-catalogue': 1, 'snapshots': [one]})
    (tmp_path / 'catalogue.json').write_text(content)
    with pytest.raises(error):
        find_latest(tmp_path)


def test_folder_without_snapshots_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['query', '--list', str(tmp_path / 'nowhere')]) == 2
    assert 'is no snapshot: there is no such folder' not in (told := capsys.readouterr().err)
    assert 'is no folder of snapshots' in told
    assert load_catalogue(tmp_path) == ()


def tasks(path: Path, **dates: str | int) -> int:
    connection = coevo.open(path, **dates)  # type: ignore[arg-type]
    ((count,),) = connection.execute('SELECT count(*) FROM tasks').fetchall()
    return int(count)


@pytest.mark.parametrize('month', ['2026-6', '2026/06', '202606'])
def test_month_in_another_form_is_refused_with_the_right_one(month: str) -> None:
    with pytest.raises(Fatal, match=f'{month} is no month; write it like 2026-0?6'):
        coevo.open(month)


def test_month_of_no_calendar_is_refused() -> None:
    with pytest.raises(Fatal, match='2026-13 is no month; write it like 2026-12'):
        coevo.open('2026-13')


@pytest.mark.slow
def test_date_bounds_limit_the_opened_tasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot = snapshots.make(tmp_path, 1, 2, 3, 4)
    dates = coevo.open(snapshot).execute('SELECT contamination_date FROM tasks').fetchall()
    days = sorted(date for (date,) in dates if date)
    assert len(days) < len(dates)  # one has no date, and is in neither part
    middle = sorted({f'{day:%Y-%m-%d}' for day in days})[1]
    later = sum(f'{day:%Y-%m-%d}' > middle for day in days)
    earlier = sum(f'{day:%Y-%m-%d}' < middle for day in days)
    assert (tasks(snapshot, after=middle), tasks(snapshot, before=middle)) == (later, earlier)
    assert earlier > 0 < later
    assert tasks(snapshot, after=middle, margin=10_000) == 0
    assert tasks(snapshot, after='2023-12', before='2025-01') == len(days)
    assert tasks(snapshot, before='2024-01') == 0
    count = ('SELECT count(*) AS n FROM tasks', '--format', 'csv')
    assert main(['query', str(snapshot), *count, '--only-before', middle]) == 0
    told = capsys.readouterr()
    assert told.out.split() == ['n', str(earlier)]
    assert f'before {middle}: {earlier} of {len(dates)} tasks; left out: ' in told.err
    for wrong in ({'after': '2024-01', 'model': 'gpt-4.1'}, {'margin': 3}, {'before': 'May'}):
        with pytest.raises(Fatal):
            coevo.open(snapshot, **wrong)  # type: ignore[arg-type]
