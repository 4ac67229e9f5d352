"""The Protocol that a language must fulfil to be mined. A plain module can fulfil it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set as AbstractSet
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from coevo.git.repository import Repository
from coevo.languages.capabilities import Capability, make_refusal
from coevo.languages.engine import Engine, RunSettings
from coevo.languages.kits import Kits, PromptWords
from coevo.languages.measures import Measures
from coevo.languages.mutation import MutationTool
from coevo.languages.reading import LanguageReading, RevisionTree
from coevo.languages.refactorings import RefactoringFinder
from coevo.languages.runtimes import DoctorFinding, Runtimes
from coevo.languages.surgery import FileSurgery
from coevo.languages.verdicts import Verdict
from coevo.model.listener import Say, ignore_message
from coevo.model.pair_rows import Environment
from coevo.model.records import TestMethod
from coevo.sandboxes.sandbox import Sandbox


class Language(Protocol):
    """A module under `coevo.languages` that is listed in the table of `coevo.languages.table`.

    For members without behaviour of its own, a language assigns a default from the end of this
    module, for example `suggest_workaround = base.suggest_no_workaround`.
    """

    @property
    def __name__(self) -> str:
        """The module's own name."""

    @property
    def NAME(self) -> str:
        """The value of the `language` columns."""

    @property
    def BUILD_FILES(self) -> tuple[str, ...]:
        """File names, one of which lies at the root of each project that the build tool can build.

        The most likely name comes first.
        """

    @property
    def REVISION_NEEDS(self) -> str:
        """The requirements on a revision, as shown to users when it does not qualify."""

    @property
    def RUNTIME(self) -> str:
        """The display name of the runtime, for example `JDK`."""

    @property
    def WORKAROUNDS(self) -> AbstractSet[str]:
        """The names that `suggest_workaround` may return.

        The `overrides` of builds and rows contain such names, too. All other overrides describe
        what a build did.
        """

    def suggest_workaround(self, verdict: Verdict) -> str | None:
        """Return the name of a workaround against a verdict; None if none is known."""

    @property
    def READING(self) -> LanguageReading:
        """The functions that read source files and revisions as text, without running anything."""

    @property
    def SURGERY(self) -> FileSurgery:
        """The functions that remove tests from the text of a file or insert them."""

    @property
    def OFFERS(self) -> frozenset[Capability]:
        """The optional capabilities of this language's pairs.

        Members of `BuiltPair` that belong to any other capability raise an error (`not_offered`).
        """

    @property
    def MEASURES(self) -> Measures:
        """The optional measures of tests beyond running them, such as assertions or smells."""

    def looks_buildable(self, repository: Repository, rev: str) -> bool:
        """Return whether the files of a revision show that this module's build tool builds it.

        Nothing is built.
        """

    def make_runtimes(
        self, *, brings: bool = False, like: str = '', say: Say = ignore_message
    ) -> Runtimes:
        """Return the runtimes that builds may use.

        brings  whether runtimes that coevo can install count beside those of the machine
        like    the runtime that a stored row names; if given, runtimes like that one
        """

    def make_refactoring_finder(self) -> RefactoringFinder:
        """Return a finder of the refactorings between two revisions; the caller closes it.

        A language without such a tool returns `NoRefactoringFinder`.
        """

    def get_mutation_tool(self) -> MutationTool:
        """Return the tool that makes the mutants of `BuiltPair.mutate`.

        Raises:
            NotOfferedError: the language does not offer `mutate`.
        """

    def inspect_machine(self) -> Iterable[DoctorFinding]:
        """Return a finding for each requirement of the language: whether the machine meets it.

        The order is fixed.
        """

    def list_tool_versions(self) -> tuple[str, ...]:
        """Return `name version` of each tool that affects measurements of a pair, sorted."""

    def explain_outdated(self, repository: Repository, rev: str, level: int | None) -> str | None:
        """Return why a revision is too old to be mined, such as `Java 5`; None if it is not.

        Returns None, too, if its age is unknown.

        level  the language level of its build; None if unknown, because the build failed or the
               level had to be raised
        """

    def make_agent_kits(self, sandbox: Sandbox, folder: Path, say: Say) -> Kits:
        """Return the maker of the tools with which agents compile and run tests in their sandboxes.

        folder  holds the tools; empty at first, and the user of the sandbox can enter it
        """

    def make_prompt_words(
        self,
        module: str,
        test_file: str,
        methods: Sequence[TestMethod],
        environment: Environment | None = None,
    ) -> PromptWords:
        """Return the language's parts of a prompt: framework, how to run the tests, and the like.

        module       the module of the tests
        methods      the tests, named as they are to be run
        environment  as `add_commands` returns it; None if unknown
        """

    def add_commands(
        self,
        environment: Environment,
        module: str,
        test_file: str,
        methods: Sequence[TestMethod],
        tree: RevisionTree,
    ) -> Environment:
        """Return the environment of a module with commands to build and test a start state.

        The two commands are lines for `sh` at the root of the start state, and work without coevo.
        A language without such commands returns the environment unchanged.

        methods  the tests to run; if empty, all tests of the file
        tree     the new revision
        """

    def make_engine(self, run: RunSettings, stack: ExitStack) -> Engine:
        """Return the engine that builds and tests pairs in a run. Closing the stack releases it."""


# Defaults that languages assign to members for which they have no behaviour of their own.

NO_WORKAROUNDS = frozenset[str]()

refuse_mutation_tool = make_refusal(Capability.MUTATE)


def suggest_no_workaround(verdict: Verdict) -> None:
    """Return None: no workaround is known."""


def accept_any_age(repository: Repository, rev: str, level: int | None) -> None:
    """Return None: no revision is outdated, since today's tools build code of any age."""


def need_nothing_of_the_machine() -> Iterable[DoctorFinding]:
    """Return no findings: the language needs nothing on the machine."""
    return ()


def list_no_tools() -> tuple[str, ...]:
    """Return no tools: measurements depend on the runtime alone, which each build names itself."""
    return ()


def keep_environment(
    environment: Environment,
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    tree: RevisionTree,
) -> Environment:
    """Return the environment unchanged: no commands are known that run its tests without coevo."""
    return environment


def has_file_at_root(names: Iterable[str], repository: Repository, rev: str) -> bool:
    """Return whether a file of one of these names lies at the root of a revision."""
    tree = repository.tree(rev)
    return any(name in tree for name in names)
