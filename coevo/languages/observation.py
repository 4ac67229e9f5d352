"""Observations of a test from outside its process, which confirm or refute a reported pass."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedCalls:
    """The calls of a test by the framework; `failed` if it ended unlike a passing test."""

    entered: int
    left: int
    failed: bool


def explain_disagreement(seen: ObservedCalls, *, interferes: bool) -> str | None:
    """Return why a pass is not credible; None if the observer confirms it.

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
    """Return the verdict, with the reason why it is not credible if it is a pass."""
    if verdict is None or verdict.outcome is not Outcome.PASS:
        return verdict
    return replace(verdict, tampered=reason)
