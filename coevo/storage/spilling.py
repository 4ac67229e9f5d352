"""DuckDB in a bounded memory: what does not fit goes to disk, and no question needs an order of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

# Each has memory of its own that no question can do without.
_THREADS = 4


def allow_spilling(connection: duckdb.DuckDBPyConnection, folder: str, *, megabytes: int) -> None:
    """Let what takes more memory be put into a folder."""
    (threads,) = connection.execute("SELECT current_setting('threads')").fetchone() or (1,)
    connection.execute(f'SET threads = {min(threads, _THREADS)}')
    connection.execute(f"SET memory_limit = '{megabytes}MB'")
    connection.execute('SET temp_directory = ?', [folder])
    connection.execute('SET preserve_insertion_order = false')
