"""Which failing tests of a suite fail for one cause (MultiFileTest, "cascade errors": one import that is missing).

A cause is what the compiler does not find, or an error with what it says. An assertion that does not hold
speaks for itself alone, and so does a test that takes too long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome


def cause(verdict: Verdict) -> str | None:
    """None of what has none that others can share."""
    if verdict.outcome is Outcome.COMPILE_ERROR:
        return verdict.signature
    if verdict.outcome is not Outcome.ERROR:
        return None
    if not verdict.message:
        return verdict.signature
    return f'{next(iter(verdict.exceptions), "?")}: {verdict.message}'


def cascades(causes: Sequence[str | None]) -> tuple[int | None, ...]:
    """The number of each cause that several have, from 1 in their order; None of all others."""
    counts = Counter(one for one in causes if one is not None)
    shared = [one for one, count in counts.items() if count > 1]
    numbers = {one: number for number, one in enumerate(shared, 1)}
    return tuple(None if one is None else numbers.get(one) for one in causes)
