"""Load the manifest of a snapshot, and check its form."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, cast

from coevo.model import schema_2
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.schema import OLDEST_SCHEMA, SCHEMA_VERSION
from coevo.snapshots import forms
from coevo.snapshots.locations import MANIFEST, Location
from coevo.storage.bounded_reading import UnreadableContent, parse_json

# The form of a manifest: every entry that coevo reads later must be there and of the right kind.
#
# The names of its files become paths, and its month becomes a folder.

_FILE = re.compile(r'(data/[a-z_]{1,64}/)?[A-Za-z0-9][A-Za-z0-9._-]{0,127}', re.ASCII)
_SHA256 = re.compile('[0-9a-f]{64}')
_PAIR = re.compile('[0-9a-f]{16}')
_MOST = 1 << 62
_OF_A_WALK = ('language', 'walk')

CODE_FREE = 'code-free'
"""The kind of edition that lacks all third-party text."""

PARTIAL = 'partial'
"""The kind of edition that has the third-party text of some pairs; `filled` names them."""

GOLD_WITHHELD = 'gold-withheld'
"""The kind of edition that lacks the developers' answers, and has prompts and start states."""


def is_manifest(found: object) -> bool:
    """Return whether parsed JSON is a manifest; with a newer schema only the version is checked."""
    if not isinstance(found, dict) or not _is_count(found.get('schema_version')):
        return False
    if found['schema_version'] > SCHEMA_VERSION:
        return True
    return all(is_right(found.get(name, _ABSENT.get(name))) for name, is_right in _PARTS.items())


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_month(value: object) -> bool:
    return isinstance(value, str) and forms.is_month(value)


def _are_files(value: object) -> bool:
    return isinstance(value, dict) and all(
        _FILE.fullmatch(name) is not None and _is_file(about) for name, about in value.items()
    )


def _is_file(about: object) -> bool:
    return (
        isinstance(about, dict)
        and _is_count(about.get('size'))
        and isinstance(about.get('sha256'), str)
        and _SHA256.fullmatch(about['sha256']) is not None
    )


def _are_rows(value: object) -> bool:
    return isinstance(value, dict) and all(_is_count(count) for count in value.values())


def _are_walks(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(walk, dict) and _is_walk(walk) for walk in value
    )


def _is_walk(one: Mapping[str, Any]) -> bool:
    repo = one.get('repo')
    return (
        isinstance(repo, str)
        and forms.is_repository(repo)
        and all(isinstance(one.get(name), str) for name in _OF_A_WALK)
        and _is_count(one.get('pairs_unmined'))
    )


def _is_edition_or_none(value: object) -> bool:
    """Return whether a value is None or describes an edition.

    That says which release it belongs to, by checksums, and how much text its recipes restore. A
    partial one names the pairs that have their texts, by repository.
    """
    if value is None:
        return True
    return (
        isinstance(value, dict)
        and value.get('kind') in (CODE_FREE, PARTIAL, GOLD_WITHHELD)
        and _are_pairs_by_repository(value.get('filled', _NOTHING_FILLED.get(value['kind'])))
        and isinstance(value.get('manifest_sha256'), str)
        and _SHA256.fullmatch(value['manifest_sha256']) is not None
        and _are_files(value.get('files'))
        and all(_is_count(value.get(name)) for name in ('texts', 'characters', 'words'))
        and isinstance(value.get('written_by'), str)
    )


def _are_pairs_by_repository(value: object) -> bool:
    return isinstance(value, dict) and all(
        forms.is_repository(repo)
        and isinstance(pairs, list)
        and all(isinstance(pair, str) and _PAIR.fullmatch(pair) for pair in pairs)
        for repo, pairs in value.items()
    )


def _are_parameters(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return isinstance(value.get('licences_accepted') or '', str)


# What an edition has filled that does not say.
_NOTHING_FILLED: dict[str, object] = {CODE_FREE: {}, GOLD_WITHHELD: {}}

# Values for entries that older manifests lack.
_ABSENT: dict[str, object] = {'schema_minor': 0, 'parameters': {}, 'private': False}
_PARTS = {
    'schema_minor': _is_count,
    'month': _is_month,
    'files': _are_files,
    'rows': _are_rows,
    'walks': _are_walks,
    'parameters': _are_parameters,
    'edition': _is_edition_or_none,
    'private': _is_flag,
}


# Load and check the manifest of a snapshot.

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
