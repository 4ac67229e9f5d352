"""Hydration: restore the full release from a code-free edition, with the same bytes or none."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.git.pool import RepositoryPool
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.schema import TABLES, build_table_of_plain_rows, build_table_schema
from coevo.model.texts import find_third_party_paths
from coevo.snapshots.code_free.blobs import CloneLocations
from coevo.snapshots.code_free.recipes import FULL
from coevo.snapshots.code_free.texts import EditionTexts, LackingRepository, TextPosition
from coevo.snapshots.local_copy import TIMINGS, open_local_copy
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.manifests import is_code_free
from coevo.snapshots.snapshot import load_manifest
from coevo.snapshots.table_files import write_table_file
from coevo.snapshots.verification import check_folder
from coevo.storage import durable
from coevo.storage.beneath import join_beneath

_ROWS = 2_000  # read at once


@dataclass(frozen=True, slots=True, kw_only=True)
class HydrationResult:
    """The result of a hydration. The release is at `out`, unless files are lacking or differ.

    texts    number of texts that the edition omits
    differs  files whose bytes differ from those of the release
    """

    out: Path
    texts: int
    written_by: str
    lacking: tuple[LackingRepository, ...] = ()
    differs: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the release was restored."""
        return not self.lacking and not self.differs

    @property
    def sentences(self) -> Iterator[str]:
        """Lines for the user: each problem, then whether the release was written."""
        yield from map(str, self.lacking)
        for name in self.differs:
            yield f'{name} came out with other bytes than the release has'
        if self.differs and self.written_by != describe_writer():
            yield f'that was written by {self.written_by}, here is {describe_writer()}: install the same'
        yield (
            f'{self.out}: {self.texts} texts filled in; all files have the SHA-256 of the release'
            if self.is_whole
            else f'{self.out} was not written'
        )


def describe_writer() -> str:
    """Return the name and version of the Parquet writer; another version may write other bytes."""
    return f'pyarrow {pa.__version__}'


def hydrate_edition(place: Path | str, out: Path, clones: CloneLocations) -> HydrationResult:
    """Restore the release of an edition into a new folder.

    Raises: Fatal if the folder exists or the place holds no code-free edition; DamagedSnapshot if
    the edition is not valid.
    """
    if out.exists() or out.is_symlink():
        raise Fatal(f'{out} is there already; name a folder that is not')
    with open_local_copy(place) as folder:
        content = load_manifest(folder)
        if not is_code_free(content):
            raise Fatal(f'{place} is no code-free edition: it has its texts')
        for finding in check_folder(folder):
            raise DamagedSnapshot(
                f'{place} is not good ({finding.table}: {finding.rule}): get it again'
            )
        texts = EditionTexts(folder)
        written_by = content['edition']['written_by']
        report = partial(HydrationResult, out=out, texts=len(texts), written_by=written_by)
        urls = _load_urls(folder)
        lacking = tuple(texts.find_lacking(clones, urls))
        if lacking:
            return report(lacking=lacking)
        with RepositoryPool(partial(texts.open_repository, clones, urls)) as pool:
            texts.use_clones(pool.get)
            return report(differs=_publish_release(folder, out, texts))


def _publish_release(folder: Path, out: Path, texts: EditionTexts) -> tuple[str, ...]:
    """Restore the release, move it to `out` if all bytes match, and return files that differ."""
    parent = out.absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=f'.{out.name}{durable.UNFINISHED}', dir=parent
    ) as scratch:
        new_folder = Path(scratch) / 'snapshot'
        differs = write_release(folder, new_folder, texts)
        if not differs:
            for path in (*sorted(new_folder.rglob('*'), reverse=True), new_folder):
                durable.sync_to_disk(path)
            new_folder.rename(out.absolute())
            durable.sync_to_disk(parent)
    return differs


def write_release(folder: Path, made: Path, texts: EditionTexts) -> tuple[str, ...]:
    """Write the whole release into a new folder, and return the files whose bytes differ."""
    release = _load_release_manifest(folder)
    for name in release['files']:
        _write_release_file(folder, name, join_beneath(made, name).prepare_for_writing(), texts)
    shutil.copyfile(folder / f'{FULL}{MANIFEST}', made / MANIFEST)
    if (folder / TIMINGS).is_file():
        (made / TIMINGS).parent.mkdir(parents=True)
        shutil.copyfile(folder / TIMINGS, made / TIMINGS)
    return tuple(
        name
        for name, about in release['files'].items()
        if hashlib.sha256((made / name).read_bytes()).hexdigest() != about['sha256']
    )


def _load_release_manifest(folder: Path) -> Mapping[str, Any]:
    """Return the release's manifest.

    A copy under the usual name is loaded, which checks its form.
    """
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copyfile(folder / f'{FULL}{MANIFEST}', Path(scratch) / MANIFEST)
        return load_manifest(scratch)


def _load_urls(folder: Path) -> Mapping[str, str | None]:
    files = sorted((folder / 'data/repositories').glob('*.parquet'))
    tables = (pq.read_table(file, columns=['repo', 'url']) for file in files)
    return {row['repo']: row['url'] for table in tables for row in table.to_pylist()}


def _write_release_file(folder: Path, name: str, target: Path, texts: EditionTexts) -> None:
    """Write a file of the release: a copy of the edition's, unless it is a table with texts."""
    table = Path(name).parts[1] if name.startswith('data/') else ''
    if table not in TABLES:
        shutil.copyfile(folder / f'{FULL}{name}', target)
    elif not find_third_party_paths(TABLES[table]):
        shutil.copyfile(folder / name, target)
    else:
        schema = build_table_schema(table)
        rows = _fill_rows(folder / name, name, texts)
        write_table_file(target, table, schema, rows, partial(build_table_of_plain_rows, schema))


def _fill_rows(file: Path, name: str, texts: EditionTexts) -> Iterator[dict[str, Any]]:
    places = texts.list_positions(name)
    number = 0
    with pq.ParquetFile(file) as parquet:
        for batch in parquet.iter_batches(batch_size=_ROWS):
            for row in batch.to_pylist():
                for position in places.get(number, ()):
                    _fill_text(row, position, texts)
                number += 1
                yield row


def _fill_text(row: dict[str, Any], place: TextPosition, texts: EditionTexts) -> None:
    column, _, inner = place.column.partition('.')
    try:
        holder = row[column][place.element] if inner else row
        if holder[inner or column] is not None:
            raise KeyError(place.column)
    except (KeyError, IndexError, TypeError):
        raise DamagedSnapshot(
            f'there is no place for a text at {place.column}: get the edition again'
        ) from None
    holder[inner or column] = texts.build_text(place.text)
