"""The result of all tries to build a revision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coevo.languages.java.building.session import JvmAnswer, JvmDeath


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildAttempt:
    """The answer of the build that counts, its builder's name, and the CPU seconds of all tries.

    overrides  names of the changes to the revision's build files with which it was built
    rewritten  the build files with these changes, by path in the tree
    """

    answer: JvmAnswer | JvmDeath
    builder: str
    cpu_seconds: float
    overrides: tuple[str, ...] = ()
    rewritten: Mapping[str, bytes] = field(default_factory=dict)


def get_cpu_seconds(answer: JvmAnswer | JvmDeath) -> float:
    """Return the CPU seconds of an answer; 0 if the JVM died."""
    return 0.0 if isinstance(answer, JvmDeath) else answer.cpu_seconds
