"""Decide whether a task asks for a trivial change: one that takes no understanding of the code.

An update or repair is trivial if the new test is the old one with other literals or names in the
same places, or with arguments that were added or left out and are literals or names; or if it
differs in one short run of tokens, such as one condition. An extension is trivial if it adds
neither an assertion nor a literal, and little else. A new test is trivial if another test of its
file is nearly the same text. Any other change takes thought.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from coevo.languages.reading import DeclarationPart, Word
from coevo.languages.table import get_reading
from coevo.model.method_rows import MethodRow
from coevo.model.words import Track
from packagers.shown_answers import LAYOUT, is_number_or_quoted

# A failure shows one assertion, so a change with more different edits takes several looks.
MOST_EDITS = 3
# Tokens of one run, at old or new.
MOST_TOKENS = 12
# Characters by which a copied test may differ from another one; equal differences count once.
MOST_CHARACTERS = 8
# A text whose length differs by more characters is no copy, and is not split into tokens.
_MOST_LENGTH = 200
# Longer texts, in tokens or characters, are not compared in detail.
_LONGEST = 2_000

_CONSTANTS = frozenset({'true', 'false', 'null', 'nil', 'True', 'False', 'None'})
_BRACKETS = {'{': '}', '[': ']', '(': ')'}
_EMPTY = frozenset({'{}', '[]', '()'})
# Signs inside of an argument: of a qualified name, a negative number, a keyword argument.
_SIGNS = frozenset({',', '.', '-', '=', '&', '*'})
_NAME = '~'

Edit = tuple[tuple[str, ...], tuple[str, ...]]


def is_trivial(rows: Sequence[MethodRow], beside: Sequence[tuple[str, str]] = ()) -> bool:
    """Return whether all targets of a task change trivially.

    beside  names and sources of the other tests that a new test's file has at the start
    """
    track = rows[0].track
    if track is Track.GENERATION:
        return all(_copies_another_test(row, beside) for row in rows)
    if track is Track.EXTENSION:
        return all(_adds_no_check(row) for row in rows)
    edits: set[Edit] = set()
    for row in rows:
        row_edits = _list_plain_edits(row)
        if row_edits is None:
            return False
        edits |= row_edits
    return 0 < len(edits) <= MOST_EDITS


def _list_plain_edits(row: MethodRow) -> set[Edit] | None:
    """Return what was replaced by what in a target; None if an edit is more than that."""
    if row.old_source is None or row.new_source is None:
        return None
    old, new = (_list_words(row, text) for text in (row.old_source, row.new_source))
    whole = _trim_ends(old, new)
    if max(map(len, whole)) <= MOST_TOKENS:
        return {_make_edit(*whole)}
    edits = set()
    for before, after in _list_differences(old, new):
        if not _replaces_only_names_or_literals(before, after):
            return None
        edits.add(_make_edit(before, after))
    return edits


def _list_words(row: MethodRow, text: str) -> list[Word]:
    """Return the words of a text, with an empty pair of brackets as one word."""
    words: list[Word] = []
    for word in get_reading(row.language).list_words(text):
        if words and _BRACKETS.get(words[-1].text) == word.text:
            words[-1] = replace(words[-1], text=words[-1].text + word.text)
        else:
            words.append(word)
    return words


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


def _replaces_only_names_or_literals(before: Sequence[Word], after: Sequence[Word]) -> bool:
    words = (*before, *after)
    if not all(_is_name_or_literal(word) or word.text in _SIGNS for word in words):
        return False
    texts = {word.text for word in words}
    if before and after and not texts & {',', '()'}:
        return len(before) == len(after)
    return bool(texts & {',', '()'})


def _is_name_or_literal(word: Word) -> bool:
    """Return whether a word is a name or literal, and no keyword or sign."""
    return word.part is not DeclarationPart.REST or _is_literal(word.text)


def _is_literal(text: str) -> bool:
    return text in _CONSTANTS or text in _EMPTY or is_number_or_quoted(text)


def _adds_no_check(row: MethodRow) -> bool:
    """Return whether an extension adds neither an assertion nor a literal, and few tokens."""
    if row.old_source is None or row.new_source is None or row.assertions_gained != 0:
        return False
    old, new = (_list_words(row, text) for text in (row.old_source, row.new_source))
    added = Counter(word.text for word in new if word.text not in LAYOUT)
    added -= Counter(word.text for word in old)
    added = Counter({text: count for text, count in added.items() if text not in _EMPTY})
    return added.total() <= MOST_TOKENS and not any(map(_is_literal, added))


def _copies_another_test(row: MethodRow, beside: Sequence[tuple[str, str]]) -> bool:
    """Return whether a new test is another one with few other characters, its name aside."""
    text = row.new_source or ''
    new = _list_words_without_name(row, row.test_method, text)
    count = Counter(word.text for word in new)
    for name, source in beside:
        if abs(len(source) - len(text)) > _MOST_LENGTH:
            continue
        old = _list_words_without_name(row, name, source)
        there = Counter(word.text for word in old)
        if max((count - there).total(), (there - count).total()) > MOST_TOKENS:
            continue
        if _count_different_characters(old, new) <= MOST_CHARACTERS:
            return True
    return False


def _list_words_without_name(row: MethodRow, name: str, source: str) -> list[Word]:
    return [
        replace(word, text=_NAME) if word.text == name else word
        for word in _list_words(row, source)
        if word.text not in LAYOUT
    ]


def _count_different_characters(old: Sequence[Word], new: Sequence[Word]) -> int:
    """Return the sum of the lengths of all different replacements of characters.

    Texts that differ too much are not compared in detail.
    """
    old, new = _trim_ends(old, new)
    if len(new) > _LONGEST:
        return MOST_CHARACTERS + 1
    edits = set()
    for parts in _list_differences(old, new):
        before, after = (' '.join(word.text for word in part) for part in parts)
        if abs(len(before) - len(after)) > MOST_CHARACTERS or len(after) > _LONGEST:
            return MOST_CHARACTERS + 1
        matcher = SequenceMatcher(None, before, after, autojunk=False)
        edits |= {
            (before[a:b], after[c:d])
            for kind, a, b, c, d in matcher.get_opcodes()
            if kind != 'equal'
        }
    return sum(max(map(len, edit)) for edit in edits)
