"""What an observer saw of a test, and what it says of a pass that a test process tells."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedCalls:
    """How often a test was entered from outside of itself and left, and whether it ended otherwise than a pass does."""

    entered: int
    left: int
    failed: bool


def explain_disagreement(seen: ObservedCalls, *, interferes: bool) -> str | None:
    """Why a pass is not to be believed; None if it is.

    interferes  whether the process reached for what who forges needs
    """
    if not seen.entered:
        return 'not_entered'
    if seen.left < seen.entered:
        return 'not_left'
    if seen.failed:
        return 'thrown'
    return 'interferes' if interferes else None


def mark_as_tampered(verdict: Verdict | None, reason: str | None) -> Verdict | None:
    """With why it is not to be believed. Only passes are questioned."""
    if verdict is None or verdict.outcome is not Outcome.PASS:
        return verdict
    return replace(verdict, tampered=reason)
