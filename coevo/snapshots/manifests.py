"""Load and check the manifest of a snapshot."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, cast

from coevo.model import schema_2
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.schema import OLDEST_SCHEMA, SCHEMA_VERSION
from coevo.snapshots.locations import MANIFEST, Location
from coevo.snapshots.manifest_form import CODE_FREE, GOLD_WITHHELD, is_manifest
from coevo.storage.bounded_reading import UnreadableContent, parse_json

# A manifest has some ten values for each file and each walk. One million may take 250 MB of memory.
_MOST_VALUES = 1_000_000


def is_code_free(manifest: Mapping[str, Any]) -> bool:
    """Return whether a manifest belongs to an edition without any third-party text."""
    return has_withheld_texts(manifest) and manifest['edition']['kind'] == CODE_FREE


def withholds_gold(manifest: Mapping[str, Any]) -> bool:
    """Return whether a manifest belongs to an edition without the developers' answers."""
    return has_withheld_texts(manifest) and manifest['edition']['kind'] == GOLD_WITHHELD


def refuse_without_gold(location: Location, what: str) -> None:
    """Raise Fatal if the edition at a location withholds gold; `what` says what needs it."""
    if withholds_gold(load_manifest_at(location)):
        raise Fatal(
            f'{location.shown} withholds the answers of the developers, and {what}: give the whole '
            'snapshot that it was made of, as in `coevo evaluate WHOLE ANSWERS`'
        )


def is_private(manifest: Mapping[str, Any]) -> bool:
    """Return whether a manifest belongs to a release that is for its owner alone."""
    return bool(manifest.get('private', False))


def refuse_private(manifest: Mapping[str, Any], shown: object, what: str) -> None:
    """Raise Fatal for a private release; `what` says what it is not, such as `published`."""
    if is_private(manifest):
        raise Fatal(
            f'{shown} is private (`coevo mine --private`) and is not {what}: mine its repositories '
            'into another store, without --private, to release what licences allow'
        )


def has_withheld_texts(manifest: Mapping[str, Any]) -> bool:
    """Return whether a manifest belongs to an edition, which lacks some or all third-party text."""
    return manifest.get('edition') is not None


def compute_release_sha256(location: Location) -> str:
    """Return the SHA-256 of the manifest of the release that a snapshot is, or is an edition of.

    An edition with some of a release's texts scores the same tasks as the whole release.
    """
    edition = load_manifest_at(location).get('edition')
    if edition is not None:
        return str(edition['manifest_sha256'])
    return hashlib.sha256(location.load_manifest()).hexdigest()


def list_filled_pairs(manifest: Mapping[str, Any]) -> frozenset[str]:
    """Return the ids of the pairs whose texts an edition has; it lacks those of all other pairs.

    The manifest must be that of an edition.
    """
    filled = manifest['edition'].get('filled', {})
    return frozenset(pair_id for pair_ids in filled.values() for pair_id in pair_ids)


def load_manifest_at(location: Location) -> dict[str, Any]:
    """Return the manifest of the snapshot at a location, with current names of tables and columns.

    Raises: DamagedSnapshot if it is missing or malformed, Fatal if coevo is too old or too new for
    it.
    """
    try:
        content = parse_json(location.load_manifest(), most_values=_MOST_VALUES)
    except FileNotFoundError:
        raise DamagedSnapshot(f'{location.shown} is no snapshot: it has no {MANIFEST}') from None
    except UnreadableContent:
        content = None
    if not is_manifest(content):
        raise DamagedSnapshot(f'{location.shown}/{MANIFEST} is damaged: get the snapshot again')
    if content['schema_version'] > SCHEMA_VERSION:
        raise Fatal(
            f'{location.shown} is of a newer schema ({content["schema_version"]}): update coevo'
        )
    if content['schema_version'] < OLDEST_SCHEMA:
        raise Fatal(
            f'{location.shown} is of schema {content["schema_version"]}, which coevo no longer reads:'
            ' mine and release it again, or read it with a coevo of that time'
        )
    manifest = cast('dict[str, Any]', content)
    return schema_2.rename_manifest(manifest) if content['schema_version'] == 2 else manifest
