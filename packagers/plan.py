"""The input of a release: its target, and functions that supply what the store does not contain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from coevo.git.repository import Repository
from coevo.model.listener import SILENT, Listener
from coevo.model.method_rows import MethodRow
from coevo.model.quality import Coverage
from coevo.model.records import Drop
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.task_rows import TaskRow
from coevo.model.words import Walk
from coevo.storage.dates import RowDates
from coevo.storage.place import Root
from packagers.licensing import FindLicenceFiles, Licence
from packagers.months import MonthCut
from packagers.rows import Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltTasks:
    """Tasks, and columns of their methods.

    ids       the task of each method row that has one, by method id and walk
    single_revision  the task of each row of `single_revision` that has one, by its id and walk
    drops     one for each group of rows that gave no task
    coverage  the coverage of the task's dependencies by each method, by method id and walk
    """

    tasks: Sequence[TaskRow]
    ids: Mapping[tuple[str, Walk], str]
    single_revision: Mapping[tuple[str, Walk], str] = field(default_factory=dict)
    drops: Sequence[Drop] = ()
    coverage: Mapping[tuple[str, Walk], Coverage] = field(default_factory=dict)


# Returns methods with their contamination columns filled, in any order.
Date = Callable[[Rows], Iterable[MethodRow]]
# Returns test files of revisions with their dates filled, in any order.
DateSingleRevision = Callable[[Rows], Iterable[SingleRevisionRow]]
# Returns the family of each repository: forks and copies of one another have the same one.
Families = Callable[[Sequence[str]], Mapping[str, str]]
Size = Callable[[str, str, str], tuple[int, int] | None]
# Builds the tasks of families of repositories, each from its own rows; yields rows and tasks of each
# family, in the given order.
Build = Callable[[Iterable[Rows]], Iterator[tuple[Rows, BuiltTasks]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePlan:
    """One release.

    licence     returns the licence of a repository at a revision
    is_silent   returns whether a repository says nothing of a licence at a revision
    is_private  whether the release is for the store's owner alone: it holds all rows, whatever the
                licence
    clone       opens a repository, to say how withheld texts are made from it; not needed if all
                licences are permissive
    find_licence_files  returns the licence files that ATTRIBUTION shows
    size        returns the number of source files and lines of a repository, at a revision, in a
                language; None if unknown
    families    returns the family of each repository, given all of them
    add_rows    returns the rows of a store with those that are made at release
    known_dates returns the dates of all rows, which a month keeps
    accepted    SPDX ids that are accepted although the OSI has not approved them
    month       month of the snapshot, YYYY-MM; None takes the month of the newest commit visited
    cut         selects what belongs to the month; None takes the whole store
    previous    an earlier snapshot; its tasks that are missing now are withdrawn
    urls        addresses by repository, which replace those that mining recorded
    parameters  other settings that influence the data, for the manifest
    listener    is called for each family of repositories whose tasks are built
    """

    snapshot: Root
    date: Date
    build: Build
    licence: Licence
    size: Size
    families: Families
    add_rows: Callable[[Rows], Rows] = lambda rows: rows
    date_single_revision: DateSingleRevision = lambda rows: rows.single_revision
    known_dates: Callable[[], Iterable[RowDates]] = tuple
    is_silent: Callable[[str, str], bool] = lambda repo, rev: False
    is_private: bool = False
    clone: Callable[[str], Repository] | None = None
    find_licence_files: FindLicenceFiles = lambda repo, rev: ()
    accepted: tuple[str, ...] = ()
    month: str | None = None
    cut: MonthCut | None = None
    previous: Root | None = None
    urls: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str | int | float | None] = field(default_factory=dict)
    listener: Listener = SILENT
