"""What came of all tries to build a revision."""

from __future__ import annotations

from dataclasses import dataclass

from coevo.languages.java.building.session import Answer
from coevo.languages.java.building.session import Died


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildAttempt:
    """The answer that counts, who gave it, and the CPU seconds of all tries."""

    answer: Answer | Died
    builder: str
    cpu_seconds: float


def cpu_seconds(answer: Answer | Died) -> float:
    return 0.0 if isinstance(answer, Died) else answer.cpu_seconds
