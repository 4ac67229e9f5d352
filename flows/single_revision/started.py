"""Where a task of a suite starts, or why it starts nowhere."""

from __future__ import annotations

from dataclasses import dataclass

from coevo.model.families import Defect, SuiteAdequacy
from coevo.model.reasons import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The test file at the start, None where it is absent, and what it is worth there.

    rev     the commit that it is of, where it is an older one
    defect  of the file, where one was put in
    """

    text: bytes | None
    adequacy: SuiteAdequacy | None = None
    rev: str | None = None
    defect: Defect | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoStart:
    """Why there is none, and what the file would have been worth, if that was found out."""

    reason: Reason
    detail: str = ''
    adequacy: SuiteAdequacy | None = None
    rev: str | None = None
