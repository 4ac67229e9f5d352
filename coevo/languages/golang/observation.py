"""What an observer above a test process saw of its tests (`inside/observe.go`).

The test process cannot say it: events of this kind have a key that our program alone knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coevo.languages.observation import ObservedCalls, explain_disagreement
from coevo.languages.verdicts import UNOBSERVED

_UNSEEN = ObservedCalls(entered=0, left=0, failed=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoObservation:
    """tests    by name
    altered  whether the code of the process was not that of its binary any more
    reached  of the lines that were asked for, by path
    """

    tests: Mapping[str, ObservedCalls]
    altered: bool
    reached: Mapping[str, frozenset[int]]


def parse_observation(event: Mapping[str, Any]) -> GoObservation:
    """From our program's event."""
    return GoObservation(
        tests={
            name: ObservedCalls(
                entered=counts['Entered'], left=counts['Left'], failed=counts['Failed']
            )
            for name, counts in event['tests'].items()
        },
        altered=event['altered'],
        reached={path: frozenset(lines) for path, lines in event['reached'].items()},
    )


def explain_doubt(seen: GoObservation | None, test: str) -> str | None:
    """Why a pass of it is not to be believed."""
    if seen is None:
        return UNOBSERVED
    return explain_disagreement(seen.tests.get(test, _UNSEEN), interferes=seen.altered)
