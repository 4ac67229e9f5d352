"""The snapshots of a place: an index beside them, or in a folder they themselves.

    PLACE/catalogue.json      what there is, the newest month last
    PLACE/NAME/               a snapshot

A web server does not list what it has, so the index says it. It is a stranger's data: names become
paths, and are held against their form.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.snapshots import forms
from coevo.snapshots.locations import MANIFEST, Location, locate_snapshot, read_whole_file
from coevo.snapshots.manifests import load_manifest_at
from coevo.storage.bounded_json import parse_json

CATALOGUE = 'catalogue.json'
VERSION = 1

# The last month of the catalogue, unless a folder of that name is here.
LATEST = 'latest'

# Some 300 bytes and 30 values of each snapshot.
_MOST_BYTES, _MOST_VALUES = 8 << 20, 500_000

COUNTED = ('tasks', 'methods', 'pairs', 'repositories')
_NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,127}', re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """One snapshot.

    name    of its folder, right below the place of the catalogue
    schema  its version, as 2.1
    rows    how many of some tables
    size    bytes of all its files, but for timings
    """

    name: str
    month: str
    schema: str
    rows: Mapping[str, int]
    size: int


def build_catalogue_entry(name: str, manifest: Mapping[str, Any]) -> CatalogueEntry:
    """What a catalogue says of a snapshot, by its manifest."""
    return CatalogueEntry(
        name=name,
        month=manifest['month'],
        schema=f'{manifest["schema_version"]}.{manifest.get("schema_minor", 0)}',
        rows={table: manifest['rows'].get(table, 0) for table in COUNTED},
        size=sum(file['size'] for file in manifest['files'].values()),
    )


def encode_catalogue(found: Sequence[CatalogueEntry]) -> bytes:
    """The index: the same snapshots give the same bytes."""
    rows = [
        {
            'name': entry.name,
            'month': entry.month,
            'schema': entry.schema,
            'rows': dict(entry.rows),
            'size': entry.size,
        }
        for entry in sort_entries(found)
    ]
    content = {'coevo-catalogue': VERSION, 'snapshots': rows}
    return f'{json.dumps(content, indent=2, sort_keys=True)}\n'.encode()


def sort_entries(found: Sequence[CatalogueEntry]) -> tuple[CatalogueEntry, ...]:
    """By month, then by name."""
    return tuple(sorted(found, key=lambda one: (one.month, one.name)))


def find_default_place() -> str:
    return os.environ.get('COEVO_SNAPSHOTS') or 'snapshots'


def load_catalogue(place: Path | str) -> tuple[CatalogueEntry, ...]:
    """What there is, the newest last. Fatal if nothing tells it, Damaged if the index is none."""
    root = _find_root(place)
    entries = _load_index(root)
    if entries is None and '://' not in root:
        entries = tuple(_list_folder(Path(root)))
    if entries is None:
        raise Fatal(
            f'{locate_snapshot(root).shown} has no {CATALOGUE}, which `coevo publish` writes beside what it '
            'publishes: name a snapshot itself'
        )
    return sort_entries(entries)


def find_latest(place: Path | str | None = None) -> str:
    """Where the snapshot of the last month lies; Fatal if there is none."""
    root = _find_root(place or find_default_place())
    entries = load_catalogue(root)
    if not entries:
        raise Fatal(
            f'{root} has no snapshot, so that none is the latest: say by $COEVO_SNAPSHOTS where they '
            'lie, or name one'
        )
    return f'{root}/{entries[-1].name}'


def resolve_location(place: Path | str) -> Location:
    """Where a path, a URL or the word `latest` leads; Fatal if nobody can read from there."""
    is_latest = str(place) == LATEST and not Path(place).exists()
    return locate_snapshot(find_latest() if is_latest else place)


def _find_root(place: Path | str) -> str:
    return str(place).removesuffix(f'/{CATALOGUE}').rstrip('/') or '/'


def _load_index(root: str) -> tuple[CatalogueEntry, ...] | None:
    location = locate_snapshot(root)
    try:
        data = read_whole_file(location.open(CATALOGUE), most=_MOST_BYTES)
        content = parse_json(data, most_values=_MOST_VALUES)
        return tuple(_parse_index(content))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DamagedSnapshot(
            f'{location.shown}/{CATALOGUE} is damaged: publish a snapshot there again'
        ) from None


def _parse_index(content: Any) -> Iterator[CatalogueEntry]:
    """ValueError, KeyError or TypeError for what is no index."""
    if content['coevo-catalogue'] != VERSION:
        raise ValueError('version')
    for row in content['snapshots']:
        name, month, schema = row['name'], row['month'], row['schema']
        rows = {str(table): int(count) for table, count in row['rows'].items()}
        if not _NAME.fullmatch(name) or not forms.is_month(month) or not isinstance(schema, str):
            raise ValueError('form')
        yield CatalogueEntry(
            name=name, month=month, schema=schema, rows=rows, size=int(row['size'])
        )


def _list_folder(folder: Path) -> Iterator[CatalogueEntry]:
    """The snapshots that lie in a folder of this machine."""
    if not folder.is_dir():
        raise Fatal(f'{folder} is no folder of snapshots: name one, or a URL with a {CATALOGUE}')
    for path in sorted(folder.iterdir()):
        if (path / MANIFEST).is_file():
            yield build_catalogue_entry(path.name, load_manifest_at(locate_snapshot(path)))
