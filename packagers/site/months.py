"""Write a month of the site: the files of a snapshot that the page reads, and its statistics."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.figures import open_results
from coevo.evaluation.reporting.report import encode_report, load_report, make_report
from coevo.evaluation.results import load_results, load_suites
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.schema import SCHEMA, build_arrow_schema, get_table_name_in_files
from coevo.model.words import Track
from coevo.snapshots import snapshot, statistics
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.locations import SnapshotFolder
from coevo.snapshots.manifests import refuse_private
from coevo.snapshots.table_files import ROWS_PER_GROUP
from coevo.storage import durable
from coevo.storage.beneath import join_beneath

if TYPE_CHECKING:
    import duckdb

# Write the scores that the leaderboard counts again for a reader's cutoff.
#
# There is a row for each method.

NAME = 'scores.parquet'

_SCORES = """
SELECT evaluation, track, task_id, test_method, repo, new_date, contamination_date, outcome,
    coalesce(strict_askable, false) AS strict_askable, success_strict, vacuous,
    coverage_pred AS coverage, range_coverage_pred AS range_coverage,
    CASE WHEN NOT left_out THEN mutation_pred END AS mutation
FROM scored
ORDER BY evaluation, task_id, attempt, test_method, method_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodScore:
    """A method of an evaluation's results, without outputs of processes or text that people wrote.

    evaluation                          the index of its report in `reports.json`, from 0
    strict_askable                      whether gold is a strict success, so that others are asked
    coverage, range_coverage, mutation  scores of the submitted test, 0 to 1; None if not measured
    """

    evaluation: int
    track: Track
    task_id: str
    test_method: str
    repo: str
    new_date: datetime | None
    contamination_date: datetime | None
    outcome: TaskOutcome
    strict_askable: bool
    success_strict: bool | None
    vacuous: bool | None
    coverage: float | None
    range_coverage: float | None
    mutation: float | None


def encode_scores(evaluations: Sequence[Sequence[MethodResult]]) -> bytes:
    """Return the bytes of `scores.parquet`: a row for each method of the evaluations.

    Rows are in the order of the evaluations, then of their keys.
    """
    with open_results(['methods'], evaluations) as connection:
        scores = connection.sql(_SCORES).to_arrow_table().cast(build_arrow_schema(MethodScore))
    sink = io.BytesIO()
    pq.write_table(scores, sink, compression='zstd')
    return sink.getvalue()


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardEntry:
    """A report, and the rows of first attempts on which its figures are based."""

    report: Mapping[str, Any]
    rows: tuple[MethodResult, ...]


def load_board_entries(
    folders: Sequence[Path], snapshots: Mapping[str, Sequence[str]]
) -> Mapping[str, Sequence[BoardEntry]]:
    """Return the evaluations of each snapshot, by the snapshot's key, in a fixed order.

    snapshots  the checksums by which evaluations may name a snapshot, by its key

    Raises: Fatal for a folder without a report, with a report that does not follow from its
    results, or with a report on none of these snapshots.
    """
    entries: dict[str, list[BoardEntry]] = {key: [] for key in snapshots}
    keys = {sha256: key for key, names in snapshots.items() for sha256 in names}
    for folder in folders:
        entry = _load_entry(folder)
        sha256 = entry.report['snapshot_sha256']
        if sha256 not in keys:
            raise Fatal(
                f'{folder} scores a snapshot whose manifest has the SHA-256 {sha256}, which is none '
                'of those named; name that one too'
            )
        entries[keys[sha256]].append(entry)
    return {key: sorted(several, key=_get_sort_key) for key, several in entries.items()}


def _load_entry(folder: Path) -> BoardEntry:
    report = load_report(folder)
    rows = load_results(folder)
    if json.loads(encode_report(make_report(rows, load_suites(folder)))) != report:
        raise Fatal(
            f'the report in {folder} is not that of the results beside it; write it anew with '
            f'`coevo report regrade {folder}`'
        )
    return BoardEntry(report=report, rows=tuple(row for row in rows if row.attempt == 1))


def _get_sort_key(one: BoardEntry) -> str:
    """Return the key by which evaluations are sorted: their systems, then the whole report."""
    return json.dumps([one.report['systems'], one.report], sort_keys=True)


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
    def accepted_checksums(self) -> tuple[str, ...]:
        """The checksums by which evaluations may name the snapshot.

        These are its own and, of an edition, that of its release, which has the same tasks.
        """
        return tuple(sha256 for sha256 in (self.sha256, self.release_sha256) if sha256)

    @property
    def release_sha256(self) -> str | None:
        """The checksum of the manifest of the complete release; None for that release itself."""
        edition = self.manifest.get('edition')
        return str(edition['manifest_sha256']) if edition else None

    @property
    def unmined_pair_count(self) -> int:
        """The number of pairs that entered a walk and are not mined yet, over all walks."""
        return sum(walk['pairs_unmined'] for walk in self.manifest['walks'])


def load_month(place: Path | str) -> Month:
    """Return the month of a snapshot: of its folder, of a folder with editions of it, or by its name.

    Raises: Fatal if there is none, it lies in no folder, this version cannot read it, or it is
    private.
    """
    path = _find_snapshot_folder(place)
    manifest = snapshot.load_manifest(path)
    refuse_private(manifest, path, 'shown on a site, which has its files')
    checksum = hashlib.sha256((path / snapshot.MANIFEST).read_bytes()).hexdigest()
    return Month(path=path, manifest=manifest, sha256=checksum)


def _find_snapshot_folder(place: Path | str) -> Path:
    """Return the folder of the snapshot that `query` and `verify` would read.

    Raises: Fatal if there is none.
    """
    location = None if Path(place).is_file() else resolve_location(place)
    if not isinstance(location, SnapshotFolder):
        raise Fatal(f'{place} is no folder: fetch or unpack the snapshot, then name its folder')
    if not location.path.is_dir():
        raise Fatal(
            f'{place} is no snapshot: there is no such folder; name the folder of one, a month such as '
            '2026-07, or `latest`'
        )
    if not (location.path / snapshot.MANIFEST).is_file():
        raise Fatal(
            f'{place} is no snapshot: neither it nor a folder in it has a {snapshot.MANIFEST}; name the '
            'folder of one, a month such as 2026-07, or `latest`'
        )
    return location.path


def write_month(month: Month, evaluations: Sequence[BoardEntry], folder: Path) -> dict[str, Any]:
    """Write the files of a month into a new folder; return its entry in the page's index."""
    copies_by_table = {table: list(_load_files(month, table)) for table in TABLES}
    with snapshot.translate_read_errors((month.path,)):
        connection = snapshot.open_snapshots(month.path)
        if snapshot.parse_schema_version(month.manifest) < SCHEMA:
            copies_by_table = {table: [_encode_table(connection, table)] for table in TABLES}
        figures = statistics.query_figures(connection)
        withheld = statistics.describe_withheld_texts(connection)
        answers = list(_compute_statistics(connection))
    files = {table: list(_write_files(folder, copies)) for table, copies in copies_by_table.items()}
    durable.write_durably(folder / 'statistics.json', [_encode_json(answers)])
    durable.write_durably(
        folder / 'reports.json', [_encode_json([entry.report for entry in evaluations])]
    )
    scored = encode_scores([entry.rows for entry in evaluations])
    durable.write_durably(folder / NAME, [scored])
    return {
        'month': month.name,
        'manifest_sha256': month.sha256,
        'release_sha256': month.release_sha256,
        'unmined': month.unmined_pair_count,
        'figures': figures,
        'withheld': withheld,
        'reports': len(evaluations),
        'scores': {'path': NAME, 'size': len(scored)},
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
    return value.isoformat() if isinstance(value, date) else value


def _encode_json(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=1).encode() + b'\n'
