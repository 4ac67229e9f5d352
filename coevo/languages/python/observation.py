"""What an observer in a test process counted, as the controller read it, and what it says of a pass.

The worker cannot say it: events of this kind have a key that the controller alone knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coevo.languages.observation import ObservedCalls, explain_disagreement


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonObservation:
    """calls  of each target; reached: lines by file

    interferes  whether the process reached for what who forges needs: objects of the collector, memory,
                code under a test's name, the observer's own eyes
    """

    calls: tuple[ObservedCalls, ...]
    reached: Mapping[str, frozenset[int]]
    interferes: bool

    def find_disagreement(self, target: int) -> str | None:
        """Why a pass that a worker tells is not to be believed; None if it is."""
        return explain_disagreement(self.calls[target], interferes=self.interferes)


def parse_observation(event: Mapping[str, Any], targets: int) -> PythonObservation | None:
    """From the controller's event; None where the observer was not in its place."""
    if event.get('ready') is not True:
        return None
    calls = tuple(ObservedCalls(entered=e, left=r + t, failed=t > 0) for e, r, t in event['counts'])
    if len(calls) != targets:
        return None
    return PythonObservation(
        calls=calls,
        reached={path: frozenset(lines) for path, lines in event['lines'].items()},
        interferes=event['reached_for'] != 0,
    )
