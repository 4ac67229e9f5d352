"""Decide whether a task asks for a trivial change: a few values or names, which the failure shows.

A change is trivial if the new test is the old one with other literals or names in the same places,
or with arguments that were added or left out and are literals or names; or if it differs in one short
run of tokens, such as one condition. Any other change takes thought.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from coevo.languages.table import get_reading
from coevo.languages.words import DeclarationPart, Word
from coevo.model.method_rows import MethodRow
from coevo.model.words import Track

# A failure shows one assertion, so a change with more different edits takes several looks.
MOST_EDITS = 3
# Tokens of one run, at old or new.
MOST_TOKENS = 12

_SHOWN = (Track.UPDATE, Track.REPAIR)
_CONSTANTS = frozenset({'true', 'false', 'null', 'nil', 'True', 'False', 'None'})
_QUOTES = ('"', "'", '`')
# Signs inside of an argument: of a qualified name, a negative number, a keyword argument.
_SIGNS = frozenset({',', '.', '-', '=', '&', '*'})

Edit = tuple[tuple[str, ...], tuple[str, ...]]


def is_trivial(rows: Sequence[MethodRow]) -> bool:
    """Return whether all targets of a task change trivially, by few different edits.

    False for new tests and for extensions, whose old text does not fail.
    """
    edits: set[Edit] = set()
    for row in rows:
        found = _list_plain_edits(row)
        if found is None:
            return False
        edits |= found
    return 0 < len(edits) <= MOST_EDITS


def _list_plain_edits(row: MethodRow) -> set[Edit] | None:
    """Return what was replaced by what in a target; None if an edit is more than that."""
    if row.track not in _SHOWN or row.old_source is None or row.new_source is None:
        return None
    reading = get_reading(row.language)
    old, new = (reading.list_words(text) for text in (row.old_source, row.new_source))
    whole = _trim_ends(old, new)
    if max(map(len, whole)) <= MOST_TOKENS:
        return {_make_edit(*whole)}
    edits = set()
    for before, after in _list_differences(old, new):
        if not _is_plain(before, after):
            return None
        edits.add(_make_edit(before, after))
    return edits


def _make_edit(before: Sequence[Word], after: Sequence[Word]) -> Edit:
    return tuple(word.text for word in before), tuple(word.text for word in after)


def _trim_ends(old: Sequence[Word], new: Sequence[Word]) -> tuple[Sequence[Word], Sequence[Word]]:
    """Return what is left of both between their common beginning and their common end."""
    shorter = min(len(old), len(new))
    first = next((at for at in range(shorter) if old[at].text != new[at].text), shorter)
    last = next(
        (at for at in range(shorter - first) if old[-1 - at].text != new[-1 - at].text),
        shorter - first,
    )
    return old[first : len(old) - last], new[first : len(new) - last]


def _list_differences(
    old: Sequence[Word], new: Sequence[Word]
) -> Iterator[tuple[Sequence[Word], Sequence[Word]]]:
    before, after = ([word.text for word in words] for words in (old, new))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != 'equal':
            yield old[a:b], new[c:d]


def _is_plain(before: Sequence[Word], after: Sequence[Word]) -> bool:
    words = (*before, *after)
    if not all(_is_value(word) or word.text in _SIGNS for word in words):
        return False
    if before and after and ',' not in {word.text for word in words}:
        return len(before) == len(after)
    return ',' in {word.text for word in words}


def _is_value(word: Word) -> bool:
    """Return whether a word is a name or literal, and no keyword or sign."""
    if word.part is not DeclarationPart.REST or word.text in _CONSTANTS:
        return True
    return word.text[:1].isdigit() or word.text.endswith(_QUOTES)
