"""Write a month of the site: the files of a snapshot that the page reads, and its statistics."""

from __future__ import annotations

import datetime
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.schema import SCHEMA, get_table_name_in_files
from coevo.snapshots import snapshot, statistics
from coevo.snapshots.table_files import ROWS_PER_GROUP
from coevo.storage import durable
from coevo.storage.beneath import join_beneath
from packagers.site import scores
from packagers.site.reports import BoardEntry

if TYPE_CHECKING:
    import duckdb

# Descriptions of the snapshot that the page links to.
DESCRIPTIONS = ('README.md', 'ATTRIBUTION', 'manifest.json', 'croissant.json')

# The tables that the page reads; the others stay with the snapshot.
TABLES = ('tasks', 'methods', 'pairs', 'withdrawn')


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """A snapshot in a folder, its manifest, and the manifest's checksum.

    Evaluations name the snapshot by this checksum.
    """

    path: Path
    manifest: Mapping[str, Any]
    sha256: str

    @property
    def name(self) -> str:
        """The month of the snapshot, such as 2024-06."""
        return str(self.manifest['month'])

    @property
    def scored_as(self) -> tuple[str, ...]:
        """The checksums by which evaluations may name the snapshot.

        These are its own and, of an edition, that of its release, which has the same tasks.
        """
        edition = self.manifest.get('edition')
        return (self.sha256, edition['manifest_sha256']) if edition else (self.sha256,)


def load_month(path: Path) -> Month:
    """Return the month of the snapshot in a folder.

    Raises: Fatal if there is no folder, or this version cannot read the snapshot.
    """
    if not path.is_dir():
        raise Fatal(f'{path} is no folder: fetch or unpack the snapshot, then name its folder')
    manifest = snapshot.load_manifest(path)
    checksum = hashlib.sha256((path / snapshot.MANIFEST).read_bytes()).hexdigest()
    return Month(path=path, manifest=manifest, sha256=checksum)


def write_month(month: Month, evaluations: Sequence[BoardEntry], folder: Path) -> dict[str, Any]:
    """Write the files of a month into a new folder; return its entry in the page's index."""
    found = {table: list(_load_files(month, table)) for table in TABLES}
    with snapshot.translate_read_errors((month.path,)):
        connection = snapshot.open_snapshots(month.path)
        if snapshot.parse_schema_version(month.manifest) < SCHEMA:
            found = {table: [_encode_table(connection, table)] for table in TABLES}
        figures = statistics.count_figures(connection)
        withheld = statistics.describe_withheld_texts(connection)
        answers = list(_compute_statistics(connection))
    files = {table: list(_write_files(folder, copies)) for table, copies in found.items()}
    durable.write_durably(folder / 'statistics.json', [_encode_json(answers)])
    durable.write_durably(
        folder / 'reports.json', [_encode_json([entry.report for entry in evaluations])]
    )
    scored = scores.encode_scores([entry.rows for entry in evaluations])
    durable.write_durably(folder / scores.NAME, [scored])
    return {
        'month': month.name,
        'manifest_sha256': month.sha256,
        'figures': figures,
        'withheld': withheld,
        'reports': len(evaluations),
        'scores': {'path': scores.NAME, 'size': len(scored)},
        'files': files,
        'descriptions': list(_copy_descriptions(month, folder)),
    }


def _copy_descriptions(month: Month, folder: Path) -> Iterator[str]:
    for name in DESCRIPTIONS:
        source = month.path / name
        if source.is_file():
            join_beneath(folder, name).replace_file(source.read_bytes())
            yield name


def _write_files(
    folder: Path, files: Sequence[tuple[str, bytes]]
) -> Iterator[dict[str, str | int]]:
    for name, content in files:
        join_beneath(folder, name).replace_file(content)
        yield {'path': name, 'size': len(content)}


def _encode_table(connection: duckdb.DuckDBPyConnection, table: str) -> tuple[str, bytes]:
    """Return a table as the name and bytes of one file, with the present names of columns.

    The page knows no others. The order of rows stays.
    """
    sink = io.BytesIO()
    rows = connection.sql(f'FROM {table}').to_arrow_table()
    pq.write_table(rows, sink, compression='zstd', row_group_size=ROWS_PER_GROUP.get(table))
    return f'data/{table}/part-0.parquet', sink.getvalue()


def _load_files(month: Month, table: str) -> Iterator[tuple[str, bytes]]:
    """Yield the name and bytes of each file of a table.

    Raises: DamagedSnapshot if a checksum differs from the manifest.
    """
    for file in snapshot.list_data_files(
        month.path, get_table_name_in_files(table, snapshot.parse_schema_version(month.manifest))
    ):
        name = file.relative_to(month.path).as_posix()
        content = file.read_bytes()
        known = month.manifest['files'].get(name, {})
        if known.get('sha256') != hashlib.sha256(content).hexdigest():
            raise DamagedSnapshot(
                f'{file} is not what the manifest says it is: get the snapshot again'
            )
        yield name, content


def _compute_statistics(connection: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    for statistic in statistics.STATISTICS:
        result = statistics.run_statistic(connection, statistic)
        yield {
            'name': statistic.name,
            'title': statistic.title,
            'note': statistic.note,
            'sql': statistic.sql,
            'columns': list(result.columns),
            'rows': [[_to_plain_value(value) for value in row] for row in result.rows],
        }


def _to_plain_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, datetime.date) else value


def _encode_json(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=1).encode() + b'\n'
