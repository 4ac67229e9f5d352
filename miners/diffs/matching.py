"""Match each deleted test method with the inserted one that it became.

It was moved, renamed or edited.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from miners.diffs.contexts import Test

SIMILAR = 0.85
"""The minimal share of common tokens, in order, for two bodies to be one edited method.

Only methods of one class's lineage are compared. Over 573 adjacent states of five repositories, 27
renamed and edited methods reach 0.8, all of them correct, and 20 reach 0.85. But of 195 methods
that were published as new in some of these pairs, 6 are among the former and 2 among the latter.
"""

NAMESAKE = 0.7
"""The same for two tests of one name in different classes, if no other test has the name.

A test may move to another file and be edited at once, without the rest of its class.
"""

Match = tuple[Test, Test]
"""A pair (old, new)."""


def match_tests(
    deleted: Sequence[Test], inserted: Sequence[Test], gone: Container[str] = ()
) -> tuple[Match, ...]:
    """Return one-to-one matches, best first.

    Tests match by equal bodies, then by equal names, then by similar bodies in classes that are the
    same, unless several are equally similar, and last by a name that only they have.

    gone  the test classes that no longer exist at new; their tests may have moved to any class
    """
    pool = _MatchPool(deleted, inserted)
    pool.accept_matches(_match_equal_bodies(pool))
    lineage = _find_same_classes(pool)
    pool.accept_matches(_match_same_names(pool, lineage))
    pool.accept_matches(_match_similar_bodies(pool, lineage, gone))
    pool.accept_matches(_match_namesakes(pool))
    return tuple(pool.matches)


class _MatchPool:
    def __init__(self, deleted: Sequence[Test], inserted: Sequence[Test]) -> None:
        """Start with all tests unmatched and no matches."""
        self.old = dict.fromkeys(deleted)
        self.new = dict.fromkeys(inserted)
        self.matches: list[Match] = []
        self.old_classes = {_get_class(test) for test in deleted}

    def accept_matches(self, ranked: Iterable[Match]) -> None:
        """Accept matches in the order given, using each method once."""
        for old, new in ranked:
            if old in self.old and new in self.new:
                del self.old[old], self.new[new]
                self.matches.append((old, new))


def _match_equal_bodies(pool: _MatchPool) -> list[Match]:
    by_body = defaultdict(list)
    for test in pool.old:
        by_body[test.member.bare_hash].append(test)
    pairs = [(old, new) for new in pool.new for old in by_body[new.member.bare_hash]]
    return sorted(pairs, key=_get_distance_key)


def _get_distance_key(pair: Match) -> tuple[object, ...]:
    """Return a sort key of a pair of tests, nearest first.

    By same name, file, simple class name and parameters, then by place.
    """
    old, new = (test.method for test in pair)
    return (
        old.test_method != new.test_method,
        old.test_file != new.test_file,
        _get_simple_name(old.test_class) != _get_simple_name(new.test_class),
        old.parameters != new.parameters,
        _get_order_key(pair[0]),
        _get_order_key(pair[1]),
    )


def _find_same_classes(pool: _MatchPool) -> set[tuple[str, str]]:
    """Return (old class, new class) pairs that are the same class: unchanged, moved or renamed.

    A class counts as renamed to the class that received at least half of its tests with equal
    bodies; it counts as moved if the simple name is the same. A class that stays may also have
    given methods to another.
    """
    votes = Counter((_get_class(old), _get_class(new)) for old, new in pool.matches)
    class_pairs = {
        pair
        for pair, count in votes.items()
        if count >= _compute_half_of_tests(pool, pair[0], votes)
    }
    new_classes = {_get_class(test) for test in pool.new}
    for old in pool.old_classes:
        class_pairs |= {
            (old, new)
            for new in new_classes
            if old == new or _get_simple_name(old) == _get_simple_name(new)
        }
    return class_pairs


def _compute_half_of_tests(pool: _MatchPool, old: str, votes: Counter[tuple[str, str]]) -> float:
    left = sum(1 for test in pool.old if _get_class(test) == old)
    return (left + sum(count for (first, _), count in votes.items() if first == old)) / 2


def _match_same_names(pool: _MatchPool, lineage: set[tuple[str, str]]) -> list[Match]:
    by_name = defaultdict(list)
    for test in pool.old:
        by_name[test.method.test_method].append(test)
    pairs = [
        (old, new)
        for new in pool.new
        for old in by_name[new.method.test_method]
        if (_get_class(old), _get_class(new)) in lineage
    ]
    return sorted(pairs, key=lambda pair: (-_compute_similarity(*pair), *_get_distance_key(pair)))


def _match_similar_bodies(
    pool: _MatchPool, lineage: set[tuple[str, str]], gone: Container[str]
) -> list[Match]:
    by_class = defaultdict(list)
    for test in pool.old:
        by_class[_get_class(test)].append(test)
    scored = [
        (score, (old, new))
        for new in pool.new
        for old_class, tests in by_class.items()
        if old_class in gone or (old_class, _get_class(new)) in lineage
        for old in tests
        if (score := _compute_similarity(old, new, SIMILAR)) >= SIMILAR
    ]
    return list(_select_unambiguous_matches(scored))


def _select_unambiguous_matches(scored: Iterable[tuple[float, Match]]) -> Iterator[Match]:
    """Yield the matches in which each test is the most similar one to the other, best first.

    A test that is equally similar to several others gives none: it cannot be known which of them it
    became. Example: `test_star` is deleted, and six tests with the same call and other texts are new.
    """
    by_score: dict[float, list[Match]] = defaultdict(list)
    for score, pair in scored:
        by_score[score].append(pair)
    taken = set[Test]()
    for _, pairs in sorted(by_score.items(), reverse=True):
        left = [pair for pair in pairs if taken.isdisjoint(pair)]
        times = Counter(test for pair in left for test in pair)
        yield from sorted(
            (pair for pair in left if times[pair[0]] == times[pair[1]] == 1), key=_get_distance_key
        )
        taken.update(times)


def _match_namesakes(pool: _MatchPool) -> list[Match]:
    """Return pairs of tests whose name no other deleted or inserted test has, if they are similar.

    Their classes may differ.
    """
    by_name: dict[str, tuple[list[Test], list[Test]]] = defaultdict(lambda: ([], []))
    for end, tests in enumerate((pool.old, pool.new)):
        for test in tests:
            by_name[test.method.test_method][end].append(test)
    matches = [(olds[0], news[0]) for olds, news in by_name.values() if len(olds) == len(news) == 1]
    return [pair for pair in matches if _compute_similarity(*pair, NAMESAKE) >= NAMESAKE]


def _compute_similarity(old: Test, new: Test, least: float = 0.0) -> float:
    """Return the share of common tokens of two tests in order, without their own names.

    0 if it cannot reach `least`.
    """
    a, b = _list_body_tokens(old), _list_body_tokens(new)
    length = len(a) + len(b)
    if 2 * min(len(a), len(b)) < least * length:
        return 0.0
    if 2 * sum((Counter(a) & Counter(b)).values()) < least * length:
        return 0.0
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


@lru_cache(maxsize=4096)
def _list_body_tokens(test: Test) -> tuple[str, ...]:
    own = {test.method.test_method, test.unit.type.simple}
    return tuple(token for token in test.member.tokens if token not in own)


def _get_class(test: Test) -> str:
    return test.method.test_class


def _get_simple_name(test_class: str) -> str:
    return test_class.rpartition('.')[2]


def _get_order_key(test: Test) -> tuple[str, int, str]:
    return test.method.test_file, test.member.start_byte, test.method.test_class


def pair_with_keys(tests: Iterable[Test]) -> Iterator[tuple[tuple[str, ...], Test]]:
    """Yield each test with its key: file, class, name and parameters.

    Tests with the same key at both ends are the same method.
    """
    for test in tests:
        method = test.method
        yield (method.test_file, method.test_class, method.test_method, *method.parameters), test
