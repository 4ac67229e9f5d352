"""Crawls in the store: `crawls/STAMP/`, each there as a whole or not at all, and never changed.

`repositories.parquet`, `events.parquet` and `queries.parquet` hold the records of `crawl_rows`.
`crawl.json` is written last, and only if there is none: without it a crawl is not there. It says
what was asked, how it went, the checksums of the tables, and each profile's latest crawl.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from datetime import datetime
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.model.errors import Fatal
from coevo.storage.documents import parquet
from coevo.storage.place import Hold
from coevo.storage.place import Place
from coevo.storage.place import Root
from coevo.storage.places import place_of
from coevo.storage.store import Store
from flows.crawling.rows import CrawlEvent
from flows.crawling.rows import QueryRead
from flows.crawling.rows import RepositorySeen
from flows.crawling.rows import part
from flows.crawling.rows import repository_seen

FORMAT = 1

_STAMP = '%Y%m%dT%H%M%SZ'
_ABOUT = re.compile(r'crawls/(\d{8}T\d{6}Z)/crawl\.json')
_TABLE = re.compile(r'crawls/(\d{8}T\d{6}Z)/[^/]+\.parquet')
_TABLES = {'repositories': RepositorySeen, 'events': CrawlEvent, 'queries': QueryRead}


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawl:
    """What a crawl leaves; `about` is `crawl.json` but for what stands in every one."""

    stamp: str
    profile: str
    about: dict[str, Any]
    repositories: tuple[RepositorySeen, ...]
    events: tuple[CrawlEvent, ...]
    queries: tuple[QueryRead, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawledRepository:
    """A repository to clone, validate and mine; `repo` is its key in all data.

    pushed_at  when somebody last pushed to it, as GitHub says; None if it does not
    crawled    when the last crawl that met it began, which said so
    """

    repo: str
    github_id: int
    full_name: str
    clone_url: str
    default_branch: str
    stars: int
    license: str | None
    pushed_at: datetime | None
    crawled: datetime
    profiles: tuple[str, ...]


def latest_kept(store: Root, profile: str | None = None) -> tuple[CrawledRepository, ...]:
    """The candidates by the latest crawl of one profile, or of each; sorted by `repo`."""
    rows: dict[int, RepositorySeen] = {}
    names: dict[int, list[str]] = {}
    for name, stamp in sorted(latest(store).items(), key=lambda item: item[1]):
        if profile in (None, name):
            for row in read_repositories(store, stamp):
                if row.kept:
                    rows[row.github_id] = row
                    names.setdefault(row.github_id, []).append(name)
    found = [
        part(
            CrawledRepository,
            row,
            profiles=tuple(sorted(names[number])),
            crawled=time_of(row.last_seen),
        )
        for number, row in rows.items()
    ]
    return tuple(sorted(found, key=lambda one: one.repo))


def stamps(store: Root) -> tuple[str, ...]:
    """Of all crawls, the oldest first."""
    found = (_ABOUT.fullmatch(entry.name) for entry in place_of(store).entries('crawls'))
    return tuple(sorted(match[1] for match in found if match is not None))


def latest(store: Root) -> dict[str, str]:
    """The stamp of each profile's latest crawl."""
    found = stamps(store)
    return dict(read_about(store, found[-1])['latest']) if found else {}


def read_about(store: Root, stamp: str) -> dict[str, Any]:
    """What `crawl.json` says; Fatal if a newer coevo wrote it."""
    found: dict[str, Any] = json.loads(_read(place_of(store), f'crawls/{stamp}/crawl.json'))
    if found['coevo-crawl'] > FORMAT:
        raise Fatal(f'the crawl {stamp} was written by a newer coevo: update coevo')
    return found


def read_repositories(store: Root, stamp: str) -> tuple[RepositorySeen, ...]:
    """Fatal if the table is not the one that the crawl wrote."""
    place, name = place_of(store), f'crawls/{stamp}/repositories.parquet'
    data = _read(place, name)
    if hashlib.sha256(data).hexdigest() != read_about(store, stamp)['files'][name.split('/')[-1]]:
        raise Fatal(f'{place.shown(name)} is damaged: move crawls/{stamp} away and crawl again')
    return tuple(map(repository_seen, pq.read_table(pa.BufferReader(data)).to_pylist()))


def _read(place: Place, name: str) -> bytes:
    found = place.read(name)
    if found is None:
        raise Fatal(f'{place.shown(name)} is missing: move its folder away and crawl again')
    return found.data


@contextmanager
def crawling(store: Root) -> Iterator[Hold]:
    """One crawl of a store at a time, since keys of repositories are given once; Fatal if another
    one is running. What a crawl that was killed left unfinished is removed."""
    Store(store)  # Fatal where the folder is something else
    place = place_of(store)
    busy = f'another crawl of {place.shown()} is running: wait for its end'
    with place.lock('crawls/lock', busy) as hold:
        unfinished = (_TABLE.fullmatch(entry.name) for entry in place.entries('crawls'))
        whole = frozenset(stamps(store))
        place.remove([one[0] for one in unfinished if one is not None and one[1] not in whole])
        yield hold


def next_stamp(store: Root, now: datetime) -> str:
    """`now`, or a second after the latest crawl where the clock has been set back."""
    found = stamps(store)
    if found:
        now = max(now, time_of(found[-1]) + timedelta(seconds=1))
    return now.astimezone(UTC).strftime(_STAMP)


def time_of(stamp: str) -> datetime:
    return datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)


def write_crawl(store: Root, crawl: Crawl) -> str:
    """Where it stands, as a user would write it."""
    place, folder = place_of(store), f'crawls/{crawl.stamp}'
    tables = {
        f'{name}.parquet': parquet(record, getattr(crawl, name)) for name, record in _TABLES.items()
    }
    about = {
        'coevo-crawl': FORMAT,
        'stamp': crawl.stamp,
        **crawl.about,
        'latest': dict(sorted({**latest(store), crawl.profile: crawl.stamp}.items())),
        'files': {name: hashlib.sha256(data).hexdigest() for name, data in tables.items()},
    }
    for name, data in tables.items():
        place.write(f'{folder}/{name}', data)
    if place.exchange(f'{folder}/crawl.json', _json(about), None) is None:
        raise Fatal(f'{place.shown(folder)} is there already; a crawl is never changed')
    return place.shown(folder)


def _json(about: Mapping[str, Any]) -> bytes:
    return f'{json.dumps(about, indent=1)}\n'.encode()
