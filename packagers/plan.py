"""What a release is told: where to, and how rows get what the store does not say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from coevo.model.drops import Drop
from coevo.model.method_rows import MethodRow
from coevo.model.quality import Coverage
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.task_rows import TaskRow
from coevo.model.words import Walk
from coevo.storage.dates import RowDates
from coevo.storage.place import Root
from packagers.licensing import Licence
from packagers.months import MonthCut
from packagers.rows import Rows

# What comes of method rows when tasks are made of them.


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltTasks:
    """Tasks, and columns of their methods.

    ids       the task of each method row that has one, by method id and walk
    single_revision  the task of each row of `single_revision` that has one, by its id and walk
    drops     one for each task that none came of
    coverage  what methods cover of the dependencies of their task, by the same; where it stands
    """

    tasks: Sequence[TaskRow]
    ids: Mapping[tuple[str, Walk], str]
    single_revision: Mapping[tuple[str, Walk], str] = field(default_factory=dict)
    drops: Sequence[Drop] = ()
    coverage: Mapping[tuple[str, Walk], Coverage] = field(default_factory=dict)


# Methods with their contamination columns filled, in any order.
Date = Callable[[Rows], Iterable[MethodRow]]
# Test files of revisions with their dates filled, in any order.
DateSingleRevision = Callable[[Rows], Iterable[SingleRevisionRow]]
# The family of each of some repositories: forks and their like have the same one.
Families = Callable[[Sequence[str]], Mapping[str, str]]
Size = Callable[[str, str, str], tuple[int, int] | None]
# Tasks of a family of repositories, from the rows of these alone.
Build = Callable[[Rows], BuiltTasks]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePlan:
    """One release.

    licence     of a repository at a revision
    size        source files and lines of a repository, at a revision, in a language; None where there is no telling
    families    by repository, of all that there are: its family
    known_dates what rows were dated by, which a month keeps
    accepted    SPDX ids that will do though the OSI has not approved them
    month       of the snapshot, YYYY-MM; None is that of the newest commit visited
    cut         what of the store belongs to the month; None takes all
    previous    an earlier snapshot: what it had and this one has not is withdrawn
    urls        addresses by repository, instead of those that mining knew
    parameters  what else decided the data, for the manifest
    """

    snapshot: Root
    date: Date
    build: Build
    licence: Licence
    size: Size
    families: Families
    date_single_revision: DateSingleRevision = lambda rows: rows.single_revision
    known_dates: Callable[[], Iterable[RowDates]] = tuple
    accepted: tuple[str, ...] = ()
    month: str | None = None
    cut: MonthCut | None = None
    previous: Root | None = None
    urls: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str | int | float | None] = field(default_factory=dict)
