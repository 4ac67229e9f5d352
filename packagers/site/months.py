"""Write a month of the site: the files of a snapshot that the page reads, and its statistics."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.snapshots import snapshot, statistics
from coevo.storage import durable
from coevo.storage.beneath import join_beneath
from packagers.site import scores
from packagers.site.reports import BoardEntry

# The tables that the page reads; the others stay with the snapshot.
TABLES = ('tasks', 'methods', 'pairs', 'withdrawn')


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """A snapshot and its manifest, with the manifest's checksum, by which evaluations name the
    snapshot."""

    path: Path
    manifest: Mapping[str, Any]
    sha256: str

    @property
    def name(self) -> str:
        """The month of the snapshot, such as 2024-06."""
        return str(self.manifest['month'])


def load_month(path: Path) -> Month:
    """Load a month; Fatal if the folder has no snapshot that this version reads."""
    if not path.is_dir():
        raise Fatal(f'{path} is no folder: fetch or unpack the snapshot, then name its folder')
    manifest = snapshot.load_manifest(path)
    checksum = hashlib.sha256((path / snapshot.MANIFEST).read_bytes()).hexdigest()
    return Month(path=path, manifest=manifest, sha256=checksum)


def write_month(month: Month, evaluations: Sequence[BoardEntry], folder: Path) -> dict[str, Any]:
    """Write the files of a month into a new folder; return its entry in the page's index."""
    files = {table: list(_copy_table(month, table, folder)) for table in TABLES}
    with snapshot.translate_read_errors((month.path,)):
        answers = list(_compute_statistics(month))
    durable.write_durably(folder / 'statistics.json', [_encode_json(answers)])
    durable.write_durably(
        folder / 'reports.json', [_encode_json([entry.report for entry in evaluations])]
    )
    scored = scores.encode_scores([entry.rows for entry in evaluations])
    durable.write_durably(folder / scores.NAME, [scored])
    return {
        'month': month.name,
        'manifest_sha256': month.sha256,
        'rows': month.manifest['rows'],
        'reports': len(evaluations),
        'scores': {'path': scores.NAME, 'size': len(scored)},
        'files': files,
    }


def _copy_table(month: Month, table: str, folder: Path) -> Iterator[dict[str, str | int]]:
    """Copy the files of a table; DamagedSnapshot if their checksums differ from the manifest."""
    for file in snapshot.list_data_files(month.path, table):
        name = file.relative_to(month.path).as_posix()
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            raise DamagedSnapshot(f'{file} leads nowhere: get the snapshot again') from None
        known = month.manifest['files'].get(name, {})
        if known.get('sha256') != hashlib.sha256(content).hexdigest():
            raise DamagedSnapshot(
                f'{file} is not what the manifest says it is: get the snapshot again'
            )
        join_beneath(folder, name).replace_file(content)
        yield {'path': name, 'size': len(content)}


def _compute_statistics(month: Month) -> Iterator[dict[str, Any]]:
    connection = snapshot.open_snapshots(month.path)
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
