"""What an observer above a test process saw of its tests, and what it says of a pass (`inside/observe.go`).

The test process cannot say it: events of this kind have a key that our program alone knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from typing import Any

from coevo.languages.verdicts import UNOBSERVED
from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """How often a test was entered and left, and whether it, or what it runs, was told to fail or skipped."""

    entered: int
    left: int
    failed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GoObservation:
    """tests  by name; altered: whether the code of the process was not that of its binary any more"""

    tests: Mapping[str, Sight]
    altered: bool

    def disagreement(self, test: str) -> str | None:
        """Why a pass that a test process tells is not to be believed; None if it is."""
        found = self.tests.get(test)
        if found is None or not found.entered:
            return 'not_entered'
        if found.left < found.entered:
            return 'not_left'
        if found.failed:
            return 'thrown'
        return 'interferes' if self.altered else None


def observation(event: Mapping[str, Any]) -> GoObservation:
    """From our program's event."""
    return GoObservation(
        tests={
            name: Sight(entered=one['Entered'], left=one['Left'], failed=one['Failed'])
            for name, one in event['tests'].items()
        },
        altered=event['altered'],
    )


def doubted(
    told: Sequence[Verdict | None], tests: Sequence[str], seen: GoObservation | None
) -> list[Verdict | None]:
    """Only passes are questioned."""
    return [
        replace(one, tampered=UNOBSERVED if seen is None else seen.disagreement(test))
        if one is not None and one.outcome is Outcome.PASS
        else one
        for one, test in zip(told, tests, strict=True)
    ]
