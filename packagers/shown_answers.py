"""Find the parts of a start state that show the form of a new test under another text.

`packagers.leaks` compares texts. Here the form counts: the tokens of a test in which names, calls
and literals do not matter. The rules and their limits were set on tasks that were read
(docs/internals/studies.md).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from coevo.languages.reading import LanguageReading
from coevo.languages.table import get_reading
from coevo.languages.words import DeclarationPart, Word
from coevo.model.dependencies import CoupledBy, Revised
from coevo.model.method_rows import MethodRow
from coevo.model.shown import ShownBy
from coevo.model.words import Track
from packagers.leaks import LeakMeter, ShownMethod, Texts

# Tokens of a gram. Without names and values shorter ones are in any test.
GRAM = 8
LEAST_SAME_NAME, LEAST_FORM, LEAST_TEMPLATE, LEAST_MOVED = 0.35, 0.5, 0.6, 0.3
# Two tests do not have a name of so many words by chance.
LEAST_WORDS = 5

_WORDS = re.compile(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+')
_LAYOUT = frozenset({'\n', ';', '\x02', '\x03'})
_LITERAL = '0'
_QUOTES = ('"', "'", '`')

Form = Counter[tuple[str, ...]]


def find_how_answers_are_shown(
    meter: LeakMeter, rows: Sequence[MethodRow], start: Texts, nearest: float
) -> tuple[ShownBy, ...]:
    """Return how the start state shows the new tests of a task; () for other tracks.

    start    the files that differ from the new revision at the start
    nearest  the `nearest` of the task
    """
    if rows[0].track is not Track.GENERATION:
        return ()
    added = tuple(meter.list_added_methods(rows[0], start))
    found = {kind for row in rows for kind in _find_how_method_is_shown(meter, row, start, added)}
    if nearest >= LEAST_TEMPLATE and any(_shows_calls(row, added) for row in rows):
        found.add(ShownBy.CALL)
    return tuple(sorted(found))


def _find_how_method_is_shown(
    meter: LeakMeter, row: MethodRow, start: Texts, added: Iterable[ShownMethod]
) -> Iterator[ShownBy]:
    reading = get_reading(row.language)
    form = _make_form(reading, row.new_source or '')
    same = meter.list_methods_named(row, row.test_method, start)
    others = [each.source for each in same if each.path != row.test_file]
    if _find_largest_share(reading, form, others) >= LEAST_SAME_NAME:
        yield ShownBy.SAME_NAME
    new = [each.source for each in added if each.is_new]
    if _find_largest_share(reading, form, new) >= LEAST_FORM:
        yield ShownBy.FORM


def _shows_calls(row: MethodRow, added: Iterable[ShownMethod]) -> bool:
    """Return whether one method that the pair changed calls all new methods that a target calls."""
    called = {
        each.name.rpartition('#')[2].partition('(')[0]
        for each in row.dependencies
        if each.is_method and each.revised is Revised.INSERTED and each.coupled_by is CoupledBy.CALL
    }
    return bool(called) and any(called <= each.calls for each in added)


def is_moved(meter: LeakMeter, rows: Sequence[MethodRow]) -> bool:
    """Return whether all new tests of a task were elsewhere at old, under the same name.

    They are gone there, and have a similar form or a name of many words. False for other tracks.
    """
    return rows[0].track is Track.GENERATION and all(_was_elsewhere(meter, row) for row in rows)


def _was_elsewhere(meter: LeakMeter, row: MethodRow) -> bool:
    reading = get_reading(row.language)
    gone = [each.source for each in meter.list_gone_methods(row, row.test_method)]
    if gone and len(_WORDS.findall(row.test_method)) >= LEAST_WORDS:
        return True
    return _find_largest_share(reading, _make_form(reading, row.new_source or ''), gone) >= (
        LEAST_MOVED
    )


def _find_largest_share(reading: LanguageReading, form: Form, sources: Iterable[str]) -> float:
    """Return the largest share of a form that one of the sources has; 0 without any."""
    size = form.total()
    if not size:
        return 0.0
    return max(((form & _make_form(reading, each)).total() / size for each in sources), default=0.0)


def _make_form(reading: LanguageReading, source: str) -> Form:
    tokens = [_mask_word(word) for word in reading.list_words(source) if word.text not in _LAYOUT]
    return Counter(tuple(tokens[at : at + GRAM]) for at in range(len(tokens) - GRAM + 1))


def _mask_word(word: Word) -> str:
    """Return a token as far as it belongs to the form: the kind of a name or literal."""
    if word.part is DeclarationPart.CALL:
        return 'call'
    if word.part is not DeclarationPart.REST:
        return 'name'
    is_literal = word.text[:1].isdigit() or word.text.endswith(_QUOTES)
    return _LITERAL if is_literal else word.text
