"""Add to card and Croissant file what they say of a partial edition, beyond those of its origin."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from coevo.model.errors import DamagedSnapshot
from coevo.storage.bounded_json import parse_json
from coevo.storage.bounded_reading import UnreadableContent

# A Croissant file has some ten values for each column of each table.
_MOST_VALUES = 1_000_000

_BEGINS = '**Texts in this folder.**'


def refresh_card(card: str, filled: Mapping[str, Collection[str]]) -> str:
    """Return a card with a first paragraph that says which texts the folder holds.

    It replaces such a paragraph of an earlier call.

    filled  the pairs that have their texts, by repository
    """
    count = sum(map(len, filled.values()))
    names = ', '.join(repo for repo, pair_ids in sorted(filled.items()) if pair_ids)
    note = (
        f'{_BEGINS} {count} pairs have their texts here ({names or "of no repository"}); `manifest.json` '
        'lists them under `edition.filled`. In the rows of other pairs (`texts_withheld`) they are null.'
    )
    lines = [line for line in card.split('\n') if not line.startswith(_BEGINS)]
    title = next((at for at, line in enumerate(lines) if line.startswith('# ')), -1)
    rest = lines[title + 1 :]
    while rest and not rest[0]:
        rest = rest[1:]
    return '\n'.join((*lines[: title + 1], '', note, '', *rest))


def refresh_croissant(text: str, files: Mapping[str, Any], folder: Path) -> str:
    """Return a Croissant file in which the entries of `files` have new checksums and sizes.

    All other entries stay as they are. Raises: DamagedSnapshot if the text is not in the form that
    coevo writes; the message names `folder`.
    """
    try:
        content = parse_json(text.encode(), most_values=_MOST_VALUES)
        for entry in content['distribution']:
            about = files.get(entry['@id'])
            if about is not None:
                entry['sha256'] = about['sha256']
                entry['contentSize'] = f'{about["size"]} B'
    except (UnreadableContent, KeyError, TypeError, AttributeError):
        raise DamagedSnapshot(
            f'{folder}/croissant.json is damaged: get the edition again'
        ) from None
    return f'{json.dumps(content, indent=2, ensure_ascii=False)}\n'
