"""What a test process is given beside what its project asks for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MainSources:
    """The main sources in a test process's tree, whatever its code is: those of a revision that was
    built, as they stand there; None: there are none."""

    rev: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConditions:
    """What a test process is given beside what its project asks for.

    override           a workaround of `coevo.languages`, the same in all cells of a pair
    clock              the date at which its clock starts; None is the machine's own. Where it
                       cannot be set, every verdict is `infra`
    cpu_limit          CPU seconds for each method; None is ten times its slowest passing run, 60 at
                       least
    process_cpu_limit  CPU seconds for the whole process; None is what its methods may use together
    observed           whether passes are watched from outside of the process, see `Verdict.tampered`
    expects            where they are: class names of throwables that tests say they may be left by
    sources            None: its code's own, with all edits
    together           of a language with hash seeds: whether that of several methods is used for one,
                       too; else one method has the other seed
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
