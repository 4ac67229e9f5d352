"""What a project asks of its JDK, whoever builds it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class JdkDemand:
    """The lowest and the highest feature release that build files allow; None where they do not say.

    named  those that files of continuous integration and version managers name
    """

    lowest: int | None = None
    highest: int | None = None
    named: frozenset[int] = frozenset()
