"""What text alone tells of the files of a language: which are tests, what they declare and name.

A language's `reading` is a package or module that fulfils `LanguageReading`; its answers are of one file, or of
the files of one revision, and nothing is run for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from coevo.git.repository import Repository, TreeEntry
from coevo.languages.declarations import DeclaredType, LocatedType, Member, SourceFile
from coevo.languages.layout import PathClassification, Side
from coevo.languages.licences import DeclaredLicence
from coevo.languages.prints import LexicalRules
from coevo.languages.traces import ExecutedMethod
from coevo.languages.words import Word
from coevo.model.records import FileOrigin, TestMethod

Resolve = Callable[[str], Iterable[DeclaredType]]
"""The types of the test tree that a simple name may mean, seen from one file."""


class RevisionTree(Protocol):
    """One revision's files; those that are not of the language have no side. All paths are the
    repository's. Nothing is parsed before it is asked for."""

    @property
    def entries(self) -> Mapping[str, TreeEntry]:
        """All files of the revision, of whatever kind."""

    @property
    def paths_by_side(self) -> Mapping[Side, tuple[str, ...]]:
        """Sorted."""

    @property
    def test_types(self) -> Mapping[str, tuple[LocatedType, ...]]:
        """The types of the test tree by simple name."""

    def __hash__(self) -> int: ...

    def parse_file(self, path: str) -> SourceFile: ...

    def read_content(self, path: str) -> bytes: ...

    def find_origin(self, path: str) -> FileOrigin:
        """Whether a file was written here, generated, or taken from another project."""

    def find_side(self, path: str) -> Side | None:
        """Test or source; None for a file that is neither, or of no language of ours."""

    def is_source(self, path: str) -> bool:
        """Whether a file of whatever kind belongs to the code, which cannot see the tests."""

    def belongs_to_tests(self, path: str) -> bool:
        """Whether a file of whatever kind belongs to the tests; what builds a project need be neither's."""

    def find_module(self, path: str) -> str:
        """The folder of the nearest build file; '.' is the root."""

    def list_paths(self, side: Side) -> tuple[str, ...]:
        """Sorted."""

    def resolve_type(self, path: str, simple: str) -> tuple[LocatedType, ...]:
        """The types of the test tree that a simple name may mean in a file of it."""

    def is_visible(self, path: str, type_: LocatedType) -> bool:
        """Whether a type can be meant by its simple name in a file."""


class LanguageReading(Protocol):
    """A parser and what is known of test frameworks by name."""

    # how the names of its files end
    @property
    def SUFFIXES(self) -> tuple[str, ...]: ...

    # how comments and strings look, for a search that parses little
    @property
    def LEXIS(self) -> LexicalRules: ...

    # names that calls mean for a library's types far more often than for a project's
    @property
    def COMMON_CALLS(self) -> frozenset[str]: ...

    # whose a file of whatever kind is, as far as its path tells; None where it does not
    def classify_path(self, path: str) -> PathClassification | None: ...

    # whether what stands in a file decides how a revision is built
    def is_build_file(self, path: str) -> bool: ...

    # the licences that such a file lists
    def parse_licences(self, build_file: bytes) -> tuple[DeclaredLicence, ...]: ...

    # what a file declares; of one with syntax errors, what can be had. Where a language names types
    # by the places of their files, those of a text without a path have no full names
    def parse(self, source: bytes, path: str = '') -> SourceFile: ...

    # the same past any cache: whole histories would push out what others need again
    def parse_uncached(self, source: bytes) -> SourceFile: ...

    # by which names an observer is asked for lines of a file, and tells them (`BuiltPair.trace`)
    def list_watch_names(self, file: SourceFile, path: str) -> tuple[str, ...]: ...

    # names by which other files of a revision may mean a file, or what it declares
    def list_reference_names(self, tree: RevisionTree, path: str) -> frozenset[str]: ...

    # a digest of the parser, a key of what is kept of its answers
    def compute_version(self) -> str: ...

    # a revision's files; kept for the neighbours of a walk, which share one end
    def open_tree(self, repository: Repository, rev: str) -> RevisionTree: ...

    # the test methods that a file declares, ignored and disabled ones too, in its order
    def find_tests(
        self, file: SourceFile, resolve: Resolve
    ) -> tuple[tuple[DeclaredType, Member], ...]: ...

    # whether the framework runs or injects a member of a test class by itself
    def is_fixture(self, member: Member) -> bool: ...

    # the words of a declaration that was cut out of its file, in order
    def list_words(self, source: str) -> tuple[Word, ...]: ...

    # by what tests of a file say that they may be left, sorted
    def list_expected_throws(self, source: bytes) -> tuple[str, ...]: ...

    # one sentence on what a file that somebody hands in may not bring, and the project's own have not;
    # None where nothing is refused
    def explain_refusal(self, source: bytes, own: Sequence[bytes]) -> str | None: ...

    # the simple name of the type that a test is named after, whether there is one or not
    def guess_class_under_test(self, test: TestMethod) -> str: ...

    # whether an executed method of a file is that member of a type, or lies in it; without a member,
    # whether the rest of the type counts as executed with it
    def is_part_of(
        self, one: ExecutedMethod, member: Member | None, type_: DeclaredType
    ) -> bool: ...


# What a language answers by assignment that has nothing of its own to say.

NO_COMMON_CALLS = frozenset[str]()


def expect_no_throws(source: bytes) -> tuple[str, ...]:
    """Tests do not say in their text by what they may be left."""
    return ()
