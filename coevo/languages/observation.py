"""Observations of a test from outside its process, which confirm or refute a reported pass."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedCalls:
    """Two counts of an observer: the framework called a test, and the test returned.

    entered  calls that began
    left     calls that ended
    failed   whether a call ended unlike that of a passing test
    """

    entered: int
    left: int
    failed: bool


def explain_disagreement(seen: ObservedCalls, *, interferes: bool) -> str | None:
    """Return why a reported pass is not credible, as a short reason; None if it is confirmed.

    The reasons are `not_entered`, `not_left`, `thrown` and `interferes`; the first that applies
    wins.

    interferes  whether the process did something that is needed to forge a result
    """
    if not seen.entered:
        return 'not_entered'
    if seen.left < seen.entered:
        return 'not_left'
    if seen.failed:
        return 'thrown'
    return 'interferes' if interferes else None


def mark_as_tampered(verdict: Verdict | None, reason: str | None) -> Verdict | None:
    """Return a pass with the reason why it is not credible; any other verdict, or None, as it is.

    reason  None if the pass is credible
    """
    if verdict is None or verdict.outcome is not Outcome.PASS:
        return verdict
    return replace(verdict, tampered=reason)
