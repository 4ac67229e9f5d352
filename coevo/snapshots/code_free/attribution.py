"""Fill the file ATTRIBUTION of an edition: the licences of the repositories whose texts it has."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from coevo.snapshots.code_free.texts import EditionTexts

ATTRIBUTION = 'ATTRIBUTION'

HEADING = """\
# Whose code this is

The texts in this folder are code of the repositories below, under the licence that each section gives. Where
rows come from several commits, the section names the newest. What coevo adds is under CC BY 4.0 (README.md).
"""


def fill_attribution(
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
    for _, places in sorted(texts.list_positions(ATTRIBUTION).items()):
        pairs, number = {place.column for place in places}, places[0].text
        section = None
        if not pairs.isdisjoint(before):
            length = texts.measure_text(number)
            section, offset = there[offset : offset + length], offset + length
        if whole is None or not pairs.isdisjoint(whole):
            parts.append(texts.build_text(number) if section is None else section)
    return ''.join(parts)
