"""Write what all editions of a snapshot have in common: tables with columns left out, and a manifest."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from coevo.model.schema import build_table_of_plain_rows, build_table_schema
from coevo.snapshots.code_free.hydration import describe_parquet_writer
from coevo.snapshots.code_free.tables import load_file_rows
from coevo.snapshots.local_copy import TIMINGS
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.table_files import write_table_file
from coevo.storage import durable
from packagers.manifests import Checksums

# Returns a row as the edition has it.
HideTexts = Callable[[dict[str, Any]], Mapping[str, Any]]


def blank_texts(row: dict[str, Any], paths: Iterable[str]) -> None:
    """Set columns of a row to None; the path `a.b` stands for the field b of each element of a."""
    for path in paths:
        name, _, inner = path.partition('.')
        if not inner:
            row[name] = None
        for element in (row[name] or ()) if inner else ():
            element[inner] = None


def rewrite_table_file(file: Path, target: Path, table: str, hide: HideTexts) -> None:
    """Write a file of a table whose rows hide texts."""
    schema = build_table_schema(table, code_free=True)
    rows = map(hide, load_file_rows(file))
    write_table_file(target, table, schema, rows, partial(build_table_of_plain_rows, schema))


def copy_timings(full: Path, made: Path) -> None:
    """Copy the timings of a release into an edition, if it has any."""
    if (full / TIMINGS).is_file():
        (made / TIMINGS).parent.mkdir(parents=True)
        shutil.copyfile(full / TIMINGS, made / TIMINGS)


def write_edition_manifest(
    made: Path, content: Mapping[str, Any], about: Mapping[str, Any], files: Checksums
) -> None:
    """Write the manifest of an edition, and the whole edition to the disk.

    content  the manifest of the release
    about    the kind of edition and what it leaves out
    files    the checksums of the edition's files
    """
    edition = {**about, 'written_by': describe_parquet_writer()}
    own = {**content, 'edition': edition, 'files': files}
    text = f'{json.dumps(own, indent=2, sort_keys=True, ensure_ascii=False)}\n'
    durable.write_durably(made / MANIFEST, [text.encode()])
    durable.sync_tree_to_disk(made)
