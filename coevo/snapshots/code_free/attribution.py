"""Fill the file ATTRIBUTION of an edition, its card and its Croissant file as far as its texts are
restored.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from coevo.model.errors import DamagedSnapshot
from coevo.snapshots.code_free.texts import EditionTexts
from coevo.storage.bounded_reading import UnreadableContent, parse_json

ATTRIBUTION = 'ATTRIBUTION'

HEADING = """\
# Whose code this is

The texts in this folder are code of the repositories below, under the licence that each section gives. Where
rows come from several commits, the section names the newest. What coevo adds is under CC BY 4.0 (README.md).
"""


def build_attribution(
    base: Path, texts: EditionTexts, whole: Collection[str] | None, before: Collection[str]
) -> str:
    """Return the content of the file ATTRIBUTION: the sections that concern a pair with texts.

    base    the folder that is filled; its own ATTRIBUTION has the sections of the pairs in `before`
    whole   the pairs that have their texts; None for all

    The recipes list each section (`row`) once for each pair that it concerns (`column`). Sections
    of the old file are copied, since the clones of an earlier call may be gone; others are built
    from clones.
    """
    there = (base / ATTRIBUTION).read_bytes().decode() if (base / ATTRIBUTION).is_file() else ''
    offset, parts = len(HEADING), [HEADING]
    for _, positions in sorted(texts.list_positions(ATTRIBUTION).items()):
        pairs, number = {position.column for position in positions}, positions[0].text
        section = None
        if not pairs.isdisjoint(before):
            length = texts.measure_text_without_prefixes(number)
            section, offset = there[offset : offset + length], offset + length
        if whole is None or not pairs.isdisjoint(whole):
            parts.append(texts.build_text(number) if section is None else section)
    return ''.join(parts)


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
