"""The refactorings of a pair, for languages with a tool that finds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from coevo.git.repository import Repository
from coevo.languages.capabilities import NOT_OFFERED


class RefactoringStatus(StrEnum):
    """The state of knowledge of a pair's refactorings. `found` includes that there are none."""

    FOUND = 'found'
    UNKNOWN = 'unknown'
    NOT_OFFERED = NOT_OFFERED  # there is no such tool for this language


class RefactoringsUnknown(StrEnum):
    """Why the refactorings of a pair are unknown."""

    TIMEOUT = 'timeout'
    NO_JVM = 'no_jvm'
    CRASHED = 'crashed'
    OUT_OF_MEMORY = 'out_of_memory'
    TOO_LARGE = 'too_large'


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class RefactoringLocation:
    """A piece of code at one end. Lines and columns are 1-based, the last column is exclusive.

    element_type  the tool's name for this kind of code, such as METHOD_DECLARATION
    element       its signature; empty for a statement
    role          its role in the refactoring, such as 'extracted method invocation'
    source        its text if it is a declaration, in whole lines for fields; ignored in comparisons
    """

    file: str
    start_line: int
    end_line: int
    element_type: str
    element: str
    role: str
    start_column: int
    end_column: int
    source: str = field(default='', compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refactoring:
    """One refactoring as its tool names it, such as 'Rename Method'.

    pure  whether the tool considers it to be nothing more; None if it does not judge this kind
    """

    type: str
    description: str
    left: tuple[RefactoringLocation, ...]
    right: tuple[RefactoringLocation, ...]
    pure: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refactorings:
    """The refactorings of a pair, in a fixed order.

    why          why they are unknown
    cpu_seconds  of the tool, if they were found
    """

    status: RefactoringStatus
    why: RefactoringsUnknown | None = None
    refactorings: tuple[Refactoring, ...] = ()
    cpu_seconds: float = field(default=0.0, compare=False)


class RefactoringFinder(Protocol):
    """Finds the refactorings of pairs; safe for use by several threads."""

    def find(self, repository: Repository, old: str, new: str) -> Refactorings:
        """Find the refactorings between two revisions. If the tool fails, the result says why.

        Raises:
            CorruptObject: a file cannot be read.
        """

    def close(self) -> None:
        """Stop the finder's processes, even if other threads wait for them."""


class NoRefactoringFinder:
    """The finder for a language without such a tool."""

    def find(self, repository: Repository, old: str, new: str) -> Refactorings:
        """Return no refactorings, with the status `not_offered`."""
        return Refactorings(status=RefactoringStatus.NOT_OFFERED)

    def close(self) -> None:
        """Do nothing."""
