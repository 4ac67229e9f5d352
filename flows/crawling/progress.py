"""What a crawl was told before it was interrupted: it is asked again at no cost, by its ETags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.storage.documents import encode_parquet
from coevo.storage.place import Root
from coevo.storage.places import open_place
from flows.crawling.rows import RepositorySeen, parse_repository_row

# A kill costs the answers since the last writing.
_EVERY = 200


class CrawlProgress:
    """A file beside the crawls, one for each profile, gone when a crawl has got to its end."""

    def __init__(self, store: Root, profile: str) -> None:
        self._place = open_place(store)
        self._name = f'crawls/unfinished-{profile}.parquet'
        self._rows: Mapping[int, RepositorySeen] = {}
        self._before: Mapping[int, RepositorySeen] = {}
        self._noted = 0

    def read(self) -> Mapping[int, RepositorySeen]:
        """The rows of the unfinished crawl by number; none if there is none, or it is damaged."""
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
    def record_rows(self, rows: Mapping[int, RepositorySeen]) -> Iterator[None]:
        """While entered, rows that are added are written now and then, and when it breaks off."""
        self._rows = rows
        try:
            yield
        except BaseException:
            self._write_rows()
            raise

    def count_row(self) -> None:
        """One more row."""
        self._noted += 1
        if self._noted % _EVERY == 0:
            self._write_rows()

    def clear(self) -> None:
        self._place.remove_files([self._name])

    def _write_rows(self) -> None:
        rows = {**self._before, **self._rows}
        table = encode_parquet(RepositorySeen, [rows[number] for number in sorted(rows)])
        self._place.write_file(self._name, table)
