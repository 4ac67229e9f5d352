"""Reads source files as text: which are tests, what they declare and which names they use.

A language's `reading` is a package or module that fulfils `LanguageReading`. It looks at one file
or at the files of one revision, and never runs anything.
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
"""Returns the types of the test tree that a simple name may refer to in one file."""


class RevisionTree(Protocol):
    """The files of one revision. All paths are those of the repository.

    Files of other languages have no side. Files are parsed only on demand.
    """

    @property
    def entries(self) -> Mapping[str, TreeEntry]:
        """All files of the revision, of any kind."""

    @property
    def paths_by_side(self) -> Mapping[Side, tuple[str, ...]]:
        """The paths of each side, sorted."""

    @property
    def test_types(self) -> Mapping[str, tuple[LocatedType, ...]]:
        """The types of the test tree by simple name."""

    def __hash__(self) -> int:
        """Return a hash, so that trees can be keys of caches."""

    def parse_file(self, path: str) -> SourceFile:
        """Return the declarations of a file."""

    def read_content(self, path: str) -> bytes:
        """Return the content of a file."""

    def find_origin(self, path: str) -> FileOrigin:
        """Return whether a file was written in this project, generated, or copied into it."""

    def find_side(self, path: str) -> Side | None:
        """Return test or source; None if a file is neither, or of no supported language."""

    def is_source(self, path: str) -> bool:
        """Return whether a file of any kind belongs to the code, which cannot see the tests."""

    def belongs_to_tests(self, path: str) -> bool:
        """Return whether a file of any kind belongs to the tests.

        A build file may belong neither to the code nor to the tests.
        """

    def find_embedders(self, path: str) -> tuple[str, ...]:
        """Return the source or test files into which a file of another kind is compiled, sorted.

        The hashes of these files, and of their declarations that embed it, cover its content. It need
        not exist at this revision.
        """

    def find_module(self, path: str) -> str:
        """Return the folder of the nearest build file; '.' is the root."""

    def list_paths(self, side: Side) -> tuple[str, ...]:
        """Return the paths of one side, sorted."""

    def resolve_type(self, path: str, simple: str) -> tuple[LocatedType, ...]:
        """Return the types of the test tree that a simple name may refer to in one of its files."""

    def find_companions(self, path: str) -> tuple[LocatedType, ...]:
        """Return the types whose fixtures run around the tests of a file that cannot see them.

        Their other members do not reach these tests.
        """

    def is_visible(self, path: str, type_: LocatedType) -> bool:
        """Return whether a file can refer to a type by its simple name."""


class LanguageReading(Protocol):
    """A parser with rules for recognizing tests by the names that test frameworks use."""

    @property
    def SUFFIXES(self) -> tuple[str, ...]:
        """The endings of the names of this language's files."""

    @property
    def LEXIS(self) -> LexicalRules:
        """The syntax of comments and strings, for searches that avoid parsing."""

    @property
    def COMMON_CALLS(self) -> frozenset[str]:
        """Names of calls that far more often belong to a library than to the project."""

    def classify_path(self, path: str) -> PathClassification | None:
        """Return to which side a file of any kind belongs by its path; None if that is open."""

    def is_build_file(self, path: str) -> bool:
        """Return whether the content of a file determines how a revision is built."""

    def parse_licences(self, build_file: bytes) -> tuple[DeclaredLicence, ...]:
        """Return the licences that a build file lists."""

    def parse(self, source: bytes, path: str = '') -> SourceFile:
        """Return the declarations of a file, as far as possible if it has syntax errors.

        If the language names types by the locations of their files, types have no full names
        without a path.
        """

    def parse_uncached(self, source: bytes) -> SourceFile:
        """Parse without a cache: whole histories would evict the entries that others need."""

    def list_watch_names(self, file: SourceFile, path: str) -> tuple[str, ...]:
        """Return the names by which `BuiltPair.trace` takes and reports watched lines of a file."""

    def list_reference_names(self, tree: RevisionTree, path: str) -> frozenset[str]:
        """Return the names by which other files may refer to a file or its declarations."""

    def compute_version(self) -> str:
        """Return a digest of the parser, which is part of the key of its cached results."""

    def open_tree(self, repository: Repository, rev: str) -> RevisionTree:
        """Return the files of a revision; cached, as neighbouring pairs of a walk share an end."""

    def find_tests(
        self, file: SourceFile, resolve: Resolve
    ) -> tuple[tuple[DeclaredType, Member], ...]:
        """Return the test methods of a file in its order, including ignored and disabled ones."""

    def is_fixture(self, member: Member) -> bool:
        """Return whether the framework itself runs or injects a member of a test class."""

    def list_injected_names(self, member: Member) -> tuple[str, ...]:
        """Return the names under which the framework injects a member into tests; () if it does not.

        A test has such a name as a parameter or in a string, without calling the member.
        """

    def requests_any_fixture(self, member: Member) -> bool:
        """Return whether a member requests injected members by names that its text does not show."""

    def list_words(self, source: str) -> tuple[Word, ...]:
        """Return the words of a declaration that was cut out of its file, in order."""

    def list_expected_throws(self, source: bytes) -> tuple[str, ...]:
        """Return the classes of throwables that tests of a file declare as their end, sorted."""

    def explain_refusal(self, source: bytes, own: Sequence[bytes]) -> str | None:
        """Return one sentence on why a submitted file is refused; None if it is accepted.

        A file is refused for constructs that none of the project's own files (`own`) contain.
        """

    def guess_class_under_test(self, test: TestMethod) -> str:
        """Return the simple name of the type after which a test is named; it need not exist."""

    def is_part_of(self, one: ExecutedMethod, member: Member | None, type_: DeclaredType) -> bool:
        """Return whether an executed method is a member of a type or lies within the member.

        If `member` is None, return whether the rest of the type counts as executed with the method.
        """


# Defaults that languages assign to members for which they have no behaviour of their own.

NO_COMMON_CALLS = frozenset[str]()


def inject_nothing(member: Member) -> tuple[str, ...]:
    """Return no names: the framework injects no members of test classes by name."""
    return ()


def request_nothing(member: Member) -> bool:
    """Return False: nothing is injected by name."""
    return False


def expect_no_throws(source: bytes) -> tuple[str, ...]:
    """Return nothing: tests of this language do not declare which throwables may end them."""
    return ()
