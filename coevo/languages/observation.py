"""Observations of a test from outside its process, which confirm or refute a reported pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

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


def explain_unconfirmed_pass(seen: ObservedCalls, *, interferes: bool) -> str | None:
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


def mark_unconfirmed_pass(verdict: Verdict | None, reason: str | None) -> Verdict | None:
    """Return a pass with the reason why it is not credible; any other verdict, or None, as it is.

    reason  None if the pass is credible
    """
    if verdict is None or verdict.outcome is not Outcome.PASS:
        return verdict
    return replace(verdict, tampered=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class MainSources:
    """The main sources to lay in the tree of a test process, independently of its code.

    rev  a revision that was built, whose sources are used; None for no sources at all
    """

    rev: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConditions:
    """Settings of a test process beyond those of its project.

    override           a workaround of `coevo.languages`, the same in all cells of a pair
    clock              the date at which the clock of the process starts; None for the machine's
                       clock. If the clock cannot be set, every verdict is `infra`
    cpu_limit          CPU seconds for each method; None for ten times its slowest passing run, at
                       least 60
    process_cpu_limit  CPU seconds for the whole process; None for the sum of its methods' limits
    observed           whether an observer outside the process confirms passes, see
                       `Verdict.tampered`
    expects            if observed: class names of throwables that tests declare they may end with
    sources            the main sources to show; None for those of the code itself, with all edits
    together           only for languages with hash seeds: whether a single method gets the seed of
                       a run of several methods; otherwise it gets the other seed
    """

    override: str | None = None
    clock: datetime | None = None
    cpu_limit: float | None = None
    process_cpu_limit: float | None = None
    observed: bool = False
    expects: tuple[str, ...] = ()
    sources: MainSources | None = None
    together: bool = False


PLAIN = RunConditions()
