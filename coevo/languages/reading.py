"""Reads source files as text: which are tests, what they declare and which names they use.

A language's `reading` is a package or module that fulfils `LanguageReading`. It looks at one file
or at the files of one revision, and never runs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Protocol

from coevo.git.repository import Repository, TreeEntry
from coevo.languages.declarations import DeclaredType, LocatedType, Member, SourceFile
from coevo.languages.prints import LexicalRules
from coevo.languages.verdicts import ExecutedMethod
from coevo.model.records import FileOrigin, TestMethod

# Classifies a path: whether it belongs to the code or the tests, and whether it is a resource.


class Side(StrEnum):
    """The part of a project to which a file belongs: its code or its tests."""

    SOURCE = 'source'
    TEST = 'test'


class ProductionKind(StrEnum):
    """The kind of a file that a project ships, or makes its product from."""

    CODE = 'code'  # a source file of the pair's language
    KOTLIN = 'kotlin'
    GROOVY = 'groovy'
    SCALA = 'scala'
    RESOURCE = 'resource'  # a file that is shipped as it is, or with values filled in
    TEMPLATE = 'template'  # a grammar, schema or template of which the build makes code or text
    OTHER = 'other'  # assembly; or beside the code, and a test's verdict shows that it matters


@dataclass(frozen=True, slots=True, kw_only=True)
class PathClassification:
    """The facts that a path alone reveals about a file.

    side         whether the file belongs to the code or to the tests
    is_resource  whether it is data that programs load, instead of a source
    relative     the name by which programs load it: its path below its source or resource folder
    """

    side: Side
    is_resource: bool
    relative: str


# Reads source files as text: which are tests, what they declare and which names they use.


def accept_any_file(source: bytes, project_files: Sequence[bytes]) -> str | None:
    """Return None: every file is accepted, since its behaviour is observed instead."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredLicence:
    """A licence given by a name, an address or both; the one that is not given is ''."""

    name: str
    address: str = ''


def list_no_licences(build_file: bytes) -> tuple[DeclaredLicence, ...]:
    """Return no licences, for a language whose build files are not searched for them."""
    return ()


class DeclarationPart(StrEnum):
    """The kind of name that a word may be, judged by its position.

    A word of the kind REST must not be renamed, for example a keyword or a literal.
    """

    CALL = 'call'  # a method that is declared, invoked or referred to, or a constructor
    TYPE = 'type'
    MEMBER = 'member'  # after a dot: a field, a nested type, a part of a package
    PLAIN = 'plain'  # a variable, field, type or part of a package
    REST = 'rest'


@dataclass(frozen=True, slots=True)
class Word:
    """A token. `line` counts from 0 within the declaration, `column` from 0 in characters."""

    text: str
    part: DeclarationPart
    line: int
    column: int


Resolve = Callable[[str], Iterable[DeclaredType]]
"""Returns the types of the test tree that a simple name may refer to in one file."""


class RevisionTree(Protocol):
    """The files of one revision, with the part of the project to which each belongs.

    All paths are those of the repository. Only files of the tree's language have a side
    (`Side.SOURCE` for code, `Side.TEST` for tests). Files are parsed only on demand.
    """

    @property
    def entries(self) -> Mapping[str, TreeEntry]:
        """All files of the revision, of any kind."""

    @property
    def paths_by_side(self) -> Mapping[Side, tuple[str, ...]]:
        """The paths of the code (`Side.SOURCE`) and of the tests (`Side.TEST`), each sorted."""

    @property
    def test_types(self) -> Mapping[str, tuple[LocatedType, ...]]:
        """All types that test files declare, by simple name."""

    def __hash__(self) -> int:
        """Return a hash, so that trees can be keys of caches."""

    def parse_file(self, path: str) -> SourceFile:
        """Return the declarations of a file."""

    def read_content(self, path: str) -> bytes:
        """Return the content of a file."""

    def find_origin(self, path: str) -> FileOrigin:
        """Return whether a file was written in this project, generated, or copied into it."""

    def find_side(self, path: str) -> Side | None:
        """Return whether a file of this language is code (SOURCE) or belongs to the tests (TEST).

        None for all other files, such as links, resources and build programs.
        """

    def belongs_to_code(self, path: str) -> bool:
        """Return whether a file of any kind belongs to the code, which cannot see the tests.

        Files of other languages and resources count, too, unlike in `find_side`.
        """

    def belongs_to_tests(self, path: str) -> bool:
        """Return whether a file of any kind belongs to the tests.

        A build file may belong neither to the code nor to the tests.
        """

    def find_embedders(self, path: str) -> tuple[str, ...]:
        """Return the source or test files into which a file of another kind is compiled, sorted.

        The hashes of these files, and of their declarations that embed it, cover its content. It
        need not exist at this revision.
        """

    def find_production_kind(self, path: str) -> ProductionKind | None:
        """Return the kind of a file that the project ships or makes its product from.

        None for any other file, such as a test.
        """

    def find_module_folder(self, path: str) -> str:
        """Return the folder of the module that contains a file; '.' is the root.

        In most languages it is the nearest folder above the file with a build file; in Go, the
        folder of the package.
        """

    def list_paths(self, side: Side) -> tuple[str, ...]:
        """Return the paths of all files of the code or of the tests, sorted."""

    def resolve_test_type(self, path: str, simple: str) -> tuple[LocatedType, ...]:
        """Return the types of the test tree that a simple name may refer to in a file.

        Several if the text does not decide between them; () if there are none.

        path  the file in which the name is used
        """

    def find_types_sharing_fixtures(self, path: str) -> tuple[LocatedType, ...]:
        """Return types that a test file cannot see, but whose fixtures run around its tests.

        Other members of these types do not reach the tests. Example: `TestMain` of the other
        package in a folder of Go.
        """

    def is_visible(self, path: str, type_: LocatedType) -> bool:
        """Return whether the code of a file can refer to a type by its name.

        path  the file that would refer to it
        """


class LanguageReading(Protocol):
    """A parser with rules for recognizing tests by the names that test frameworks use."""

    @property
    def __name__(self) -> str:
        """The name of the module."""

    @property
    def SUFFIXES(self) -> tuple[str, ...]:
        """The endings of the names of this language's files."""

    @property
    def LEXIS(self) -> LexicalRules:
        """The syntax of comments and strings, for searches that avoid parsing."""

    @property
    def TESTS_AMONG_SOURCES(self) -> bool:
        """True if the content of a file shows which methods are tests, even among the sources.

        If False, only files at certain paths can have tests.
        """

    @property
    def PARSERS(self) -> tuple[str, ...]:
        """Names of the distributions whose versions decide how a file is parsed."""

    @property
    def COMMON_CALLS(self) -> frozenset[str]:
        """Names of calls that far more often belong to a library than to the project."""

    def classify_path(self, path: str) -> PathClassification | None:
        """Return whether a path is one of code or tests, and whether it is a resource.

        None if the path alone does not decide. Files of any kind count.
        """

    def is_build_file(self, path: str) -> bool:
        """Return whether a path is of a file whose content determines how a revision is built."""

    def parse_licences(self, build_file: bytes) -> tuple[DeclaredLicence, ...]:
        """Return the licences that a build file lists."""

    def parse(self, source: bytes, path: str = '') -> SourceFile:
        """Return the declarations of a file, as far as possible if it has syntax errors.

        If the language names types by the locations of their files, types have no full names
        without a path.
        """

    def parse_uncached(self, source: bytes) -> SourceFile:
        """Return the declarations of a file without caching them, and without names from its path.

        For whole histories, which would evict the cached files that others need.
        """

    def list_watch_names(self, file: SourceFile, path: str) -> tuple[str, ...]:
        """Return the names by which `BuiltPair.trace` takes and reports watched lines of a file."""

    def list_reference_names(self, tree: RevisionTree, path: str) -> frozenset[str]:
        """Return the names by which the text of another file may refer to a file or its content."""

    def open_tree(self, repository: Repository, rev: str) -> RevisionTree:
        """Return the files of a revision; cached, as neighbouring pairs of a walk share an end."""

    def find_tests(
        self, file: SourceFile, resolve: Resolve
    ) -> tuple[tuple[DeclaredType, Member], ...]:
        """Return the test methods of a file in its order, including ignored and disabled ones."""

    def is_run_by_framework(self, member: Member) -> bool:
        """Return whether the framework by itself runs a member of a test class or injects it."""

    def list_provided_fixture_names(self, member: Member) -> tuple[str, ...]:
        """Return the names under which the framework injects a member into tests; () without any.

        A test has such a name as a parameter or in a string, without calling the member.
        """

    def may_request_any_fixture(self, member: Member) -> bool:
        """Return whether a member requests injected members by names that it computes.

        Its text does not show these names, so it may use any of them.
        """

    def list_words(self, source: str) -> tuple[Word, ...]:
        """Return all tokens of a declaration, in order, with positions and what each may name.

        source  the text of the declaration alone
        """

    def list_expected_throws(self, source: bytes) -> tuple[str, ...]:
        """Return the classes of throwables that tests of a file declare as their end, sorted."""

    def explain_refusal(self, source: bytes, project_files: Sequence[bytes]) -> str | None:
        """Return one sentence on why a submitted file is refused; None if it is accepted.

        A file is refused for constructs that none of the project's own files (`own`) contain.
        """

    def guess_class_under_test(self, test: TestMethod) -> str:
        """Return the simple name of the type after which a test is named: `Fare` for `FareTest`.

        The type need not exist.
        """

    def is_part_of(
        self, executed_method: ExecutedMethod, member: Member | None, type_: DeclaredType
    ) -> bool:
        """Return whether an executed method is `member` itself or lies within it, such as a lambda.

        If `member` is None, return whether what a type has beside its members, such as its header,
        counts as executed with the method.
        """


# Defaults that languages assign to members for which they have no behaviour of their own.

NO_COMMON_CALLS = frozenset[str]()


def provide_no_fixture_names(member: Member) -> tuple[str, ...]:
    """Return no names: the framework injects no members of test classes by name."""
    return ()


def request_no_fixtures(member: Member) -> bool:
    """Return False: nothing is injected by name."""
    return False


def expect_no_throws(source: bytes) -> tuple[str, ...]:
    """Return nothing: tests of this language do not declare which throwables may end them."""
    return ()


def name_by_types(file: SourceFile, path: str) -> tuple[str, ...]:
    """Return the binary names of the top-level types of a file; `path` is not used."""
    return tuple(type_.name for type_ in file.types if not type_.enclosing_name)


def name_by_path(file: SourceFile, path: str) -> tuple[str, ...]:
    """Return the repository path of a file as its only name; `file` is not used."""
    return (path,)


def name_by_stem(tree: RevisionTree, path: str) -> frozenset[str]:
    """Return the file name without folder and extension, as the only name.

    For languages in which it names a type or module. The tree is not read.
    """
    return frozenset({PurePosixPath(path).stem})


def name_by_declarations(tree: RevisionTree, path: str) -> frozenset[str]:
    """Return the simple names of a file's types and of their members, with that of its package.

    The package is one of the types. This fits languages in which the files of a package see each
    other's names without imports.
    """
    file = tree.parse_file(path)
    functions = (member.name for type_ in file.types for member in type_.members)
    return frozenset({*functions, *(type_.simple for type_ in file.types)})
