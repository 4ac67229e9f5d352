"""Protocols for composing a test file from two versions: removing tests and inserting them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass
from typing import Protocol

from coevo.git.repository import Repository
from coevo.languages.declarations import Member
from coevo.model.records import TestMethod


class StartStateInvalid(ValueError):
    """The error that no start file can be made; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalTest:
    """A test method at the old revision, with the content of its file there."""

    method: TestMethod
    source: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTarget:
    """A test method of the file at the new revision, and the version to revert it to.

    original  None if the test is to be removed instead
    """

    method: TestMethod
    original: OriginalTest | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Graft:
    """A test or helper of the new file that is to be put into the old file.

    old  the method of the old file that it replaces; None if none is named
    """

    new: TestMethod
    old: TestMethod | None = None


class MentionFinder(Protocol):
    """A finder of the files of one revision that mention declarations of another file."""

    def find_mentioning_files(self, path: str) -> tuple[str, ...]:
        """Return the paths of the other files that mention a declaration of a file.

        Files of the code are left out, because code cannot see tests.
        """

    def mentions(self, other: str, text: bytes | None, path: str) -> bool:
        """Return whether a text mentions a declaration of the file `path`.

        other  the path of the file with the text
        text   its content; None if there is no such file, which mentions nothing
        """

    def read_text(self, path: str) -> bytes:
        """Return the content of a file."""


class FileSurgery(Protocol):
    """The functions of a language that cut tests out of files and insert tests into them."""

    def make_start_file(
        self,
        new: bytes,
        old: bytes | None,
        targets: Sequence[StartTarget],
        *,
        used_elsewhere: AbstractSet[str] = frozenset(),
    ) -> bytes | None:
        """Return the test file at the new revision, with its targets reverted or removed.

        What only targets use is reverted or removed with them. None if the start state has no such
        file: `old` is None and no target has an original.

        new             the content of the file at the new revision
        old             its content at the old revision; None if it was absent
        used_elsewhere  names by which other files may use declarations that are not private; these
                        stay

        Raises:
            StartStateInvalid: no such file can be made.
        """

    def transplant_tests_into_old(
        self,
        old: bytes,
        new: bytes,
        grafts: Sequence[Graft],
        *,
        used_elsewhere: AbstractSet[str] = frozenset(),
    ) -> bytes:
        """Return the old file with tests of the new one, and with what they need of the new one.

        grafts          the tests to take over, each inserted or put in place of an old one
        used_elsewhere  names by which other files may use declarations that are not private; these
                        stay

        Raises:
            StartStateInvalid: no such file can be made.
        """

    def add_helpers(self, old: bytes, new: bytes) -> bytes:
        """Return the old file with the helpers that the new file adds; unchanged if there are none.

        Tests and members that run by themselves are not helpers.

        Raises:
            StartStateInvalid: no such file can be made.
        """

    def list_other_tests(
        self, source: bytes, targets: Sequence[Member], path: str = ''
    ) -> list[Member]:
        """Return the tests of a file that are not among the targets.

        If the file alone does not show which members are tests, members that resemble the targets
        count.

        path  the path of the file, from which some languages derive the names of types
        """

    def list_names_in_related_files(
        self, repository: Repository, rev: str, path: str
    ) -> frozenset[str]:
        """Return all names that occur in the other files which may use declarations of a test file.

        These files mention its declarations or are related to them, for example by inheritance.
        """

    def find_derived_classes(
        self, repository: Repository, rev: str, path: str, names: Iterable[str]
    ) -> Iterator[tuple[str, bytes, frozenset[str]]]:
        """Yield the other test files that declare classes derived from some types, sorted by path.

        Each is a path, the content, and the binary names of the derived classes.

        names  simple names of the base types
        """

    def make_mention_finder(self, repository: Repository, rev: str) -> MentionFinder:
        """Return a finder of the files of a revision that mention each other."""


# Defaults that languages assign to members for which they have no behaviour of their own.


def find_no_derived_classes(
    repository: Repository, rev: str, path: str, names: Iterable[str]
) -> Iterator[tuple[str, bytes, frozenset[str]]]:
    """Yield nothing: test classes of this language are never derived from each other."""
    return iter(())
