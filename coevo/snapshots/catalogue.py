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
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.model.errors import Damaged
from coevo.model.errors import Fatal
from coevo.snapshots import forms
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.locations import Location
from coevo.snapshots.locations import locate
from coevo.snapshots.locations import read_whole
from coevo.snapshots.manifests import manifest_at
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
class Catalogued:
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


def catalogued(name: str, manifest: Mapping[str, Any]) -> Catalogued:
    """What a catalogue says of a snapshot, by its manifest."""
    return Catalogued(
        name=name,
        month=manifest['month'],
        schema=f'{manifest["schema_version"]}.{manifest.get("schema_minor", 0)}',
        rows={table: manifest['rows'].get(table, 0) for table in COUNTED},
        size=sum(file['size'] for file in manifest['files'].values()),
    )


def text(found: Sequence[Catalogued]) -> bytes:
    """The index: the same snapshots give the same bytes."""
    rows = [
        {
            'name': one.name,
            'month': one.month,
            'schema': one.schema,
            'rows': dict(one.rows),
            'size': one.size,
        }
        for one in ordered(found)
    ]
    content = {'coevo-catalogue': VERSION, 'snapshots': rows}
    return f'{json.dumps(content, indent=2, sort_keys=True)}\n'.encode()


def ordered(found: Sequence[Catalogued]) -> tuple[Catalogued, ...]:
    """By month, then by name."""
    return tuple(sorted(found, key=lambda one: (one.month, one.name)))


def default_place() -> str:
    return os.environ.get('COEVO_SNAPSHOTS') or 'snapshots'


def catalogue(place: Path | str) -> tuple[Catalogued, ...]:
    """What there is, the newest last. Fatal if nothing tells it, Damaged if the index is none."""
    root = _root(place)
    found = _indexed(root)
    if found is None and '://' not in root:
        found = tuple(_listed(Path(root)))
    if found is None:
        raise Fatal(
            f'{locate(root).shown} has no {CATALOGUE}, which `coevo publish` writes beside what it '
            'publishes: name a snapshot itself'
        )
    return ordered(found)


def latest(place: Path | str | None = None) -> str:
    """Where the snapshot of the last month lies; Fatal if there is none."""
    root = _root(place or default_place())
    found = catalogue(root)
    if not found:
        raise Fatal(
            f'{root} has no snapshot, so that none is the latest: say by $COEVO_SNAPSHOTS where they '
            'lie, or name one'
        )
    return f'{root}/{found[-1].name}'


def located(place: Path | str) -> Location:
    """Where a path, a URL or the word `latest` leads; Fatal if nobody can read from there."""
    is_latest = str(place) == LATEST and not Path(place).exists()
    return locate(latest() if is_latest else place)


def _root(place: Path | str) -> str:
    return str(place).removesuffix(f'/{CATALOGUE}').rstrip('/') or '/'


def _indexed(root: str) -> tuple[Catalogued, ...] | None:
    location = locate(root)
    try:
        found = read_whole(location.open(CATALOGUE), most=_MOST_BYTES)
        content = parse_json(found, most_values=_MOST_VALUES)
        return tuple(_entries(content))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Damaged(
            f'{location.shown}/{CATALOGUE} is damaged: publish a snapshot there again'
        ) from None


def _entries(content: Any) -> Iterator[Catalogued]:
    """ValueError, KeyError or TypeError for what is no index."""
    if content['coevo-catalogue'] != VERSION:
        raise ValueError('version')
    for one in content['snapshots']:
        name, month, schema = one['name'], one['month'], one['schema']
        rows = {str(table): int(count) for table, count in one['rows'].items()}
        if not _NAME.fullmatch(name) or not forms.is_month(month) or not isinstance(schema, str):
            raise ValueError('form')
        yield Catalogued(name=name, month=month, schema=schema, rows=rows, size=int(one['size']))


def _listed(folder: Path) -> Iterator[Catalogued]:
    """The snapshots that lie in a folder of this machine."""
    if not folder.is_dir():
        raise Fatal(f'{folder} is no folder of snapshots: name one, or a URL with a {CATALOGUE}')
    for path in sorted(folder.iterdir()):
        if (path / MANIFEST).is_file():
            yield catalogued(path.name, manifest_at(locate(path)))
