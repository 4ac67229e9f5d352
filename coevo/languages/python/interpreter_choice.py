"""Which interpreter both ends of a pair are run with: a label must never come from a change of it.

What both ends allow (`requires-python`) and the date of the new one decide: the newest release that had
been out for half a year, then its neighbours, three at most (where a machine has none of them, the nearest that it has). So 39 of 40 revisions of ten projects
ran with the first one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta

# The day of each feature release's .0 (PEP 494, 537, 569, 596, 619, 664, 693, 719, 745).
RELEASED = {
    (3, 6): date(2016, 12, 23),
    (3, 7): date(2018, 6, 27),
    (3, 8): date(2019, 10, 14),
    (3, 9): date(2020, 10, 5),
    (3, 10): date(2021, 10, 4),
    (3, 11): date(2022, 10, 24),
    (3, 12): date(2023, 10, 2),
    (3, 13): date(2024, 10, 7),
    (3, 14): date(2025, 10, 7),
}
SETTLED = timedelta(days=180)
MOST_TRIED = 3

Feature = tuple[int, int]

_CLAUSE = re.compile(r'\s*(~=|===?|!=|<=|>=|<|>)\s*v?(\d+(?:\.\d+)*)(\.\*)?\s*')


def list_candidates(allowed: Collection[str], when: datetime | None) -> tuple[Feature, ...]:
    """Feature releases to try in this order.

    allowed  all that `requires-python` says, of both ends
    """
    return _order_features(allowed, when)[:MOST_TRIED]


def find_nearest_available(
    allowed: Collection[str], when: datetime | None, there: Collection[Feature]
) -> Feature | None:
    """Of a machine that has none of the candidates, the nearest that it has."""
    return next((feature for feature in _order_features(allowed, when) if feature in there), None)


def _order_features(allowed: Collection[str], when: datetime | None) -> tuple[Feature, ...]:
    able = [
        feature for feature in RELEASED if all(allows_feature(text, feature) for text in allowed)
    ] or list(RELEASED)
    day = when.date() if when is not None else date.max
    settled = [feature for feature in able if RELEASED[feature] + SETTLED <= day]
    first = able.index(settled[-1]) if settled else 0
    order = sorted(range(len(able)), key=lambda place: (abs(place - first), place > first))
    return tuple(able[index] for index in order)


def allows_feature(specifiers: str, feature: Feature) -> bool:
    """Whether any release of a feature release may be meant; what cannot be read forbids nothing."""
    return all(
        _clause_allows(clause[1], tuple(map(int, clause[2].split('.'))), bool(clause[3]), feature)
        for text in specifiers.split(',')
        if (clause := _CLAUSE.fullmatch(text)) is not None
    )


def meets_requirement(version: Sequence[int], requirement: str) -> bool:
    """Whether a version is among those that a requirement's clauses allow, as far as they are plain."""
    for operator, text in re.findall(r'(~=|===?|!=|<=|>=|<|>)\s*v?(\d+(?:\.\d+)*)', requirement):
        named = tuple(map(int, text.split('.')))
        size = max(len(named), len(version))
        actual, other = (
            (*numbers, *(0,) * (size - len(numbers))) for numbers in (tuple(version), named)
        )
        if not {
            '>=': actual >= other,
            '>': actual > other,
            '<=': actual <= other,
            '<': actual < other,
            '!=': actual != other,
            '~=': actual >= other and actual[: len(named) - 1] == named[:-1],
        }.get(operator, actual == other):
            return False
    return True


def _clause_allows(operator: str, release: Sequence[int], star: bool, feature: Feature) -> bool:
    named = tuple((*release, 0)[:2])
    whole = len(release) <= 2 or not any(release[2:])  # names no bug fix release
    match operator:
        case '>=' | '~=' if operator == '>=' or len(release) > 2:
            return feature >= named if operator == '>=' else feature == named
        case '~=':
            return feature >= named and feature[0] == named[0]
        case '>':
            return feature > named or (feature == named and len(release) > 2)
        case '<=':
            return feature <= named
        case '<':
            return feature < named or (feature == named and not whole)
        case '!=':
            return not (
                feature[: len(release)] == tuple(release)[:2] and (star or len(release) == 2)
            )
    return feature[: len(release)] == tuple(release)[:2]
