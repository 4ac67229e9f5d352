"""The footers of Parquet files, read before DuckDB reads them.

A footer begins with how many columns it tells of, and DuckDB makes room for as many as are said: twenty bytes may ask for
gigabytes. Arrow has bounds, so what it reads is within them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coevo.storage.bounded_reading import ContentTooLarge, UnreadableContent, format_size

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

# Of the largest table a footer has some MiB: some hundred bytes of each column in each row group.
_MOST_BYTES = 64 << 20
# Columns, or row groups, or pairs of a name and a text.
_MOST_ITEMS = 100_000
_MOST_OF_A_TEXT = 16 << 20

# What a file has before and behind its footer: a mark, a length, a mark.
_MARK, _LENGTH = 4, 4


def read_footer(file: pa.NativeFile) -> pq.FileMetaData:
    """Return what the footer of a Parquet file says.

    Raises: Unreadable for what is no Parquet, or has a footer that is damaged or too large.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    size = file.size()
    if size < 2 * _MARK + _LENGTH:
        raise UnreadableContent('is no Parquet')
    length = int.from_bytes(file.read_at(_LENGTH, size - _MARK - _LENGTH), 'little')
    if length > min(_MOST_BYTES, size):
        raise ContentTooLarge(f'has a footer of {format_size(length)}')
    try:
        return pq.ParquetFile(
            file,
            thrift_string_size_limit=_MOST_OF_A_TEXT,
            thrift_container_size_limit=_MOST_ITEMS,
        ).metadata
    except (pa.ArrowException, UnicodeDecodeError, OSError):
        raise UnreadableContent('has a damaged footer') from None
