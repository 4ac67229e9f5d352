"""After a release: the catalogue and the page tell of all months that are there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coevo.snapshots.catalogue import find_latest
from coevo.storage.place import Root, Url
from coevo.storage.store import Store
from flows.live.release import rebuild_catalogue_and_site
from packagers.publishing import locate_snapshot
from tests import segments, snapshots


def silent(sentence: str) -> None:
    pass


@pytest.mark.slow
@pytest.mark.parametrize('kind', ['folder', pytest.param('s3', marks=pytest.mark.slow)])
def test_announcement_lists_all_released_months(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    place: Root = tmp_path / 'public'
    if kind == 's3':
        place = Url(f'{request.getfixturevalue("bucket")}/public')
    store, site = Store(tmp_path / 'store'), tmp_path / 'site'
    segments.fill(store, 1, 2)
    first = locate_snapshot(place, '2024-01')
    for month, previous in (('2024-01', None), ('2024-02', first)):
        snapshots.write(store, locate_snapshot(place, month), month=month, previous=previous)
        catalogue = rebuild_catalogue_and_site(place, site, silent)
        assert catalogue == f'{place}/catalogue.json'
        assert find_latest(str(place)) == f'{place}/{month}'
    index = json.loads((site / 'site.json').read_text())
    assert [month['month'] for month in index['months']] == ['2024-02', '2024-01']
    assert rebuild_catalogue_and_site(place, None, silent) == f'{place}/catalogue.json'
