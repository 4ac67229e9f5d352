"""Decide whether a task asks for a trivial change: one that takes no understanding of the code.

An update or repair is trivial if the new test is the old one with other literals or names in the
same places, or with arguments that were added or left out and are literals or names; if it differs
in one short run of tokens, such as one condition; or if it has fewer than two names or keywords
that the old test lacks, since a failing run prints new values, or three with its new values. An
extension is trivial if it adds neither an assertion nor a literal, and little else; if it adds no
name and few literals, such as one row of a table; or if it makes the test a copy of another test. A
new test is trivial if it is a copy of another test of the start state, except for its own name and
a few words.

The limits are from tasks that were read twice (benchmarks/figures.md, "Reading").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache

from coevo.languages.reading import DeclarationPart, Word
from coevo.languages.table import get_reading
from coevo.model.method_rows import MethodRow
from coevo.model.words import Track
from packagers.shown_answers import LAYOUT, is_number_or_quoted, split_name

# A failure shows one assertion, so a change with more different edits takes several looks.
MOST_EDITS = 3
# Tokens of one run, at old or new.
MOST_TOKENS = 12
# Names that a test gains by an update that only states other values.
MOST_NEW_NAMES = 1
# Names and literals that it gains by one more argument, such as an error that is returned now.
MOST_NEW_TOKENS = 3
# Literals of one new row of a table.
MOST_NEW_LITERALS = 4
# A copy shares this part of the words of the longer text, and has at most so many other words. The
# words inside of literals count, too, and each word counts once.
LEAST_SHARED = 2 / 3
MOST_NEW_WORDS = 6
MOST_NEW_SHARE = 0.06
# A text that is longer by this factor is no copy, and is not split into words.
_MOST_LENGTHS = 2

_CONSTANTS = frozenset({'true', 'false', 'null', 'nil', 'True', 'False', 'None'})
_BRACKETS = {'{': '}', '[': ']', '(': ')'}
_EMPTY = frozenset({'{}', '[]', '()'})
# Signs inside of an argument: of a qualified name, a negative number, a keyword argument.
_SIGNS = frozenset({',', '.', '-', '=', '&', '*'})
_PARTS = re.compile(r'\w+|[^\w\s]+')

Edit = tuple[tuple[str, ...], tuple[str, ...]]


def is_trivial(rows: Sequence[MethodRow], shown: Sequence[tuple[str, str]] = ()) -> bool:
    """Return whether all targets of a task change trivially.

    shown  names and sources of the tests that the start state has, helpers among them
    """
    track = rows[0].track
    if track is Track.GENERATION:
        return all(_copies_another_test(row, shown) for row in rows)
    if track is Track.EXTENSION:
        return _adds_few_values(rows) or all(
            _adds_no_check(row) or _copies_another_test(row, shown) for row in rows
        )
    added = _list_new_words(rows)
    is_small = len(added.names) + len(added.literals) <= MOST_NEW_TOKENS
    return is_small or len(added.names) <= MOST_NEW_NAMES or _has_few_plain_edits(rows)


def _adds_few_values(rows: Sequence[MethodRow]) -> bool:
    """Return whether the targets of an extension gain no name, and few literals in all."""
    added = _list_new_words(rows)
    return not added.names and len(added.literals) <= MOST_NEW_LITERALS


@dataclass(frozen=True, slots=True, kw_only=True)
class _NewWords:
    """The names, keywords and literals that the targets of a task have and their old tests lack."""

    names: AbstractSet[str]
    literals: AbstractSet[str]


def _list_new_words(rows: Sequence[MethodRow]) -> _NewWords:
    names: set[str] = set()
    literals: set[str] = set()
    for row in rows:
        there = {word.text for word in _list_words(row, row.old_source or '')}
        there.add(row.test_method)
        for word in _list_words(row, row.new_source or ''):
            if word.text in there or word.text in _EMPTY:
                continue
            if _is_literal(word.text):
                literals.add(word.text)
            elif word.text.isidentifier():
                names.add(word.text)
    return _NewWords(names=names, literals=literals)


def _has_few_plain_edits(rows: Sequence[MethodRow]) -> bool:
    """Return whether the targets differ by few edits, each of names, literals or one short run."""
    edits: set[Edit] = set()
    for row in rows:
        row_edits = _list_plain_edits(row)
        if row_edits is None:
            return False
        edits |= row_edits
    return 0 < len(edits) <= MOST_EDITS


def _list_plain_edits(row: MethodRow) -> set[Edit] | None:
    """Return the old and new words of each edit of a target; None if an edit is not plain."""
    if row.old_source is None or row.new_source is None:
        return None
    old, new = (_list_words(row, text) for text in (row.old_source, row.new_source))
    whole = _trim_ends(old, new)
    if max(map(len, whole)) <= MOST_TOKENS:
        return {_make_edit(*whole)}
    edits = set()
    texts = ([word.text for word in words] for words in (old, new))
    for at_old, at_new in _iterate_differences(*texts):
        before, after = old[at_old], new[at_new]
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
    """Return both sequences without their common beginning and their common end."""
    shorter = min(len(old), len(new))
    first = next((at for at in range(shorter) if old[at].text != new[at].text), shorter)
    last = next(
        (at for at in range(shorter - first) if old[-1 - at].text != new[-1 - at].text),
        shorter - first,
    )
    return old[first : len(old) - last], new[first : len(new) - last]


def _iterate_differences(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[slice, slice]]:
    """Yield where two texts differ, as places in each of them."""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != 'equal':
            yield slice(a, b), slice(c, d)


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


def _copies_another_test(row: MethodRow, shown: Sequence[tuple[str, str]]) -> bool:
    """Return whether the new text of a target is another test with few other words.

    Words of the names of the target and its class do not count as other words: a copy of `testMean`
    as `testMedian` may have `Median` in place of `Mean`.
    """
    name, text = row.test_method, row.new_source or ''
    new = _split_words(row.language, name, text)
    count = Counter(new)
    own = {*split_name(name), *split_name(row.test_class)}
    for other, source in shown:
        shorter, longer = sorted((len(source), len(text)))
        if other == name or shorter * _MOST_LENGTHS < longer:
            continue
        old = _split_words(row.language, other, source)
        shared = (Counter(old) & count).total()
        if shared < LEAST_SHARED * max(len(old), len(new)):
            continue
        edited = {word for _, place in _iterate_differences(old, new) for word in new[place]}
        most = max(MOST_NEW_WORDS, int(len(new) * MOST_NEW_SHARE))
        if sum(not _consists_of(word, own) for word in edited) <= most:
            return True
    return False


def _consists_of(word: str, parts: set[str]) -> bool:
    """Return whether a word is a name that is joined of some parts, such as `zeroMean`."""
    split = split_name(word)
    return bool(split) and parts.issuperset(split)


@lru_cache(maxsize=4096)
def _split_words(language: str, name: str, source: str) -> tuple[str, ...]:
    """Return the words of a test without its name; a literal gives the words and signs in it."""
    words: list[str] = []
    for word in get_reading(language).list_words(source):
        if is_number_or_quoted(word.text):
            words += _PARTS.findall(word.text)
        elif word.text != name and word.text not in LAYOUT:
            words.append(word.text)
    return tuple(words)
