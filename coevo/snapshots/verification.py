"""Check that a snapshot is consistent: its files, keys, ids, label table and funnel.

A rule is a query for the rows that break it; most are in `coevo.snapshots.rules`. Checks go from
the outside to the inside. If a check finds faults that make later rules meaningless, they are not
run.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.model import licences
from coevo.model.dictionary import KEPT_WITHOUT_GOLD, TEXTS_WITHHELD, find_third_party_paths
from coevo.model.records import compute_short_hash
from coevo.model.schema import (
    KEYS,
    TABLES,
    get_table_name_in_files,
    has_promised_columns,
    is_table_promised,
)
from coevo.snapshots import (
    forms,
    labelling,
    rules,
    snapshot,
    task_rules,
)
from coevo.snapshots.code_free.recipes import FULL
from coevo.snapshots.local_copy import open_local_copy
from coevo.snapshots.locations import MANIFEST, read_footer
from coevo.snapshots.manifests import (
    has_withheld_texts,
    is_code_free,
    is_private,
    list_filled_pairs,
    withholds_gold,
)
from coevo.snapshots.rules import SnapshotRule
from coevo.snapshots.snapshot import OpenedSnapshots, parse_schema_version
from coevo.storage import disk
from coevo.storage.bounded_reading import UnreadableContent, open_file

if TYPE_CHECKING:
    import duckdb

LAWS = (
    *rules.RULES,
    *task_rules.RULES,
)

# Columns of a walk that both the manifest and the table `repositories` have.
_OF_WALKS = (
    'ref',
    'head',
    'cutoff',
    'commits_visited',
    'commits_kept',
    'profile',
    'engine_version',
)

# DuckDB's memory limit, independent of the size of the snapshot; beyond it DuckDB spills to disk.
_MEGABYTES = 400

# Snapshots up to this size are loaded into memory, since the rules query each table many times.
_SMALL_BYTES = 4 << 20

# Most findings of one rule.
_MOST = 20

# A byte that is not UTF-8, as `schema.table` writes it. Of many escapes in one path, only the first
# few are tried both ways; the others are taken for escaped bytes.
_ESCAPE = re.compile(r'\\udc[89a-f][0-9a-f]')
_MOST_ESCAPES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A fault of a snapshot: the row of a table, or a file, and the rule that it breaks."""

    table: str
    row: str
    rule: str
    detail: str = ''


def verify_snapshot(place: Path | str) -> list[Finding]:
    """Return the faults of a snapshot, the most fundamental first; empty if it is good.

    A snapshot that is not in a folder is copied first.

    Raises: DamagedSnapshot if the place holds no valid manifest.
    """
    with open_local_copy(place) as path:
        return verify_folder(path)


def verify_folder(path: Path, spill_folder: Path | None = None) -> list[Finding]:
    """Return the faults of a snapshot in a folder, the most fundamental first; empty if it is good.

    space  folder for data that does not fit in memory; None is the default for temporary files
    """
    with tempfile.TemporaryDirectory(dir=spill_folder) as spill:
        return _find_faults(path, spill)


def _find_faults(path: Path, spill: str) -> list[Finding]:
    manifest = snapshot.load_manifest(path)
    outside = list(_find_file_faults(path, manifest)) or list(_find_table_faults(path, manifest))
    if outside:
        return outside
    opened = snapshot.attach_snapshots_unchecked((path,))
    disk.limit_memory_and_allow_spilling(opened.connection, spill, megabytes=_MEGABYTES)
    with snapshot.translate_read_errors((path,)):
        if sum(file['size'] for file in manifest['files'].values()) <= _SMALL_BYTES:
            opened = snapshot.load_into_memory(opened)
        return list(_find_form_faults(opened)) or list(_find_content_faults(opened, manifest))


def _find_content_faults(opened: OpenedSnapshots, manifest: dict[str, Any]) -> list[Finding]:
    snapshot.create_table_views(opened, {})
    connection = opened.connection
    return [
        *_find_duplicate_keys(connection),
        *_find_wrong_ids(connection),
        *_check_labels(connection),
        *_find_rule_faults(connection, manifest),
        *_find_unexpected_texts(opened, manifest),
        *_find_unaccepted_licences(connection, manifest),
        *_find_wrong_walks(connection, manifest),
        *_find_uncounted_pairs(connection, manifest),
    ]


def _find_file_faults(path: Path, manifest: dict[str, Any]) -> Iterator[Finding]:
    listed = manifest['files']
    for name, wanted in listed.items():
        file = path / name
        if not file.is_file():
            yield Finding(table=_name_table_or_file(name), row=name, rule='file_missing')
        elif file.stat().st_size != wanted['size'] or _compute_sha256(file) != wanted['sha256']:
            yield Finding(table=_name_table_or_file(name), row=name, rule='file_changed')
    for file in sorted((path / 'data').rglob('*')):
        name = file.relative_to(path).as_posix()
        if file.is_file() and name not in listed and _name_table_or_file(name) != 'timings':
            yield Finding(table=_name_table_or_file(name), row=name, rule='file_not_in_manifest')


def _find_table_faults(path: Path, manifest: dict[str, Any]) -> Iterator[Finding]:
    version = parse_schema_version(manifest)
    for name in TABLES:
        rows = 0
        folder = path / 'data' / get_table_name_in_files(name, version)
        files = sorted(folder.glob('*.parquet'))
        if not files:
            # A snapshot need not have timings.
            if name != 'timings' and is_table_promised(name, version):
                yield Finding(table=name, row=f'data/{folder.name}', rule='file_missing')
            continue
        for file in files:
            metadata = _load_metadata(file)
            if metadata is None:
                yield Finding(table=name, row=file.name, rule='unreadable')
                continue
            rows += metadata.num_rows
            if not _has_promised_schema(name, metadata, manifest):
                yield Finding(table=name, row=file.name, rule='schema')
        if rows != manifest['rows'].get(name, rows):
            detail = f'{rows} rows, the manifest says {manifest["rows"][name]}'
            yield Finding(table=name, row=name, rule='row_count', detail=detail)


def _has_promised_schema(name: str, metadata: pq.FileMetaData, manifest: dict[str, Any]) -> bool:
    schema = metadata.schema.to_arrow_schema()
    return has_promised_columns(
        name, schema, parse_schema_version(manifest), code_free=has_withheld_texts(manifest)
    )


def _load_metadata(file: Path) -> pq.FileMetaData | None:
    """Return the footer of a Parquet file; None if there is none, or it is damaged or too large."""
    if not file.is_file():  # opening a pipe would block
        return None
    try:
        with pa.OSFile(str(file)) as opened:
            return read_footer(opened)
    except (OSError, UnreadableContent):
        return None


def _find_form_faults(opened: OpenedSnapshots) -> Iterator[Finding]:
    """Yield a finding for the first value of each column that does not have its form.

    Such values become file names, arguments or dates.
    """
    for wrong in forms.find_first_malformed_values(opened.connection, opened.rows):
        yield Finding(table=wrong.table, row=wrong.value, rule='form', detail=wrong.column)


def _find_duplicate_keys(connection: duckdb.DuckDBPyConnection) -> Iterator[Finding]:
    for name in _list_present_tables(connection):
        key = ', '.join(f'"{column}"' for column in KEYS[name])
        sql = f'SELECT {key} FROM {name} GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL'
        for row in connection.execute(f'{sql} LIMIT {_MOST}').fetchall():
            yield Finding(table=name, row=' '.join(map(str, row)), rule='key_not_unique')


def _find_wrong_ids(connection: duckdb.DuckDBPyConnection) -> Iterator[Finding]:
    """Yield a finding for each id that is not the hash of what it names (`compute_short_hash`).

    The tables show the bytes of a path that is not UTF-8 as escapes, but the id was computed from
    the bytes. So escapes are decoded before the comparison. A name may also contain the text of an
    escape.
    """
    for rule in rules.IDS:
        for id_, parts in connection.execute(rule.sql).fetchall():
            # A damaged row may lack a part, and no hash is that of a missing one.
            if None in parts or not any(
                id_ == compute_short_hash(*meant) for meant in _guess_original_parts(parts)
            ):
                detail = ' '.join('NULL' if part is None else part for part in parts)
                yield Finding(table=rule.table, row=str(id_), rule=rule.name, detail=detail)


def _guess_original_parts(parts: Sequence[str]) -> Iterator[list[str]]:
    """Yield what the parts of an id may have been before bytes were escaped."""
    texts = re.split(f'({_ESCAPE.pattern})', '\0'.join(parts))
    for chosen in product((False, True), repeat=min(len(texts) // 2, _MOST_ESCAPES)):
        taken = iter(chosen)
        yield ''.join(
            _unescape(text, next(taken, True)) if _ESCAPE.fullmatch(text) else text
            for text in texts
        ).split('\0')


def _unescape(text: str, is_escape: bool) -> str:
    return chr(0xDC00 | int(text[-2:], 16)) if is_escape else text


def _check_labels(connection: duckdb.DuckDBPyConnection) -> Iterator[Finding]:
    for row in labelling.load_labelled_rows(connection):
        for rule, detail in labelling.find_contradictions(row):
            yield Finding(table='methods', row=row.name, rule=rule, detail=detail)


def _find_rule_faults(
    connection: duckdb.DuckDBPyConnection, manifest: dict[str, Any]
) -> Iterator[Finding]:
    reading = [rule for rule in LAWS if rule.reads_texts]
    yield from _find_broken_rules(connection, (rule for rule in LAWS if not rule.reads_texts))
    if is_code_free(manifest) or withholds_gold(manifest):
        return
    if has_withheld_texts(manifest):
        # Rules on texts are asked of the tasks that have them. All of these rules begin with a task.
        connection.execute('CREATE SCHEMA filled')
        connection.execute(
            f'CREATE VIEW filled.tasks AS SELECT * FROM main.tasks WHERE NOT {TEXTS_WITHHELD}'
        )
        connection.execute("SET search_path = 'filled,main'")
    yield from _find_broken_rules(connection, reading)
    connection.execute("SET search_path = 'main'")


def list_skipped_rules(manifest: Mapping[str, Any]) -> tuple[SnapshotRule, ...]:
    """Return the rules that cannot be checked on a snapshot, since it lacks texts.

    Empty unless the snapshot is code-free or withholds gold.
    """
    if not (is_code_free(manifest) or withholds_gold(manifest)):
        return ()
    return tuple(rule for rule in LAWS if rule.reads_texts)


def _find_unexpected_texts(opened: OpenedSnapshots, manifest: dict[str, Any]) -> Iterator[Finding]:
    """Yield a finding for each column with texts of pairs that an edition does not name as filled.

    Also if rows are wrong about `texts_withheld`, or the checksum of the release's manifest is. Of
    a release only `texts_withheld` is checked.
    """
    if not has_withheld_texts(manifest):
        yield from _find_wrong_withheld_marks(opened, '')
        return
    if withholds_gold(manifest):
        yield from _find_shown_gold(opened)
        return
    filled = ', '.join(snapshot.quote_sql(pair_id) for pair_id in list_filled_pairs(manifest))
    is_lacking = f'pair_id NOT IN ({filled})' if filled else 'true'
    for table, rows in opened.rows.items():
        for path in sorted(find_third_party_paths(TABLES[table])):
            name, _, inner = path.partition('.')
            there = f'len(list_filter({name}, lambda one: one.{inner} IS NOT NULL)) > 0'
            condition = there if inner else f'{name} IS NOT NULL'
            sql = f'SELECT count(*) FROM {rows} WHERE {is_lacking} AND {condition}'
            for (count,) in opened.connection.execute(sql).fetchall():
                if count:
                    yield Finding(table=table, row=path, rule='text_of_others', detail=str(count))
    yield from _find_wrong_withheld_marks(opened, is_lacking)
    full = manifest['files'].get(f'{FULL}{MANIFEST}', {})
    if full.get('sha256') != manifest['edition']['manifest_sha256']:
        yield Finding(table='manifest.json', row='edition', rule='manifest')


def _find_shown_gold(opened: OpenedSnapshots) -> Iterator[Finding]:
    """Yield a finding for each column that shows an answer in an edition that withholds gold."""
    for table, rows in opened.rows.items():
        for path in sorted(find_third_party_paths(TABLES[table])):
            if path in KEPT_WITHOUT_GOLD.get(table, ()):
                continue
            name, _, inner = path.partition('.')
            there = f'len(list_filter({name}, lambda one: one.{inner} IS NOT NULL)) > 0'
            sql = f'SELECT count(*) FROM {rows} WHERE {there if inner else f"{name} IS NOT NULL"}'
            for (count,) in opened.connection.execute(sql).fetchall():
                if count:
                    yield Finding(table=table, row=path, rule='gold_withheld', detail=str(count))


def _find_wrong_withheld_marks(opened: OpenedSnapshots, is_lacking: str) -> Iterator[Finding]:
    """Yield a finding for each table with rows that say wrongly whether their texts are withheld.

    is_lacking  SQL condition for rows whose texts are withheld; empty if none are
    """
    for table, rows in opened.rows.items():
        if find_third_party_paths(TABLES[table]):
            sql = f'SELECT count(*) FROM {rows} WHERE {TEXTS_WITHHELD} <> ({is_lacking or "false"})'
            for (count,) in opened.connection.execute(sql).fetchall():
                if count:
                    yield Finding(
                        table=table, row=TEXTS_WITHHELD, rule='manifest', detail=str(count)
                    )


def _find_broken_rules(
    connection: duckdb.DuckDBPyConnection, laws: Iterable[SnapshotRule]
) -> Iterator[Finding]:
    for rule in laws:
        sql = f'SELECT * FROM ({rule.sql}) ORDER BY ALL LIMIT {_MOST}'
        for row, *details in connection.execute(sql).fetchall():
            detail = ' '.join(str(value) for value in details)
            yield Finding(table=rule.table, row=str(row), rule=rule.name, detail=detail)


def _find_unaccepted_licences(
    connection: duckdb.DuckDBPyConnection, manifest: dict[str, Any]
) -> Iterator[Finding]:
    """Yield a finding for each published licence that is neither approved by the OSI nor accepted.

    The manifest names the accepted ones. A private release may hold everything.
    """
    if is_private(manifest):
        return
    accepted = manifest.get('parameters', {}).get('licences_accepted') or ''
    sql = """SELECT DISTINCT pair_id, coalesce(license, later_license) FROM pairs SEMI JOIN (SELECT pair_id, walk FROM methods
        UNION ALL SELECT pair_id, walk FROM single_revision) USING (pair_id, walk)"""
    for pair_id, license_ in connection.execute(f'{sql} ORDER BY ALL').fetchall():
        if license_ is None or not licences.is_approved(license_, accepted.split()):
            yield Finding(table='pairs', row=pair_id, rule='licence', detail=str(license_))


def _find_wrong_walks(
    connection: duckdb.DuckDBPyConnection, manifest: dict[str, Any]
) -> Iterator[Finding]:
    """Yield a finding for each walk on which the manifest and `repositories` differ."""
    manifest_walks = {
        (walk['repo'], walk['language'], walk['walk']): walk for walk in manifest['walks']
    }
    sql = f'SELECT repo, language, walk, {", ".join(_OF_WALKS)} FROM repositories ORDER BY ALL'
    for repo, language, walk, *values in connection.execute(sql).fetchall():
        manifest_walk = manifest_walks.pop((repo, language, walk), {})
        for name, value in zip(_OF_WALKS, values, strict=True):
            shown = value.isoformat() if isinstance(value, datetime) else value
            if manifest_walk.get(name) != shown:
                detail = f'{name} is {shown}, the manifest says {manifest_walk.get(name)}'
                row = f'{repo} {language} {walk}'
                yield Finding(table='repositories', row=row, rule='manifest', detail=detail)
    for key in sorted(manifest_walks, key=str):
        yield Finding(table='manifest.json', row=' '.join(map(str, key)), rule='manifest')


def _find_uncounted_pairs(
    connection: duckdb.DuckDBPyConnection, manifest: dict[str, Any]
) -> Iterator[Finding]:
    """Yield a finding for each walk with pairs that are neither there nor counted as unmined."""
    missing = {
        (walk['repo'], walk['language'], walk['walk']): walk['pairs_unmined']
        for walk in manifest['walks']
    }
    sql = """SELECT repo, language, walk, pairs_found, (SELECT count(*) FROM pairs p
        WHERE p.repo = r.repo AND p.language = r.language AND p.walk = r.walk)
        FROM repositories r ORDER BY ALL"""
    for *key, pairs_found, pairs in connection.execute(sql).fetchall():
        if pairs_found != pairs + missing.get(tuple(key), 0):
            detail = f'{pairs_found} pairs found, {pairs} there'
            yield Finding(table='repositories', row=' '.join(key), rule='pairs_lost', detail=detail)


def _list_present_tables(connection: duckdb.DuckDBPyConnection) -> list[str]:
    views = {name for (name,) in connection.execute('SHOW TABLES').fetchall()}
    return [name for name in TABLES if name in views]


def _name_table_or_file(name: str) -> str:
    """Return the table that a file belongs to; the file's name if it belongs to none."""
    parts = name.split('/')
    return parts[1] if parts[0] == 'data' and len(parts) > 2 else name


def _compute_sha256(file: Path) -> str:
    with open_file(file) as content:
        return hashlib.file_digest(content, 'sha256').hexdigest()
