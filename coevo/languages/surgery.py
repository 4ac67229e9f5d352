"""Test files made of two versions: what a language must know to take tests out and to put them in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass
from typing import Protocol

from coevo.git.repository import Repository
from coevo.languages.declarations import Member
from coevo.model.records import TestMethod


class StartStateInvalid(ValueError):
    """No start file can be made; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalTest:
    """A test method at old and the content of the file in which it stands there."""

    method: TestMethod
    source: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTarget:
    """A test method of the file at new, and what it is reverted to; None removes it."""

    method: TestMethod
    original: OriginalTest | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Graft:
    """A test method of the new file, and the one of the old file whose place it takes, if any."""

    new: TestMethod
    old: TestMethod | None = None


class MentionFinder(Protocol):
    """Which files of a revision name what another one declares: suites, helpers, settings."""

    def find_mentioning_files(self, path: str) -> tuple[str, ...]:
        """The other files that name a type of a file; the code does not count, for it sees no tests."""

    def mentions(self, other: str, text: bytes | None, path: str) -> bool:
        """Whether a text of a file names a type of another one."""

    def read_text(self, path: str) -> bytes: ...


class FileSurgery(Protocol):
    """A module, or package, beside a language's reading."""

    # the test file at new with targets reverted or removed, and what they alone use; None where it
    # is absent at the start, as one that is new always is. used_elsewhere: names by which other
    # files may use what is not private; that stays. StartStateInvalid
    def make_start_file(
        self,
        new: bytes,
        old: bytes | None,
        targets: Sequence[StartTarget],
        *,
        used_elsewhere: AbstractSet[str] = frozenset(),
    ) -> bytes | None: ...

    # the old file with tests of the new one; StartStateInvalid
    def transplant_tests(
        self,
        old: bytes,
        new: bytes,
        grafts: Sequence[Graft],
        *,
        used_elsewhere: AbstractSet[str] = frozenset(),
    ) -> bytes: ...

    # the old file with the helpers that the new one adds to it, the old one where it adds none; tests
    # and what runs by itself are no helpers. StartStateInvalid
    def add_helpers(self, old: bytes, new: bytes) -> bytes: ...

    # the tests of a file that are none of some; where the file alone tells none, what looks alike.
    # path: where the file stands, by which some languages name what owns its members
    def list_other_tests(
        self, source: bytes, targets: Sequence[Member], path: str = ''
    ) -> list[Member]: ...

    # all names in files that mention, or are related to, what a test file declares
    def list_names_used_elsewhere(
        self, repository: Repository, rev: str, path: str
    ) -> frozenset[str]: ...

    # other test files that declare classes below some types, by simple names: path, content and
    # the binary names of these classes, sorted by path
    def find_derived_classes(
        self, repository: Repository, rev: str, path: str, names: Iterable[str]
    ) -> Iterator[tuple[str, bytes, frozenset[str]]]: ...

    def make_mention_finder(self, repository: Repository, rev: str) -> MentionFinder: ...


# What a language answers by assignment that has nothing of its own to say.


def find_no_derived_classes(
    repository: Repository, rev: str, path: str, names: Iterable[str]
) -> Iterator[tuple[str, bytes, frozenset[str]]]:
    """No class is below another one."""
    return iter(())
