"""Settings of a test process beyond those of its project."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MainSources:
    """The main sources to lay in the tree of a test process, independently of its code.

    rev  a revision that was built, whose sources are used; None for no sources at all
    """

    rev: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConditions:
    """Settings of a test process beyond those of its project.

    override           a workaround of `coevo.languages`, the same in all cells of a pair
    clock              the date at which the clock of the process starts; None for the machine's
                       clock. If the clock cannot be set, every verdict is `infra`
    cpu_limit          CPU seconds for each method; None for ten times its slowest passing run, at
                       least 60
    process_cpu_limit  CPU seconds for the whole process; None for the sum of its methods' limits
    observed           whether an observer outside the process confirms passes, see
                       `Verdict.tampered`
    expects            if observed: class names of throwables that tests declare they may end with
    sources            the main sources to show; None for those of the code itself, with all edits
    together           only for languages with hash seeds: whether a single method gets the seed of
                       a run of several methods; otherwise it gets the other seed
    """

    override: str | None = None
    clock: datetime | None = None
    cpu_limit: float | None = None
    process_cpu_limit: float | None = None
    observed: bool = False
    expects: tuple[str, ...] = ()
    sources: MainSources | None = None
    together: bool = False


PLAIN = RunConditions()
