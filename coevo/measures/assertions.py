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

from coevo.languages.assertions import Assertions

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


def compare_assertions(assertions: Assertions, old_source: str, new_source: str) -> AssertionChange:
    """The assertions that two versions of a test method do not share; each is the method alone."""
    old, new = (Counter(assertions.list_assertions(text)) for text in (old_source, new_source))
    lost, come = list((old - new).elements()), list((new - old).elements())
    changed = []
    for text in list(lost):
        kind = assertions.classify_assertion(text)
        other = next(
            (candidate for candidate in come if assertions.classify_assertion(candidate) == kind),
            None,
        )
        if other is not None:
            changed.append((text, other))
            lost.remove(text)
            come.remove(other)
    return AssertionChange(lost=tuple(lost), gained=tuple(come), changed=tuple(changed))


def classify_change(
    change: AssertionChange | None, coverage_old: float | None, coverage_new: float | None
) -> tuple[AssertionKind, ...]:
    """What the change of a passing test did, sorted.

    change                      None where the language offers no assertions
    coverage_old, coverage_new  shares of the lines of the focal code, 0 to 1; None where not measured
    """
    kinds: dict[AssertionKind, bool] = {}
    if change is not None:
        kinds[AssertionKind.ASSERTIONS_CHANGED] = bool(change.changed)
        kinds[AssertionKind.ASSERTIONS_GAINED] = bool(change.gained)
        kinds[AssertionKind.ASSERTIONS_LOST] = bool(change.lost)
    if coverage_old is not None and coverage_new is not None:
        kinds[AssertionKind.COVERAGE_GAINED] = _is_coverage_step(coverage_old, coverage_new)
        kinds[AssertionKind.COVERAGE_LOST] = _is_coverage_step(coverage_new, coverage_old)
    return tuple(sorted(kind for kind, holds in kinds.items() if holds))


def _is_coverage_step(low: float, high: float) -> bool:
    return round(high - low, 9) >= COVERAGE_STEP
