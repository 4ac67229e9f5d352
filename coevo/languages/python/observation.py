"""What an observer in a test process counted, as the controller read it, and what it says of a pass.

The worker cannot say it: events of this kind have a key that the controller alone knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """How often a target's function was entered from outside of itself, and how it was left."""

    entered: int
    returned: int
    thrown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonObservation:
    """calls  of each target; reached: lines by file

    interferes  whether the process reached for what who forges needs: objects of the collector, memory,
                code under a test's name, the observer's own eyes
    """

    calls: tuple[Calls, ...]
    reached: Mapping[str, frozenset[int]]
    interferes: bool

    def disagreement(self, target: int) -> str | None:
        """Why a pass that a worker tells is not to be believed; None if it is."""
        found = self.calls[target]
        if not found.entered:
            return 'not_entered'
        if found.returned + found.thrown < found.entered:
            return 'not_left'
        if found.thrown:
            return 'thrown'
        return 'interferes' if self.interferes else None


def observation(event: Mapping[str, Any], targets: int) -> PythonObservation | None:
    """From the controller's event; None where the observer was not in its place."""
    if event.get('ready') is not True:
        return None
    calls = tuple(Calls(entered=e, returned=r, thrown=t) for e, r, t in event['counts'])
    if len(calls) != targets:
        return None
    return PythonObservation(
        calls=calls,
        reached={path: frozenset(lines) for path, lines in event['lines'].items()},
        interferes=event['reached_for'] != 0,
    )
