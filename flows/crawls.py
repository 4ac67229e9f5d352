"""Crawls in the store: `STORE/crawls/STAMP/`, each written whole or not at all, never changed.

`crawl.json` says what was asked and how it went, `repositories.parquet`, `events.parquet` and
`queries.parquet` hold the records of `crawl_rows`.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from datetime import datetime
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from coevo import durable
from coevo import schema
from coevo.errors import Fatal
from coevo.store import Store
from flows.crawl_rows import Event
from flows.crawl_rows import QueryRead
from flows.crawl_rows import RepositorySeen
from miners.candidates import Presence
from miners.candidates import Reason
from miners.candidates import Root

FORMAT = 1

_STAMP = '%Y%m%dT%H%M%SZ'
_NAME = re.compile(r'\d{8}T\d{6}Z')


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawl:
    """What a crawl leaves; `about` is `crawl.json` but for its format and stamp."""

    about: dict[str, Any]
    repositories: tuple[RepositorySeen, ...]
    events: tuple[Event, ...]
    queries: tuple[QueryRead, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A repository to clone, validate and mine; `repo` is its key in all data."""

    repo: str
    github_id: int
    full_name: str
    clone_url: str
    default_branch: str
    stars: int
    license: str | None
    profiles: tuple[str, ...]


def latest_kept(store: Path, profile: str | None = None) -> tuple[Candidate, ...]:
    """The candidates by the latest crawl of one profile, or of each; sorted by `repo`."""
    found: dict[int, tuple[RepositorySeen, list[str]]] = {}
    for name, folder in sorted(latest(store).items(), key=lambda item: item[1].name):
        if profile not in (None, name):
            continue
        for row in read_repositories(folder):
            if row.kept:
                names = found[row.github_id][1] if row.github_id in found else []
                found[row.github_id] = row, sorted([*names, name])
    candidates = [_candidate(row, names) for row, names in found.values()]
    return tuple(sorted(candidates, key=lambda one: one.repo))


def _candidate(row: RepositorySeen, names: Sequence[str]) -> Candidate:
    return Candidate(
        repo=row.repo,
        github_id=row.github_id,
        full_name=row.full_name,
        clone_url=row.clone_url,
        default_branch=row.default_branch,
        stars=row.stars,
        license=row.license,
        profiles=tuple(names),
    )


def latest(store: Path) -> dict[str, Path]:
    """The folder of the latest crawl of each profile."""
    return {read_about(folder)['profile']['name']: folder for folder in crawls(store)}


def crawls(store: Path) -> list[Path]:
    """The folders of all crawls, the oldest first."""
    root = store / 'crawls'
    if not root.is_dir():
        return []
    return sorted(entry for entry in root.iterdir() if _NAME.fullmatch(entry.name))


def read_about(folder: Path) -> dict[str, Any]:
    """What `crawl.json` says; Fatal if a newer coevo wrote it."""
    found: dict[str, Any] = json.loads((folder / 'crawl.json').read_bytes())
    if found['coevo-crawl'] > FORMAT:
        raise Fatal(f'{folder} was written by a newer coevo: update coevo')
    return found


def read_repositories(folder: Path) -> tuple[RepositorySeen, ...]:
    rows = pq.read_table(folder / 'repositories.parquet').to_pylist()
    return tuple(_row(row) for row in rows)


def _row(row: dict[str, Any]) -> RepositorySeen:
    closed = {
        'presence': Presence(row['presence']),
        'reason': Reason(row['reason']) if row['reason'] is not None else None,
        'root': Root(row['root']) if row['root'] is not None else None,
        'unanswered': tuple(row['unanswered']),
    }
    return RepositorySeen(**{**row, **closed})


@contextmanager
def crawling(store: Path) -> Iterator[None]:
    """One crawl of a store at a time: keys of repositories are given once. Fatal if there is one.

    What a crawl that was killed left unfinished is removed.
    """
    Store(store)  # Fatal where the folder is something else
    root = store / 'crawls'
    root.mkdir(parents=True, exist_ok=True)
    with (root / 'lock').open('w') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Fatal(f'another crawl of {store} is running: wait for its end') from None
        for left in root.glob(f'*{durable.UNFINISHED}*'):
            shutil.rmtree(left)
        yield


def next_stamp(store: Path, now: datetime) -> str:
    """`now`, or a second after the latest crawl where the clock has been set back."""
    found = crawls(store)
    if found:
        last = datetime.strptime(found[-1].name, _STAMP).replace(tzinfo=UTC)
        now = max(now, last + timedelta(seconds=1))
    return now.astimezone(UTC).strftime(_STAMP)


def write_crawl(store: Path, stamp: str, crawl: Crawl) -> Path:
    """The folder of a crawl, written under another name first."""
    folder = store / 'crawls' / stamp
    new = folder.with_name(f'{stamp}{durable.UNFINISHED}{os.getpid()}')
    new.mkdir()
    about = {'coevo-crawl': FORMAT, 'stamp': stamp, **crawl.about}
    durable.write(new / 'crawl.json', [f'{json.dumps(about, indent=1)}\n'.encode()])
    _write_table(new / 'repositories.parquet', RepositorySeen, crawl.repositories)
    _write_table(new / 'events.parquet', Event, crawl.events)
    _write_table(new / 'queries.parquet', QueryRead, crawl.queries)
    durable.sync(new)
    new.rename(folder)
    durable.sync(folder.parent)
    return folder


def _write_table(path: Path, record: type, rows: Sequence[Any]) -> None:
    pq.write_table(schema.table(record, rows), path, compression='zstd')
    durable.sync(path)
