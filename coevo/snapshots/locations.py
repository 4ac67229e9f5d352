"""Where a snapshot lies: a folder, a .zip of one, or a URL (https://, http://, s3://).

DuckDB reads all of them. What lies elsewhere it reads by ranges: row groups and columns that a question
does not need are not fetched. Its manifest says which files there are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Protocol
from urllib.parse import urlsplit

from coevo.display.credentials import hidden
from coevo.model.errors import Damaged
from coevo.model.errors import Fatal
from coevo.snapshots.footers import read_footer
from coevo.storage.bounded_reading import TooLarge
from coevo.storage.bounded_reading import Unreadable
from coevo.storage.bounded_reading import in_words
from coevo.storage.bounded_reading import member_blocks
from coevo.storage.bounded_reading import read_file
from coevo.storage.bounded_reading import read_stream
from coevo.storage.bounded_reading import zip_archive

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

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

    def manifest(self) -> bytes:
        """The bytes of its manifest; FileNotFoundError if it has none, Fatal if there is nothing."""
        ...

    def open(self, name: str) -> pa.NativeFile:
        """A file by its name in the snapshot; FileNotFoundError if there is none."""
        ...

    def names(self) -> Iterable[str]:
        """The files that lie there, as far as the place tells."""
        ...

    def files(
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

    def manifest(self) -> bytes:
        if not self.path.is_dir():
            raise Fatal(f'{self.path} is no snapshot: there is no such folder')
        file = self.path / MANIFEST
        try:
            return read_file(file, most=MOST_OF_A_MANIFEST)
        except Unreadable as error:
            raise Damaged(f'{file} is damaged, for it {error}: get the snapshot again') from None

    def open(self, name: str) -> pa.NativeFile:
        import pyarrow as pa

        return pa.OSFile(str(_regular(self.path / name)))

    def names(self) -> Iterable[str]:
        files = (path for path in self.path.rglob('*') if path.is_file())
        return sorted(path.relative_to(self.path).as_posix() for path in files)

    def files(
        self, connection: duckdb.DuckDBPyConnection, table: str, listed: Iterable[str]
    ) -> Sequence[str]:
        found = data_files(self.path, table)
        for file in found:
            with self.open(file.relative_to(self.path).as_posix()) as opened:
                _check_footer(str(file), opened)
        return [_readable(str(file.absolute())) for file in found]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Files that are opened by their name in the snapshot; a web server does not list them."""

    shown: str
    open: Callable[[str], pa.NativeFile]
    names: Callable[[], Iterable[str]] = tuple

    def manifest(self) -> bytes:
        try:
            return read_whole(self.open(MANIFEST), most=MOST_OF_A_MANIFEST)
        except Unreadable as error:
            place = f'{self.shown}/{MANIFEST}'
            raise Damaged(f'{place} is damaged, for it {error}: get the snapshot again') from None

    def files(
        self, connection: duckdb.DuckDBPyConnection, table: str, listed: Iterable[str]
    ) -> Sequence[str]:
        from coevo.snapshots.remote_files import attach

        opened = {name: self.open(name) for name in files_of(table, listed)}
        for name, file in opened.items():
            _check_footer(f'{self.shown}/{name}', file)
        return attach(connection, self.shown, opened)


def read_whole(file: pa.NativeFile, *, most: int) -> bytes:
    """Return all bytes of an open file, and close it. Raises: TooLarge."""
    with file:
        if file.size() > most:
            raise TooLarge(f'has more than {in_words(most)}')
        return read_stream(file, most=most)


def locate(place: Path | str) -> Location:
    """Where a path or a URL leads; Fatal if nobody can read from there."""
    text = str(place)
    if not _is_unicode(text):
        raise Fatal(f'{text!r} has a name that is not UTF-8, which DuckDB cannot open; rename it')
    scheme = urlsplit(text).scheme if '://' in text else ''
    if scheme in ('http', 'https'):
        from coevo.snapshots.ranges import over_http

        return Elsewhere(hidden(text), over_http(text.rstrip('/')))
    if scheme == 's3':
        return _in_bucket(text)
    if scheme:
        raise Fatal(f'{text} cannot be read: give a folder, a .zip, or a URL of https:// or s3://')
    path = Path(place)
    return _in_archive(path) if path.suffix == '.zip' else SnapshotFolder(path)


def _is_unicode(text: str) -> bool:
    return not any('\ud800' <= letter <= '\udfff' for letter in text)


def data_files(path: Path, table: str) -> tuple[Path, ...]:
    """The Parquet files of a table in a folder, sorted; Damaged if there are none."""
    found = tuple(map(_regular, sorted((path / 'data' / table).glob('*.parquet'))))
    if not found and table != 'timings':  # which are no part of what a snapshot promises
        SnapshotFolder(path).manifest()
        raise Damaged(f'{path} is not whole: data/{table} has no Parquet file; get it again')
    return found


def _check_footer(place: str, file: pa.NativeFile) -> None:
    """Damaged where DuckDB would make room for what a footer only says."""
    try:
        read_footer(file)
    except Unreadable as error:
        raise Damaged(f'{place} cannot be read, for it {error}: get the snapshot again') from None


def _readable(path: str) -> str:
    """The path itself; Fatal where DuckDB would take it for the names of other files."""
    if set(path) & set('*?'):
        raise Fatal(f'{path} has a * or ? in its name, for which DuckDB reads others; rename it')
    return path


def _regular(file: Path) -> Path:
    """The file itself; Damaged where another thing stands, such as a pipe, which nobody ever fills."""
    if file.exists() and not file.is_file():
        raise Damaged(f'{file} is damaged, for it is no file: get the snapshot again')
    return file


def files_of(table: str, listed: Iterable[str]) -> tuple[str, ...]:
    """The Parquet files of a table among those that a manifest names, sorted."""
    head = f'data/{table}/'
    return tuple(sorted(one for one in listed if one.startswith(head) and one.endswith('.parquet')))


def source(files: Iterable[str]) -> str:
    """Parquet files, by path or URL, as what stands behind FROM.

    A folder `track=update` above them is none of their columns.
    """
    return f'read_parquet([{", ".join(map(quoted, files))}], hive_partitioning = false)'


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _in_archive(path: Path) -> Elsewhere:
    """Members of a .zip; the snapshot may be its content or one folder in it."""
    import pyarrow as pa

    try:
        archive = zip_archive(path)
    except FileNotFoundError:
        raise Fatal(f'{path} is no snapshot: there is no such file') from None
    except Unreadable as error:
        raise Damaged(f'{path} cannot be read, for it {error}: get it again') from None
    except OSError:
        raise Damaged(f'{path} is no .zip that can be read: get it again') from None
    heads = [n.removesuffix(MANIFEST) for n in archive.namelist() if n.split('/')[-1] == MANIFEST]
    head = min(heads, key=len, default='')

    def open(name: str) -> pa.NativeFile:
        """The file unpacked: without a name, so that it is gone when it is closed."""
        with tempfile.NamedTemporaryFile(prefix='coevo-member-') as unpacked:
            try:
                for block in member_blocks(archive, head + name, most=_MOST_OF_A_MEMBER):
                    unpacked.write(block)
            except Unreadable as error:
                raise Damaged(
                    f'{path} is damaged, for {name} in it {error}: get it again'
                ) from None
            unpacked.flush()
            return pa.OSFile(unpacked.name)

    def names() -> Iterator[str]:
        below = (n.removeprefix(head) for n in archive.namelist() if n.startswith(head))
        return (name for name in below if name and not name.endswith('/'))

    return Elsewhere(str(path), open, names)


def _in_bucket(url: str) -> Elsewhere:
    """Objects of an S3-compatible store; where it is and who we are stand in AWS_* variables."""
    import os

    from pyarrow import fs

    endpoint = os.environ.get('AWS_ENDPOINT_URL_S3') or os.environ.get('AWS_ENDPOINT_URL')
    filesystem = fs.S3FileSystem(
        endpoint_override=endpoint, anonymous=not os.environ.get('AWS_ACCESS_KEY_ID')
    )
    folder = url.rstrip('/').removeprefix('s3://')

    def open(name: str) -> pa.NativeFile:
        try:
            return filesystem.open_input_file(f'{folder}/{name}')
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _unreadable(url, error) from None

    def names() -> Iterator[str]:
        below = fs.FileSelector(folder, recursive=True)
        try:
            found = filesystem.get_file_info(below)
        except OSError as error:
            raise _unreadable(url, error) from None
        files = (one.path for one in found if one.type == fs.FileType.File)
        return (path.removeprefix(f'{folder}/') for path in files)

    return Elsewhere(hidden(url), open, names)


def _unreadable(url: str, error: OSError) -> Fatal:
    line = str(error).splitlines()[0]
    return Fatal(f'{url} cannot be read: {line}; check the URL and AWS_* variables')
