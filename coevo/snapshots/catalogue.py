"""List the snapshots that lie at one place, from an index file or by looking into a folder.

    PLACE/catalogue.json      the index: one entry for each snapshot, the newest month last
    PLACE/NAME/               a snapshot
    PLACE/NAME/EDITION/       an edition of it, if PLACE/NAME/ is none itself; in a folder alone

A web server does not list its files, so the index is needed there. An index may come from anyone:
the names in it become paths, so each value is checked against its form.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.display.terminal import hide_credentials
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.snapshots import forms
from coevo.snapshots.locations import MANIFEST, Location, locate_snapshot, read_and_close_file
from coevo.snapshots.manifests import is_code_free, is_private, load_manifest_at
from coevo.storage.bounded_reading import parse_json

CATALOGUE = 'catalogue.json'
VERSION = 1

# The name that stands for the newest snapshot of the catalogue, unless a folder has this name.
LATEST = 'latest'

# Limits for an index: a snapshot takes about 300 bytes and 30 values.
_MOST_BYTES, _MOST_VALUES = 8 << 20, 500_000

COUNTED = ('tasks', 'methods', 'pairs', 'repositories')
# A month that is not written as YYYY-MM, or has no such number: 2026-6, 2026/06, 202606, 2026-13.
_LIKE_A_MONTH = re.compile(r'(\d{4})[-_./]?(\d\d?)', re.ASCII)
_NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,127}', re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """One snapshot in a catalogue.

    name    of its folder below the place of the catalogue: NAME, or NAME/EDITION in a folder
    schema  version of its schema, such as 2.1
    rows    number of rows of the tables in `COUNTED`; of repositories each counts once, whatever
            walks it has
    size    bytes of all its files except timings
    """

    name: str
    month: str
    schema: str
    rows: Mapping[str, int]
    size: int


def build_catalogue_entry(name: str, manifest: Mapping[str, Any]) -> CatalogueEntry:
    """Return the catalogue entry that describes the snapshot with this manifest."""
    return CatalogueEntry(
        name=name,
        month=manifest['month'],
        schema=f'{manifest["schema_version"]}.{manifest.get("schema_minor", 0)}',
        rows={table: manifest['rows'].get(table, 0) for table in COUNTED}
        | {'repositories': len({walk['repo'] for walk in manifest['walks']})},
        size=sum(file['size'] for file in manifest['files'].values()),
    )


def encode_catalogue(found: Sequence[CatalogueEntry]) -> bytes:
    """Return the index as JSON. The same snapshots always give the same bytes."""
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
    """Return the entries sorted by month, then by name."""
    return tuple(sorted(found, key=lambda one: (one.month, one.name)))


def find_default_place() -> str:
    """Return $COEVO_SNAPSHOTS, or `snapshots` if that is not set."""
    return os.environ.get('COEVO_SNAPSHOTS') or 'snapshots'


def load_catalogue(place: Path | str) -> tuple[CatalogueEntry, ...]:
    """Return the snapshots at a place, the newest last.

    Raises: Fatal if there is neither an index nor a folder; DamagedSnapshot if the index is
    malformed.
    """
    root = _strip_catalogue_name(place)
    entries = _load_index(root)
    if entries is None and '://' not in root:
        entries = tuple(_list_public_snapshots(Path(root)))
    if entries is None:
        raise Fatal(
            f'{locate_snapshot(root).shown} has no {CATALOGUE}, which `coevo pipeline publish` writes beside what it '
            'publishes: name a snapshot itself'
        )
    return sort_entries(entries)


def find_latest(place: Path | str | None = None) -> str:
    """Return the path or URL of the newest month's snapshot. Raises: Fatal if there is none."""
    root = _strip_catalogue_name(place or find_default_place())
    entries = load_catalogue(root)
    if not entries:
        raise Fatal(
            f'{root} has no snapshot, so that none is the latest: say by $COEVO_SNAPSHOTS where they '
            'lie, or name one'
        )
    return f'{root}/{entries[-1].name}'


def resolve_location(place: Path | str) -> Location:
    """Return the location of a path, a URL, a month or the word `latest`.

    A folder that is no snapshot may have editions of one in it; the whole one is taken, if there is one.

    Raises: Fatal if coevo cannot read from there, or there is no such month.
    """
    text = str(place)
    if '://' in text:
        return locate_snapshot(place)
    if Path(place).exists():
        return locate_snapshot(_choose_edition(Path(place)))
    if text == LATEST:
        return locate_snapshot(find_latest())
    if not forms.is_month(text) and (numbers := _LIKE_A_MONTH.fullmatch(text)):
        year, month = numbers.groups()
        raise Fatal(f'{text} is no month; write it like {year}-{min(max(int(month), 1), 12):02}')
    return locate_snapshot(_find_snapshot_of_month(text) if forms.is_month(text) else place)


def _find_snapshot_of_month(month: str) -> str:
    """Return the path or URL of a month at the usual place. Raises: Fatal if there is none."""
    root = _strip_catalogue_name(find_default_place())
    entries = load_catalogue(root) if '://' in root or Path(root).is_dir() else ()
    named = [entry for entry in entries if month in (entry.name, entry.month)]
    if not named:
        others = ', '.join(dict.fromkeys(entry.month for entry in entries)) or 'no snapshot'
        raise Fatal(
            f'there is no month {month} in {hide_credentials(root)}, which has {others}; name the folder or URL '
            'of the snapshot, or say by $COEVO_SNAPSHOTS where snapshots lie'
        )
    whole = [entry for entry in named if entry.name.endswith('whole')]
    return f'{root}/{(whole or named)[-1].name}'


def _choose_edition(folder: Path) -> Path:
    """Return the edition in a folder, the whole one before a code-free one; else the folder itself.

    Raises: Fatal if it holds snapshots of several months.
    """
    if folder.suffix == '.zip' or not folder.is_dir() or (folder / MANIFEST).exists():
        return folder
    inner = sorted(path for path in folder.iterdir() if (path / MANIFEST).is_file())
    if len(inner) < 2:
        return inner[0] if inner else folder
    manifests = {path: load_manifest_at(locate_snapshot(path)) for path in inner}
    months = sorted({manifest['month'] for manifest in manifests.values()})
    if len(months) > 1:
        raise Fatal(f'{folder} holds several months ({", ".join(months)}); name one of them')
    return min(inner, key=lambda path: (is_code_free(manifests[path]), path.name))


def _strip_catalogue_name(place: Path | str) -> str:
    return str(place).removesuffix(f'/{CATALOGUE}').rstrip('/') or '/'


def _load_index(root: str) -> tuple[CatalogueEntry, ...] | None:
    location = locate_snapshot(root)
    try:
        data = read_and_close_file(location.open(CATALOGUE), most=_MOST_BYTES)
        content = parse_json(data, most_values=_MOST_VALUES)
        return tuple(_parse_index(content))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DamagedSnapshot(
            f'{location.shown}/{CATALOGUE} is damaged: publish a snapshot there again'
        ) from None


def _parse_index(content: Any) -> Iterator[CatalogueEntry]:
    """Yield the entries of an index.

    Raises: ValueError, KeyError or TypeError if it is malformed.
    """
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


def _list_public_snapshots(folder: Path) -> Iterator[CatalogueEntry]:
    """Yield an entry for each snapshot in a local folder, sorted by the name of its folder.

    Private releases are left out, so that a month or `latest` never means one; so are folders that
    a run has not finished, whose names begin with a dot. Raises: Fatal if there is no such folder.
    """
    if not folder.is_dir():
        raise Fatal(f'{folder} is no folder of snapshots: name one, or a URL with a {CATALOGUE}')
    for path in sorted(path for path in folder.iterdir() if not path.name.startswith('.')):
        edition = _choose_edition(path)
        if (edition / MANIFEST).is_file():
            manifest = load_manifest_at(locate_snapshot(edition))
            if not is_private(manifest):
                yield build_catalogue_entry(edition.relative_to(folder).as_posix(), manifest)
