"""Where a snapshot lies: a folder, a .zip of one, or a URL (https://, http://, s3://).

DuckDB reads all of them. What lies elsewhere it reads by ranges: row groups and columns that a question
does not need are not fetched. Its manifest says which files there are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from coevo.display.redaction import hide_credentials
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.storage.bounded_reading import (
    ContentTooLarge,
    UnreadableContent,
    format_size,
    load_file,
    open_lasting_zip,
    read_member_blocks,
    read_stream,
)

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


MANIFEST = 'manifest.json'

MOST_OF_A_MANIFEST = 64 << 20
"""Bytes: it tells some hundred of each file and of each walk."""

# Bytes of a file in a .zip, which is unpacked where temporary files are.
_MOST_OF_A_MEMBER = 16 << 30


class Location(Protocol):
    """What reading a snapshot asks of the place where it lies."""

    @property
    def shown(self) -> str:
        """What a person calls it."""
        ...

    def load_manifest(self) -> bytes:
        """The bytes of its manifest; FileNotFoundError if it has none, Fatal if there is nothing."""
        ...

    def open(self, name: str) -> pa.NativeFile:
        """A file by its name in the snapshot; FileNotFoundError if there is none."""
        ...

    def names(self) -> Iterable[str]:
        """The files that lie there, as far as the place tells."""
        ...

    def list_table_files(
        self, connection: duckdb.DuckDBPyConnection, table: str, listed: Iterable[str]
    ) -> Sequence[str]:
        """The Parquet files of a table, by what the connection can read them by.

        `listed` are the files that the manifest names.
        """
        ...


@dataclass(frozen=True, slots=True)
class SnapshotFolder:
    path: Path

    @property
    def shown(self) -> str:
        return str(self.path)

    def load_manifest(self) -> bytes:
        if not self.path.is_dir():
            raise Fatal(f'{self.path} is no snapshot: there is no such folder')
        file = self.path / MANIFEST
        try:
            return load_file(file, most=MOST_OF_A_MANIFEST)
        except UnreadableContent as error:
            raise DamagedSnapshot(
                f'{file} is damaged, for it {error}: get the snapshot again'
            ) from None

    def open(self, name: str) -> pa.NativeFile:
        import pyarrow as pa

        return pa.OSFile(str(_require_regular_file(self.path / name)))

    def names(self) -> Iterable[str]:
        files = (path for path in self.path.rglob('*') if path.is_file())
        return sorted(path.relative_to(self.path).as_posix() for path in files)

    def list_table_files(
        self, connection: duckdb.DuckDBPyConnection, table: str, listed: Iterable[str]
    ) -> Sequence[str]:
        paths = list_data_files(self.path, table)
        for file in paths:
            with self.open(file.relative_to(self.path).as_posix()) as opened:
                _check_footer(str(file), opened)
        return [_require_readable_name(str(file.absolute())) for file in paths]


@dataclass(frozen=True, slots=True)
class RemoteLocation:
    """Files that are opened by their name in the snapshot; a web server does not list them."""

    shown: str
    open: Callable[[str], pa.NativeFile]
    names: Callable[[], Iterable[str]] = tuple

    def load_manifest(self) -> bytes:
        try:
            return read_whole_file(self.open(MANIFEST), most=MOST_OF_A_MANIFEST)
        except UnreadableContent as error:
            manifest_path = f'{self.shown}/{MANIFEST}'
            raise DamagedSnapshot(
                f'{manifest_path} is damaged, for it {error}: get the snapshot again'
            ) from None

    def list_table_files(
        self, connection: duckdb.DuckDBPyConnection, table: str, listed: Iterable[str]
    ) -> Sequence[str]:
        from coevo.snapshots.remote_files import attach_files

        opened = {name: self.open(name) for name in select_table_files(table, listed)}
        for name, file in opened.items():
            _check_footer(f'{self.shown}/{name}', file)
        return attach_files(connection, self.shown, opened)


def read_whole_file(file: pa.NativeFile, *, most: int) -> bytes:
    """Return all bytes of an open file, and close it. Raises: TooLarge."""
    with file:
        if file.size() > most:
            raise ContentTooLarge(f'has more than {format_size(most)}')
        return read_stream(file, most=most)


def locate_snapshot(place: Path | str) -> Location:
    """Where a path or a URL leads; Fatal if nobody can read from there."""
    text = str(place)
    if not _is_unicode(text):
        raise Fatal(f'{text!r} has a name that is not UTF-8, which DuckDB cannot open; rename it')
    scheme = urlsplit(text).scheme if '://' in text else ''
    if scheme in ('http', 'https'):
        from coevo.snapshots.ranges import make_http_opener

        return RemoteLocation(hide_credentials(text), make_http_opener(text.rstrip('/')))
    if scheme == 's3':
        return _locate_in_bucket(text)
    if scheme:
        raise Fatal(f'{text} cannot be read: give a folder, a .zip, or a URL of https:// or s3://')
    path = Path(place)
    return _locate_in_archive(path) if path.suffix == '.zip' else SnapshotFolder(path)


def _is_unicode(text: str) -> bool:
    return not any('\ud800' <= letter <= '\udfff' for letter in text)


def list_data_files(path: Path, table: str) -> tuple[Path, ...]:
    """The Parquet files of a table in a folder, sorted; Damaged if there are none."""
    paths = tuple(map(_require_regular_file, sorted((path / 'data' / table).glob('*.parquet'))))
    if not paths and table != 'timings':  # which are no part of what a snapshot promises
        SnapshotFolder(path).load_manifest()
        raise DamagedSnapshot(
            f'{path} is not whole: data/{table} has no Parquet file; get it again'
        )
    return paths


def _check_footer(place: str, file: pa.NativeFile) -> None:
    """Damaged where DuckDB would make room for what a footer only says."""
    try:
        read_footer(file)
    except UnreadableContent as error:
        raise DamagedSnapshot(
            f'{place} cannot be read, for it {error}: get the snapshot again'
        ) from None


def _require_readable_name(path: str) -> str:
    """The path itself; Fatal where DuckDB would take it for the names of other files."""
    if set(path) & set('*?'):
        raise Fatal(f'{path} has a * or ? in its name, for which DuckDB reads others; rename it')
    return path


def _require_regular_file(file: Path) -> Path:
    """The file itself; Damaged where another thing stands, such as a pipe, which nobody ever fills."""
    if file.exists() and not file.is_file():
        raise DamagedSnapshot(f'{file} is damaged, for it is no file: get the snapshot again')
    return file


def select_table_files(table: str, listed: Iterable[str]) -> tuple[str, ...]:
    """The Parquet files of a table among those that a manifest names, sorted."""
    head = f'data/{table}/'
    return tuple(
        sorted(name for name in listed if name.startswith(head) and name.endswith('.parquet'))
    )


def build_parquet_source(files: Iterable[str]) -> str:
    """Parquet files, by path or URL, as what stands behind FROM.

    A folder `track=update` above them is none of their columns.
    """
    return f'read_parquet([{", ".join(map(quote_sql, files))}], hive_partitioning = false)'


def quote_sql(text: str) -> str:
    """A text as SQL writes it."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _locate_in_archive(path: Path) -> RemoteLocation:
    """Members of a .zip; the snapshot may be its content or one folder in it."""
    import pyarrow as pa

    try:
        archive = open_lasting_zip(path)
    except FileNotFoundError:
        raise Fatal(f'{path} is no snapshot: there is no such file') from None
    except UnreadableContent as error:
        raise DamagedSnapshot(f'{path} cannot be read, for it {error}: get it again') from None
    except OSError:
        raise DamagedSnapshot(f'{path} is no .zip that can be read: get it again') from None
    heads = [n.removesuffix(MANIFEST) for n in archive.namelist() if n.split('/')[-1] == MANIFEST]
    head = min(heads, key=len, default='')

    def open_member(name: str) -> pa.NativeFile:
        """The file unpacked: without a name, so that it is gone when it is closed."""
        with tempfile.NamedTemporaryFile(prefix='coevo-member-') as unpacked:
            try:
                for block in read_member_blocks(archive, head + name, most=_MOST_OF_A_MEMBER):
                    unpacked.write(block)
            except UnreadableContent as error:
                raise DamagedSnapshot(
                    f'{path} is damaged, for {name} in it {error}: get it again'
                ) from None
            unpacked.flush()
            return pa.OSFile(unpacked.name)

    def list_members() -> Iterator[str]:
        below = (n.removeprefix(head) for n in archive.namelist() if n.startswith(head))
        return (name for name in below if name and not name.endswith('/'))

    return RemoteLocation(str(path), open_member, list_members)


def _locate_in_bucket(url: str) -> RemoteLocation:
    """Objects of an S3-compatible store; where it is and who we are stand in AWS_* variables."""
    import os

    from pyarrow import fs

    endpoint = os.environ.get('AWS_ENDPOINT_URL_S3') or os.environ.get('AWS_ENDPOINT_URL')
    filesystem = fs.S3FileSystem(
        endpoint_override=endpoint, anonymous=not os.environ.get('AWS_ACCESS_KEY_ID')
    )
    folder = url.rstrip('/').removeprefix('s3://')

    def open_object(name: str) -> pa.NativeFile:
        try:
            return filesystem.open_input_file(f'{folder}/{name}')
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _make_unreadable_error(url, error) from None

    def list_objects() -> Iterator[str]:
        below = fs.FileSelector(folder, recursive=True)
        try:
            entries = filesystem.get_file_info(below)
        except OSError as error:
            raise _make_unreadable_error(url, error) from None
        files = (entry.path for entry in entries if entry.type == fs.FileType.File)
        return (path.removeprefix(f'{folder}/') for path in files)

    return RemoteLocation(hide_credentials(url), open_object, list_objects)


def _make_unreadable_error(url: str, error: OSError) -> Fatal:
    line = str(error).splitlines()[0]
    return Fatal(f'{url} cannot be read: {line}; check the URL and AWS_* variables')


# The footers of Parquet files, read before DuckDB reads them.
#
# A footer begins with how many columns it tells of, and DuckDB makes room for as many as are
# said: twenty bytes may ask for gigabytes. Arrow has bounds, so what it reads is within them.

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
