"""The refactorings of a pair, where a language has a tool that finds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from coevo.git.repository import Repository
from coevo.languages.capabilities import NOT_OFFERED


class RefactoringStatus(StrEnum):
    """Whether the refactorings of a pair are known: found, of which there may be none, or why not."""

    FOUND = 'found'
    UNKNOWN = 'unknown'
    NOT_OFFERED = NOT_OFFERED  # nobody looks for them in this language


class RefactoringsUnknown(StrEnum):
    """Why it is unknown which refactorings a pair holds."""

    TIMEOUT = 'timeout'
    NO_JVM = 'no_jvm'
    CRASHED = 'crashed'
    OUT_OF_MEMORY = 'out_of_memory'
    TOO_LARGE = 'too_large'


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class RefactoringLocation:
    """A piece of code at one end. Lines and columns are 1-based, the last column is exclusive.

    element_type  the tool's name of it, such as METHOD_DECLARATION
    element       its signature; empty for a statement
    role          what it is in the refactoring, such as 'extracted method invocation'
    source        its text if it is a declaration, fields by whole lines; no part of what it is
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

    pure  whether the tool holds it to be nothing more; None where it judges no such kind
    """

    type: str
    description: str
    left: tuple[RefactoringLocation, ...]
    right: tuple[RefactoringLocation, ...]
    pure: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refactorings:
    """Those of a pair, in a fixed order; `why` says why they are unknown.

    cpu_seconds  of the tool, for those that are found
    """

    status: RefactoringStatus
    why: RefactoringsUnknown | None = None
    refactorings: tuple[Refactoring, ...] = ()
    cpu_seconds: float = field(default=0.0, compare=False)


class RefactoringFinder(Protocol):
    """Safe from several threads."""

    # those between two revisions; CorruptObject if a file cannot be read
    def find(self, repository: Repository, old: str, new: str) -> Refactorings: ...

    # ends what threads may be waiting for
    def close(self) -> None: ...


class NoRefactoringFinder:
    """That of a language without such a tool."""

    def find(self, repository: Repository, old: str, new: str) -> Refactorings:
        return Refactorings(status=RefactoringStatus.NOT_OFFERED)

    def close(self) -> None:
        pass
