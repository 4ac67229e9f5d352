"""DuckDB with bounded memory: excess data spills to disk, and row order is not preserved."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

# Each thread needs memory of its own that cannot spill.
_THREADS = 4


def limit_memory_and_allow_spilling(
    connection: duckdb.DuckDBPyConnection, folder: str, *, megabytes: int
) -> None:
    """Limit a connection's threads and memory, and let it spill to a folder."""
    (threads,) = connection.execute("SELECT current_setting('threads')").fetchone() or (1,)
    connection.execute(f'SET threads = {min(threads, _THREADS)}')
    connection.execute(f"SET memory_limit = '{megabytes}MB'")
    connection.execute('SET temp_directory = ?', [folder])
    connection.execute('SET preserve_insertion_order = false')
