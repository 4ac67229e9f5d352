"""Measure how much of a task's answer its start state shows: similar texts, and the form of a new
test.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain

from coevo.git.repository import Repository
from coevo.languages.reading import DeclarationPart, LanguageReading, RevisionTree, Side, Word
from coevo.languages.table import get_reading
from coevo.model.dependencies import CoupledBy, Revised
from coevo.model.method_rows import MethodRow
from coevo.model.words import ShownBy, Track
from packagers.near_duplicates import Grams, compute_token_grams, tokenise

# `leak` is the share of gold's text that is in one test method of the start state which this pair
# added or changed. `nearest` is the same for methods that existed at old, and is for context only.
# A task has the largest share of any of its tests, since one test that can be copied spoils the
# score.
#
# Texts are compared by the token 5-grams of bodies, ignoring comments, literals, the test's own
# name and the words of its class's name. For example, `PrefixCombFactoryTest` and
# `SuffixCombFactoryTest` differ in what these words name, and an agent that copies replaces them.
# The share is a containment, not a Jaccard index: copying a part of a longer text gives the whole
# answer, too.

_WORDS = re.compile(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+')
_COMMON = frozenset({'test', 'tests', 'case', 'it', 'suite'})
_MASK = '~'
_NAMES = re.compile(r'\w+')
_EXAMPLES = frozenset({'example', 'examples', '_example', '_examples', 'samples', 'demo', 'demos'})

Texts = Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMethod:
    """A method of the test tree.

    equal   the same for two versions of an unchanged method
    is_new  whether no method of its name was in the changed test files at old; False where that was
            not asked
    """

    path: str
    name: str
    source: str
    calls: frozenset[str]
    grams: Grams
    equal: Grams
    is_new: bool = False


class LeakMeter:
    """Measures the leaks of the tasks of one repository and language."""

    def __init__(self, repository: Repository, language: str) -> None:
        self._reading = get_reading(language)
        self._repository = repository
        self._of_blob = cache(self._list_methods_of_blob)
        self._of_text = cache(self._list_methods_of_text)
        self._old = cache(self._list_test_methods_at)
        self._list_changes = lru_cache(maxsize=4)(repository.list_changes)

    def compute_largest_leaked_share(self, rows: Sequence[MethodRow], start: Texts) -> float:
        """Return the largest share of a new test's text that an added method at the start has.

        The pair added or changed that method.

        rows   the methods of the task
        start  the files that differ from the new revision at the start; None is an absent file
        """
        return _compute_largest_gold_share(
            rows, list(self.list_added_or_changed_methods(rows[0], start))
        )

    def compute_largest_share_at_old(self, rows: Sequence[MethodRow]) -> float:
        """Return the largest share of a new test's text that one method of the old revision has.

        The old text of an update is such a method, too.
        """
        return _compute_largest_gold_share(rows, self._old(rows[0].old_rev))

    def list_added_or_changed_methods(self, row: MethodRow, start: Texts) -> Iterator[ShownMethod]:
        """Yield the test methods of the start state that the pair of a row added or changed."""
        old, new = (
            self._reading.open_tree(self._repository, r) for r in (row.old_rev, row.new_rev)
        )
        changed = [change.path for change in self._list_changes(row.old_rev, row.new_rev)]
        there = [
            shown
            for path in changed
            if old.find_side(path) is Side.TEST
            for shown in self._of_blob(path, old.entries[path].oid)
        ]
        before, names = {shown.equal for shown in there}, {shown.name for shown in there}
        for path in changed:
            if new.find_side(path) is Side.TEST:
                for shown in self._list_start_methods(new, path, start):
                    if shown.equal not in before:
                        yield replace(shown, is_new=shown.name not in names)

    def list_methods_named(self, row: MethodRow, name: str, start: Texts) -> Iterator[ShownMethod]:
        """Yield the methods of a name in the test tree of the start state of a row's task."""
        new = self._reading.open_tree(self._repository, row.new_rev)
        for path in new.list_paths(Side.TEST):
            for shown in self._list_start_methods(new, path, start):
                if shown.name == name:
                    yield shown

    def list_tests_at_start(self, row: MethodRow, start: Texts) -> list[tuple[str, str]]:
        """Return names and sources of the methods in the test files of the start state.

        Those of the row's own file come first.
        """
        new = self._reading.open_tree(self._repository, row.new_rev)
        paths = dict.fromkeys([row.test_file, *new.list_paths(Side.TEST)])
        methods = chain.from_iterable(self._list_start_methods(new, path, start) for path in paths)
        return [(method.name, method.source) for method in methods]

    def list_names_of_added_data(self, row: MethodRow) -> Iterator[str]:
        """Yield the names of folders and files of the data that the pair of a row added.

        A file's name is without its suffixes: `testdata/TestRead.golden` gives `testdata` and
        `TestRead`. Sources of the language are no data.
        """
        for change in self._list_changes(row.old_rev, row.new_rev):
            if change.old_oid is None and not change.path.endswith(self._reading.SUFFIXES):
                *folders, name = change.path.split('/')
                yield from (*folders, name.partition('.')[0])

    def list_words_of_changed_examples(self, row: MethodRow) -> frozenset[str]:
        """Return the words of the sources in folders of examples that the pair of a row changed.

        Such programs show calls with their results. Their own tests are no examples.
        """
        new = self._reading.open_tree(self._repository, row.new_rev)
        return frozenset().union(
            *(
                _NAMES.findall(self._repository.blob(change.new_oid).decode(errors='replace'))
                for change in self._list_changes(row.old_rev, row.new_rev)
                if change.new_oid is not None
                and change.path.endswith(self._reading.SUFFIXES)
                and not _EXAMPLES.isdisjoint(change.path.split('/')[:-1])
                and new.find_side(change.path) is not Side.TEST
            )
        )

    def list_gone_methods(self, row: MethodRow, name: str) -> Iterator[ShownMethod]:
        """Yield the methods of a name that a test file had at old and does not have at new."""
        new = self._reading.open_tree(self._repository, row.new_rev)
        for shown in self._old(row.old_rev):
            if shown.name == name and not any(
                each.name == name for each in self._list_start_methods(new, shown.path, {})
            ):
                yield shown

    def _list_start_methods(
        self, new: RevisionTree, path: str, start: Texts
    ) -> Sequence[ShownMethod]:
        if path not in start:
            entry = new.entries.get(path)
            return () if entry is None else self._of_blob(path, entry.oid)
        text = start[path]
        return () if text is None else self._of_text(path, text)

    def _list_test_methods_at(self, rev: str) -> Sequence[ShownMethod]:
        at = self._reading.open_tree(self._repository, rev)
        return [
            shown
            for path in at.list_paths(Side.TEST)
            for shown in self._of_blob(path, at.entries[path].oid)
        ]

    def _list_methods_of_blob(self, path: str, oid: str) -> Sequence[ShownMethod]:
        return self._list_methods_of_text(path, self._repository.blob(oid))

    def _list_methods_of_text(self, path: str, text: bytes) -> Sequence[ShownMethod]:
        return tuple(_parse_methods(self._reading, path, text))


def _parse_methods(reading: LanguageReading, path: str, source: bytes) -> Iterator[ShownMethod]:
    for type_ in reading.parse(source).types:
        for member in type_.members:
            if member.kind in ('method', 'constructor') and member.body_hash is not None:
                yield ShownMethod(
                    path=path,
                    name=member.name,
                    source=member.source,
                    calls=member.calls,
                    grams=compute_body_grams(member.source, member.name, type_.name),
                    equal=compute_token_grams(list(tokenise(member.source, member.name))),
                )


def _compute_largest_gold_share(rows: Sequence[MethodRow], shown: Iterable[ShownMethod]) -> float:
    """Return the largest share of a gold test that is in one of the shown methods.

    0 if they share nothing.
    """
    there = list(shown)
    nearest = 0.0
    for row in rows:
        gold = compute_body_grams(row.new_source or '', row.test_method, row.test_class)
        for method in there:
            nearest = max(nearest, len(gold & method.grams) / len(gold))
    return nearest


def compute_body_grams(source: str, name: str, class_name: str) -> Grams:
    """Return the hashed token 5-grams of a method's body.

    The words of its class's name are masked, and its own name does not count.
    """
    words = set(split_name(class_name.rpartition('.')[2])) - _COMMON
    body = _extract_body(list(tokenise(source, name)))
    return compute_token_grams([_mask_words(token, words) for token in body])


def split_name(name: str) -> list[str]:
    """Return the words of a name in lower case, such as ['test', 'mean'] of `testMean`."""
    return [word.lower() for word in _WORDS.findall(name)]


def _extract_body(found: Sequence[str]) -> Sequence[str]:
    """Return the tokens of a method's body: those after the first brace behind the parameters.

    All tokens if there is no such brace. Annotations may have braces and parentheses, too.
    """
    depth = 0
    named = found.index('name') if 'name' in found else 0
    for at in range(named, len(found)):
        depth += {'(': 1, ')': -1}.get(found[at], 0)
        if found[at] == '{' and depth == 0:
            return found[at + 1 : -1]
    return found


def _mask_words(token: str, words: set[str]) -> str:
    if not token[:1].isalpha() or not words:
        return token
    parts = _WORDS.findall(token)
    if words.isdisjoint(part.lower() for part in parts):
        return token
    masked = [_MASK if part.lower() in words else part for part in parts]
    merged_parts = [
        part for at, part in enumerate(masked) if part != _MASK or masked[at - 1 : at] != [_MASK]
    ]
    return ''.join(merged_parts)


# Tokens of a gram. Without names and values shorter ones are in any test.
GRAM = 8
LEAST_SAME_NAME, LEAST_FORM, LEAST_TEMPLATE, LEAST_MOVED = 0.35, 0.5, 0.6, 0.3
# Two tests do not have a name of so many words by chance.
LEAST_WORDS = 5

LAYOUT = frozenset({'\n', ';', '\x02', '\x03'})
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
    added = tuple(meter.list_added_or_changed_methods(rows[0], start))
    ways = {kind for row in rows for kind in _find_how_method_is_shown(meter, row, start, added)}
    if nearest >= LEAST_TEMPLATE and any(_shows_calls(row, added) for row in rows):
        ways.add(ShownBy.CALL)
    if not {row.test_method for row in rows}.isdisjoint(meter.list_names_of_added_data(rows[0])):
        ways.add(ShownBy.DATA)
    if not meter.list_words_of_changed_examples(rows[0]).isdisjoint(
        name for row in rows for name in _list_new_calls(row)
    ):
        ways.add(ShownBy.EXAMPLE)
    return tuple(sorted(ways))


def _find_how_method_is_shown(
    meter: LeakMeter, row: MethodRow, start: Texts, added: Iterable[ShownMethod]
) -> Iterator[ShownBy]:
    reading = get_reading(row.language)
    form = _count_masked_grams(reading, row.new_source or '')
    same = meter.list_methods_named(row, row.test_method, start)
    others = [each.source for each in same if each.path != row.test_file]
    if others and (
        _has_long_name(row) or _find_largest_share(reading, form, others) >= LEAST_SAME_NAME
    ):
        yield ShownBy.SAME_NAME
    new = [each.source for each in added if each.is_new]
    if _find_largest_share(reading, form, new) >= LEAST_FORM:
        yield ShownBy.FORM


def _shows_calls(row: MethodRow, added: Iterable[ShownMethod]) -> bool:
    """Return whether one method that the pair changed calls all new methods that a target calls."""
    called = _list_new_calls(row)
    return bool(called) and any(called <= each.calls for each in added)


def _list_new_calls(row: MethodRow) -> frozenset[str]:
    """Return the names of the methods that a target calls and that the pair inserted."""
    return frozenset(
        each.name.rpartition('#')[2].partition('(')[0]
        for each in row.dependencies
        if each.is_method and each.revised is Revised.INSERTED and each.coupled_by is CoupledBy.CALL
    )


def is_moved(meter: LeakMeter, rows: Sequence[MethodRow]) -> bool:
    """Return whether all new tests of a task were elsewhere at old, under the same name.

    They are gone there, and have a similar form or a name of many words. False for other tracks.
    """
    return rows[0].track is Track.GENERATION and all(_was_elsewhere(meter, row) for row in rows)


def _was_elsewhere(meter: LeakMeter, row: MethodRow) -> bool:
    reading = get_reading(row.language)
    removed_sources = [each.source for each in meter.list_gone_methods(row, row.test_method)]
    if removed_sources and _has_long_name(row):
        return True
    return _find_largest_share(
        reading, _count_masked_grams(reading, row.new_source or ''), removed_sources
    ) >= (LEAST_MOVED)


def _has_long_name(row: MethodRow) -> bool:
    """Return whether the name is so long that two tests hardly share it by chance."""
    return len(split_name(row.test_method)) >= LEAST_WORDS


def _find_largest_share(reading: LanguageReading, form: Form, sources: Iterable[str]) -> float:
    """Return the largest share of a form that one of the sources has; 0 without any."""
    size = form.total()
    if not size:
        return 0.0
    return max(
        ((form & _count_masked_grams(reading, each)).total() / size for each in sources),
        default=0.0,
    )


def _count_masked_grams(reading: LanguageReading, source: str) -> Form:
    tokens = [_mask_word(word) for word in reading.list_words(source) if word.text not in LAYOUT]
    return Counter(tuple(tokens[at : at + GRAM]) for at in range(len(tokens) - GRAM + 1))


def _mask_word(word: Word) -> str:
    """Return a token as far as it belongs to the form: the kind of a name or literal."""
    if word.part is DeclarationPart.CALL:
        return 'call'
    if word.part is not DeclarationPart.REST:
        return 'name'
    return _LITERAL if is_number_or_quoted(word.text) else word.text


def is_number_or_quoted(text: str) -> bool:
    """Return whether a token is a number or a literal in quotes."""
    return text[:1].isdigit() or text.endswith(_QUOTES)
