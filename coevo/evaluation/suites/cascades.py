"""Which failing tests of a suite fail for one cause (MultiFileTest, "cascade errors": one import that is missing).

A cause is what the compiler does not find, or an error with what it says. An assertion that does not hold
speaks for itself alone, and so does a test that takes too long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome


def find_cause(verdict: Verdict) -> str | None:
    """None of what has none that others can share."""
    if verdict.outcome is Outcome.COMPILE_ERROR:
        return verdict.signature
    if verdict.outcome is not Outcome.ERROR:
        return None
    if not verdict.message:
        return verdict.signature
    return f'{next(iter(verdict.exceptions), "?")}: {verdict.message}'


def number_shared_causes(causes: Sequence[str | None]) -> tuple[int | None, ...]:
    """The number of each cause that several have, from 1 in their order; None of all others."""
    counts = Counter(cause_key for cause_key in causes if cause_key is not None)
    shared = [cause_key for cause_key, count in counts.items() if count > 1]
    numbers = {cause_key: number for number, cause_key in enumerate(shared, 1)}
    return tuple(None if cause_key is None else numbers.get(cause_key) for cause_key in causes)
