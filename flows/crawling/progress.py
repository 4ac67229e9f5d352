"""Keep the answers of an interrupted crawl.

The next crawl repeats its requests at no cost, by their ETags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.storage.documents import encode_parquet
from coevo.storage.place import Root
from coevo.storage.places import open_place
from flows.crawling.rows import RepositorySeen, parse_repository_row

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

        `count_row` writes them inside the block, too.
        """
        self._rows = rows
        try:
            yield
        except BaseException:
            self._write_rows()
            raise

    def count_row(self) -> None:
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
