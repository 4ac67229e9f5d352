"""Crawls in the store: `crawls/STAMP/`, each written completely or not at all, and never changed.

`repositories.parquet`, `events.parquet` and `queries.parquet` hold the records of
`flows.crawling.rows`. `crawl.json` is written last, and only if there is none; a crawl without it
does not count. It has the profile, the results, the checksums of the tables, and each profile's
latest crawl.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.model.errors import Fatal
from coevo.storage.documents import encode_parquet
from coevo.storage.place import HeldLock, Root, StoragePlace
from coevo.storage.places import open_place
from coevo.storage.store import Store
from flows.crawling.rows import (
    CrawlEvent,
    CrawlQuery,
    RepositorySeen,
    copy_fields,
    parse_repository_row,
)

FORMAT = 1

_STAMP = '%Y%m%dT%H%M%SZ'
_ABOUT = re.compile(r'crawls/(\d{8}T\d{6}Z)/crawl\.json')
_TABLE = re.compile(r'crawls/(\d{8}T\d{6}Z)/[^/]+\.parquet')
_TABLES = {'repositories': RepositorySeen, 'events': CrawlEvent, 'queries': CrawlQuery}


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawl:
    """The output of a crawl; `about` is the part of `crawl.json` that differs between crawls."""

    stamp: str
    profile: str
    about: dict[str, Any]
    repositories: tuple[RepositorySeen, ...]
    events: tuple[CrawlEvent, ...]
    queries: tuple[CrawlQuery, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawledRepository:
    """A repository to clone, validate and mine; `repo` is its key in all data.

    pushed_at  the time of the last push according to GitHub; None if GitHub does not say
    crawled    the start of the last crawl that found it, the source of `pushed_at`
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


def load_latest_candidates(
    store: Root, profile: str | None = None
) -> tuple[CrawledRepository, ...]:
    """Return the candidates in the latest crawl of one profile, or of each; sorted by `repo`."""
    stamps = load_latest_stamps(store)
    chosen = {name: stamp for name, stamp in stamps.items() if profile in (None, name)}
    candidates = map(build_candidate, load_rows_by_repo_and_profile(store, chosen).values())
    return tuple(candidate for candidate in candidates if candidate is not None)


def load_rows_by_repo_and_profile(
    store: Root, stamp_by_profile: Mapping[str, str]
) -> dict[str, dict[str, RepositorySeen]]:
    """Return the rows of some crawls by repository, sorted, and by profile, the oldest crawl first.

    stamps  a crawl of each profile, by the profile's name
    """
    rows: dict[str, dict[str, RepositorySeen]] = {}
    for name, stamp in sorted(stamp_by_profile.items(), key=lambda item: item[1]):
        for row in load_repositories(store, stamp):
            rows.setdefault(row.repo, {})[name] = row
    return dict(sorted(rows.items()))


def build_candidate(rows: Mapping[str, RepositorySeen]) -> CrawledRepository | None:
    """Return a repository as the last of its rows by profile that keep it describes it.

    None if no profile keeps it.
    """
    kept_rows = {name: row for name, row in rows.items() if row.kept}
    if not kept_rows:
        return None
    row = list(kept_rows.values())[-1]
    return copy_fields(
        CrawledRepository,
        row,
        profiles=tuple(sorted(kept_rows)),
        crawled=parse_stamp(row.last_seen),
    )


def list_stamps(store: Root) -> tuple[str, ...]:
    """Return the stamps of all crawls, the oldest first."""
    matches = (_ABOUT.fullmatch(entry.name) for entry in open_place(store).list_files('crawls'))
    return tuple(sorted(match[1] for match in matches if match is not None))


def load_latest_stamps(store: Root) -> dict[str, str]:
    """Return the stamp of each profile's latest crawl by the profile's name; empty if none."""
    all_stamps = list_stamps(store)
    return dict(load_crawl_json(store, all_stamps[-1])['latest']) if all_stamps else {}


def load_stamps_at(store: Root, moment: datetime) -> dict[str, str]:
    """Return the stamp of each profile's latest crawl until a moment, by the profile's name.

    A profile that was first crawled later has the stamp of its first crawl.
    """
    all_stamps = list_stamps(store)
    earlier = [stamp for stamp in all_stamps if parse_stamp(stamp) <= moment]
    stamps = dict(load_crawl_json(store, earlier[-1])['latest']) if earlier else {}
    wanted = load_latest_stamps(store).keys()
    for stamp in all_stamps[len(earlier) :]:
        if wanted <= stamps.keys():
            break
        stamps.setdefault(load_crawl_json(store, stamp)['profile']['name'], stamp)
    return stamps


def load_crawl_json(store: Root, stamp: str) -> dict[str, Any]:
    """Return the content of a crawl's `crawl.json`.

    Raises: Fatal if it is missing or a newer coevo wrote it.
    """
    about: dict[str, Any] = json.loads(_load_file(open_place(store), f'crawls/{stamp}/crawl.json'))
    if about['coevo-crawl'] > FORMAT:
        raise Fatal(f'the crawl {stamp} was written by a newer coevo: update coevo')
    return about


def load_repositories(store: Root, stamp: str) -> tuple[RepositorySeen, ...]:
    """Return the repositories of a crawl.

    Raises: Fatal if the table is missing, or is not the one that the crawl wrote.
    """
    storage, name = open_place(store), f'crawls/{stamp}/repositories.parquet'
    data = _load_file(storage, name)
    if (
        hashlib.sha256(data).hexdigest()
        != load_crawl_json(store, stamp)['files'][name.split('/')[-1]]
    ):
        raise Fatal(
            f'{storage.describe(name)} is damaged: move crawls/{stamp} away and crawl again'
        )
    return tuple(map(parse_repository_row, pq.read_table(pa.BufferReader(data)).to_pylist()))


def _load_file(place: StoragePlace, name: str) -> bytes:
    stored_file = place.read(name)
    if stored_file is None:
        raise Fatal(f'{place.describe(name)} is missing: move its folder away and crawl again')
    return stored_file.data


@contextmanager
def lock_crawls_or_raise_and_clean(store: Root) -> Iterator[HeldLock]:
    """Allow one crawl of a store at a time, since each repository gets its key only once.

    Remove what a killed crawl left. Raises: Fatal if another crawl is running.
    """
    Store(store)  # raises Fatal if the folder is not a store
    storage = open_place(store)
    busy = f'another crawl of {storage.describe()} is running: wait for its end'
    with storage.lock('crawls/lock', busy) as hold:
        unfinished = (_TABLE.fullmatch(entry.name) for entry in storage.list_files('crawls'))
        whole = frozenset(list_stamps(store))
        storage.remove_files(
            [match[0] for match in unfinished if match is not None and match[1] not in whole]
        )
        yield hold


def choose_next_stamp(store: Root, now: datetime) -> str:
    """Return the stamp of `now`, or a second after the latest crawl if the clock was set back."""
    all_stamps = list_stamps(store)
    if all_stamps:
        now = max(now, parse_stamp(all_stamps[-1]) + timedelta(seconds=1))
    return now.astimezone(UTC).strftime(_STAMP)


def parse_stamp(stamp: str) -> datetime:
    """Return the time of a stamp."""
    return datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)


def write_crawl_and_get_address(store: Root, crawl: Crawl) -> str:
    """Write a new crawl to the store; return its address as a user would write it.

    Raises: Fatal if there is a crawl of this stamp already.
    """
    storage, folder = open_place(store), f'crawls/{crawl.stamp}'
    tables = {
        f'{name}.parquet': encode_parquet(record, getattr(crawl, name))
        for name, record in _TABLES.items()
    }
    about = {
        'coevo-crawl': FORMAT,
        'stamp': crawl.stamp,
        **crawl.about,
        'latest': dict(sorted({**load_latest_stamps(store), crawl.profile: crawl.stamp}.items())),
        'files': {name: hashlib.sha256(data).hexdigest() for name, data in tables.items()},
    }
    for name, data in tables.items():
        storage.write_file(f'{folder}/{name}', data)
    if storage.write_if_unchanged(f'{folder}/crawl.json', _encode_json(about), None) is None:
        raise Fatal(f'{storage.describe(folder)} is there already; a crawl is never changed')
    return storage.describe(folder)


def _encode_json(about: Mapping[str, Any]) -> bytes:
    return f'{json.dumps(about, indent=1)}\n'.encode()


# Keep the answers of an interrupted crawl.
#
# The next crawl repeats its requests at no cost, by their ETags.

# Rows between two writes; a kill loses the answers since the last write.
_EVERY = 200


class CrawlProgress:
    """The rows of an unfinished crawl, in a file beside the crawls, one for each profile.

    The file is removed when a crawl completes.
    """

    def __init__(self, store: Root, profile: str) -> None:
        self._place = open_place(store)
        self._name = f'crawls/unfinished-{profile}.parquet'
        self._rows: Mapping[int, RepositorySeen] = {}
        self._before: Mapping[int, RepositorySeen] = {}
        self._noted = 0

    def read(self) -> Mapping[int, RepositorySeen]:
        """Return the rows of the unfinished crawl by repository number.

        Empty if there is no file, or it is damaged.
        """
        stored_file = self._place.read(self._name)
        if stored_file is None:
            return {}
        try:
            rows = pq.read_table(pa.BufferReader(stored_file.data)).to_pylist()
            self._before = {row['github_id']: parse_repository_row(row) for row in rows}
        except (pa.ArrowException, KeyError, TypeError, ValueError):
            return {}
        return self._before

    @contextmanager
    def write_rows_on_failure(self, rows: Mapping[int, RepositorySeen]) -> Iterator[None]:
        """Note the rows that the block fills, and write them if the block fails.

        `count_row_and_write_periodically` writes them inside the block, too.
        """
        self._rows = rows
        try:
            yield
        except BaseException:
            self._write_rows()
            raise

    def count_row_and_write_periodically(self) -> None:
        """Count one more row, and write the rows if enough were added."""
        self._noted += 1
        if self._noted % _EVERY == 0:
            self._write_rows()

    def clear(self) -> None:
        """Remove the file."""
        self._place.remove_files([self._name])

    def _write_rows(self) -> None:
        rows = {**self._before, **self._rows}
        table = encode_parquet(RepositorySeen, [rows[number] for number in sorted(rows)])
        self._place.write_file(self._name, table)
