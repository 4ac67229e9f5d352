"""The result of the project's own test command, which the engine's outcomes are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coevo.model.records import TestMethod
from coevo.model.words import Outcome

RAN = 'ran'


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRun:
    """The outcomes that the project's own command reported for one module and revision.

    outcomes     the worst outcome of each test method that the command ran or skipped; a method
                 that it does not select is absent
    failure      a short, stable reason why the command did not run to its end; None if it did. The
                 outcomes that it reported before that count
    cpu_seconds  of the command
    """

    outcomes: Mapping[TestMethod, Outcome]
    failure: str | None = None
    cpu_seconds: float = 0.0

    @property
    def status(self) -> str:
        """`ran` if the command ran to its end, otherwise the reason why not."""
        return self.failure or RAN
