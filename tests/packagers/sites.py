"""A snapshot for the tests of the site: two repositories, dates over years, all kinds of gaps."""

from __future__ import annotations

import dataclasses
from datetime import UTC
from datetime import datetime
from datetime import timedelta
from pathlib import Path

from coevo.records import Cause
from coevo.store import Store
from coevo.tables import Segment
from tests import segments
from tests import snapshots

OTHER = 'example/tram'
FIRST = datetime(2013, 5, 20, 23, 30, tzinfo=UTC)


def make(folder: Path) -> Path:
    """Eight pairs of one repository and eight of another, 200 days apart, from 2013 on."""
    store = Store(folder / 'store')
    found = [_dated(number) for number in range(1, 17)]
    with store.lock(segments.PARTITION):
        store.write_walk(segments.PARTITION, segments.walk(*range(1, 9)))
        for segment in found[:8]:
            store.write(segments.PARTITION, segment)
        store.compact(segments.PARTITION)
    segments.fill_elsewhere(store, OTHER, *found[8:], head=17)
    snapshots.write(store, folder / 'snapshot', month='2024-06')
    return folder / 'snapshot'


def _dated(number: int) -> Segment:
    """Of every third pair the cause is another one, which takes no track here."""
    segment = segments.segment(number, key=f'key-{number}')
    date = FIRST + timedelta(days=200 * number, hours=number)
    dates = dict.fromkeys(('new_author_date', 'new_committer_date'), date)
    cause = Cause.FIXTURE if number % 3 == 0 else Cause.PRODUCTION
    methods = tuple(
        dataclasses.replace(row, cause=cause if row.track else None) for row in segment.methods
    )
    return dataclasses.replace(
        segment, pair=dataclasses.replace(segment.pair, **dates), methods=methods
    )
