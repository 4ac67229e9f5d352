"""The places that a snapshot can be read from: a folder, a .zip of one, or a URL (https, http, s3).

DuckDB reads all of them. It reads remote files by ranges, so that row groups and columns that a
query does not need are not fetched. The manifest says which files there are.

The footers of Parquet files are checked before DuckDB reads them. A footer begins with the number
of its columns, and DuckDB allocates memory for that number, so that twenty bytes may ask for
gigabytes. Arrow has limits; a footer that Arrow can read is within them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from coevo.display.terminal import hide_credentials
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
"""Bytes. A manifest has some hundred bytes for each file and each walk."""

# Most bytes of a file in a .zip, which is unpacked into the folder for temporary files.
_MOST_OF_A_MEMBER = 16 << 30


class Location(Protocol):
    """A place that a snapshot can be read from."""

    @property
    def shown(self) -> str:
        """The name of the place in messages, without credentials."""
        ...

    def load_manifest(self) -> bytes:
        """Return the bytes of the manifest.

        Raises: FileNotFoundError if the place has no manifest, Fatal if the place does not exist.
        """
        ...

    def open(self, name: str) -> pa.NativeFile:
        """Open a file by its name in the snapshot. Raises: FileNotFoundError if it is missing."""
        ...

    def names(self) -> Iterable[str]:
        """Return the names of all files there; a web server cannot list them and gives none."""
        ...

    def list_table_files(
        self, connection: duckdb.DuckDBPyConnection, table: str, listed: Iterable[str]
    ) -> Sequence[str]:
        """Return the Parquet files of a table, under names that the connection can read.

        listed  the files that the manifest names
        """
        ...


@dataclass(frozen=True, slots=True)
class SnapshotFolder:
    """A snapshot in a local folder."""

    path: Path

    @property
    def shown(self) -> str:
        """The path of the folder, as messages name it."""
        return str(self.path)

    def load_manifest(self) -> bytes:
        """Return the bytes of the manifest.

        Raises: FileNotFoundError if the folder has no manifest, Fatal if there is no folder,
        DamagedSnapshot if the file cannot be read or is too large.
        """
        if not self.path.is_dir():
            raise Fatal(
                f'{self.path} is no snapshot: there is no such folder; name a folder, a URL, a month '
                'such as 2026-07, or `latest`'
            )
        file = self.path / MANIFEST
        try:
            return load_file(file, most=MOST_OF_A_MANIFEST)
        except UnreadableContent as error:
            raise DamagedSnapshot(
                f'{file} is damaged, for it {error}: get the snapshot again'
            ) from None

    def open(self, name: str) -> pa.NativeFile:
        """Open a file by its name in the snapshot.

        Raises: FileNotFoundError if it is missing, DamagedSnapshot if it is a pipe or the like.
        """
        import pyarrow as pa

        # Bytes, since a name in a snapshot need not be UTF-8.
        return pa.OSFile(os.fsencode(_require_regular_file(self.path / name)))

    def names(self) -> Iterable[str]:
        """Return the names of all files in the folder and below, sorted."""
        files = (path for path in self.path.rglob('*') if path.is_file())
        return sorted(path.relative_to(self.path).as_posix() for path in files)

    def list_table_files(
        self, connection: duckdb.DuckDBPyConnection, table: str, listed: Iterable[str]
    ) -> Sequence[str]:
        """Return the absolute paths of the Parquet files of a table, after checking their footers.

        They are those that lie in the folder, whatever the manifest names. Raises: DamagedSnapshot
        if there are none (but for `timings`) or a footer is damaged.
        """
        paths = list_data_files(self.path, table)
        for file in paths:
            with self.open(file.relative_to(self.path).as_posix()) as opened:
                _check_footer(str(file), opened)
        return [_require_no_glob_in_name(str(file.absolute())) for file in paths]


@dataclass(frozen=True, slots=True)
class RemoteLocation:
    """A snapshot whose files are opened by name: in a .zip, in a bucket or on a web server."""

    shown: str
    open: Callable[[str], pa.NativeFile]
    names: Callable[[], Iterable[str]] = tuple

    def load_manifest(self) -> bytes:
        """Return the bytes of the manifest.

        Raises: FileNotFoundError if there is none, DamagedSnapshot if it cannot be read or is too
        large.
        """
        try:
            return read_and_close_file(self.open(MANIFEST), most=MOST_OF_A_MANIFEST)
        except UnreadableContent as error:
            manifest_path = f'{self.shown}/{MANIFEST}'
            raise DamagedSnapshot(
                f'{manifest_path} is damaged, for it {error}: get the snapshot again'
            ) from None

    def list_table_files(
        self, connection: duckdb.DuckDBPyConnection, table: str, listed: Iterable[str]
    ) -> Sequence[str]:
        """Return the Parquet files of a table, under names that the connection can read.

        They are those that the manifest names (`listed`). All are opened, and registered with the
        connection. Raises: DamagedSnapshot if a footer is damaged.
        """
        from coevo.snapshots.remote_files import register_files

        opened = {name: self.open(name) for name in select_table_files(table, listed)}
        for name, file in opened.items():
            _check_footer(f'{self.shown}/{name}', file)
        return register_files(connection, self.shown, opened)


def read_and_close_file(file: pa.NativeFile, *, most: int) -> bytes:
    """Return all bytes of an open file, and close it. Raises: ContentTooLarge."""
    with file:
        if file.size() > most:
            raise ContentTooLarge(f'has more than {format_size(most)}')
        return read_stream(file, most=most)


def locate_snapshot(place: Path | str) -> Location:
    """Return the location of a path or URL. Raises: Fatal if coevo cannot read from there."""
    text = str(place)
    if not _is_unicode(text):
        raise Fatal(f'{text!r} has a name that is not UTF-8, which DuckDB cannot open; rename it')
    scheme = urlsplit(text).scheme if '://' in text else ''
    if scheme in ('http', 'https'):
        from coevo.snapshots.remote_files import make_http_opener

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
    """Return the Parquet files of a table in a folder, sorted.

    Raises: DamagedSnapshot if there are none, unless the table is `timings`.
    """
    paths = tuple(map(_require_regular_file, sorted((path / 'data' / table).glob('*.parquet'))))
    if not paths and table != 'timings':  # a snapshot need not have timings
        SnapshotFolder(path).load_manifest()
        raise DamagedSnapshot(
            f'{path} is not whole: data/{table} has no Parquet file; get it again'
        )
    return paths


def _check_footer(place: str, file: pa.NativeFile) -> None:
    """Raise DamagedSnapshot for a footer for which DuckDB would allocate too much memory."""
    try:
        read_footer(file)
    except UnreadableContent as error:
        raise DamagedSnapshot(
            f'{place} cannot be read, for it {error}: get the snapshot again'
        ) from None


def _require_no_glob_in_name(path: str) -> str:
    """Return the path. Raises: Fatal if DuckDB would take it for a pattern of file names."""
    if set(path) & set('*?'):
        raise Fatal(f'{path} has a * or ? in its name, for which DuckDB reads others; rename it')
    return path


def _require_regular_file(file: Path) -> Path:
    """Return the file.

    Raises: DamagedSnapshot if it is no regular file, as a pipe, which would block its reader, or a
    link to nothing.
    """
    if file.is_symlink() and not file.exists():
        raise DamagedSnapshot(f'{file} is a link that leads nowhere: get the snapshot again')
    if file.exists() and not file.is_file():
        raise DamagedSnapshot(f'{file} is damaged, for it is no file: get the snapshot again')
    return file


def select_table_files(table: str, listed: Iterable[str]) -> tuple[str, ...]:
    """Return the Parquet files of a table among those that a manifest names, sorted."""
    head = f'data/{table}/'
    return tuple(
        sorted(name for name in listed if name.startswith(head) and name.endswith('.parquet'))
    )


def build_parquet_source(files: Iterable[str]) -> str:
    """Return the FROM source that reads these Parquet files, given by path or URL.

    A folder such as `track=update` in their paths does not become a column.
    """
    return f'read_parquet([{", ".join(map(quote_sql, files))}], hive_partitioning = false)'


def quote_sql(text: str) -> str:
    """Return a text as an SQL string literal."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _locate_in_archive(path: Path) -> RemoteLocation:
    """Return the location of a .zip, in which the snapshot is at the top or in one folder."""
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
        """Unpack a file into an unnamed temporary file, which is deleted when it is closed."""
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
        """Return the names of all files of the snapshot."""
        below = (n.removeprefix(head) for n in archive.namelist() if n.startswith(head))
        return (name for name in below if name and not name.endswith('/'))

    return RemoteLocation(str(path), open_member, list_members)


def _locate_in_bucket(url: str) -> RemoteLocation:
    """Return the location of a folder in an S3-compatible store.

    The AWS_* variables give the endpoint and the credentials; without credentials access is
    anonymous.
    """
    import os

    from pyarrow import fs

    endpoint = os.environ.get('AWS_ENDPOINT_URL_S3') or os.environ.get('AWS_ENDPOINT_URL')
    filesystem = fs.S3FileSystem(
        endpoint_override=endpoint, anonymous=not os.environ.get('AWS_ACCESS_KEY_ID')
    )
    folder = url.rstrip('/').removeprefix('s3://')

    def open_object(name: str) -> pa.NativeFile:
        """Open a file by its name in the snapshot."""
        try:
            return filesystem.open_input_file(f'{folder}/{name}')
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _make_unreadable_error(url, error) from None

    def list_objects() -> Iterator[str]:
        """Return the names of all files of the snapshot."""
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


# The footer of the largest table has some MiB: about a hundred bytes for each column and row group.
_MOST_BYTES = 64 << 20
# Most columns, row groups, or key-value pairs.
_MOST_ITEMS = 100_000
_MOST_OF_A_TEXT = 16 << 20

# Bytes of the magic number and of the footer's length, which follow the footer.
_MARK, _LENGTH = 4, 4


def read_footer(file: pa.NativeFile) -> pq.FileMetaData:
    """Return the metadata in the footer of a Parquet file.

    Raises: UnreadableContent if the file is no Parquet, or its footer is damaged or too large.
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
