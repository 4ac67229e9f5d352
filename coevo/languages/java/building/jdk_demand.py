"""The JDKs that a project requires, with any build tool."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class JdkDemand:
    """The lowest and highest feature release that build files allow; None if they do not say.

    `named` holds the releases that files of continuous integration and version managers name.
    """

    lowest: int | None = None
    highest: int | None = None
    named: frozenset[int] = frozenset()
