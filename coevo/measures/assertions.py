"""The assertions of a test method as texts, and what kind of refinement a change of them is.

TAM-Eval (III-B) sorts broken tests by their defects: syntax; execution (fails to compile or to run); coverage
(runs but adds little or nothing to coverage or mutation score); efficiency (lacks assertions or checks).
The latter two pass, so undoing them is a refinement: `Kind` says which of the two a change of a test was, in
either direction.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from tree_sitter import Parser

from coevo.languages.java.assertions.texts import texts_in
from coevo.languages.java.reading.tokens import JAVA

COVERAGE_STEP = 0.05
"""Least change of coverage, as a share of lines, that counts: TAM-Eval III-C takes 5 %."""


class AssertionKind(StrEnum):
    """What happened to a test that passes at both ends; `changed` is the same assertion on other values."""

    ASSERTIONS_CHANGED = 'assertions_changed'
    ASSERTIONS_GAINED = 'assertions_gained'
    ASSERTIONS_LOST = 'assertions_lost'
    COVERAGE_GAINED = 'coverage_gained'
    COVERAGE_LOST = 'coverage_lost'


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionChange:
    """Texts of assertions: gone for good, new, and those of one name that are there with others."""

    lost: tuple[str, ...]
    gained: tuple[str, ...]
    changed: tuple[tuple[str, str], ...]


def assertions_of(source: str) -> tuple[str, ...]:
    """The assertions of a test method in order, as texts; source is the method alone.

    Comments, white space, messages and the class that an assertion is taken from are left out. A chain
    is one text for each check, `assertThat(x).isNotNull()` and `assertThat(x).hasSize(2)`. Verified
    mocks, expectations and helpers that are named as such count; so does `@Test(expected = …)`.
    """
    root = Parser(JAVA).parse(f'class _ {{ {source}\n}}'.encode()).root_node
    bodies = (child.child_by_field_name('body') for child in root.children)
    return tuple(text_ for body in bodies if body is not None for text_ in texts_in(body))


def assertion_change(old_source: str, new_source: str) -> AssertionChange:
    """The assertions that two versions of a test method do not share."""
    old, new = Counter(assertions_of(old_source)), Counter(assertions_of(new_source))
    gone, come = list((old - new).elements()), list((new - old).elements())
    changed = []
    for text_ in list(gone):
        other = next((t for t in come if _head(t) == _head(text_)), None)
        if other is not None:
            changed.append((text_, other))
            gone.remove(text_)
            come.remove(other)
    return AssertionChange(lost=tuple(gone), gained=tuple(come), changed=tuple(changed))


def change_kinds(
    old_source: str, new_source: str, coverage_old: float | None, coverage_new: float | None
) -> tuple[AssertionKind, ...]:
    """What the change of a passing test did, sorted.

    coverage_old, coverage_new  shares of the lines of the focal code, 0 to 1; None where not measured
    """
    change = assertion_change(old_source, new_source)
    found = {
        AssertionKind.ASSERTIONS_CHANGED: bool(change.changed),
        AssertionKind.ASSERTIONS_GAINED: bool(change.gained),
        AssertionKind.ASSERTIONS_LOST: bool(change.lost),
    }
    if coverage_old is not None and coverage_new is not None:
        found[AssertionKind.COVERAGE_GAINED] = _is_step(coverage_old, coverage_new)
        found[AssertionKind.COVERAGE_LOST] = _is_step(coverage_new, coverage_old)
    return tuple(sorted(kind for kind, holds in found.items() if holds))


def _is_step(low: float, high: float) -> bool:
    return round(high - low, 9) >= COVERAGE_STEP


def _head(text_: str) -> str:
    return text_.partition('(')[0]
