"""What a language must offer to be mined: one Protocol, which a plain module fulfils."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set as AbstractSet
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from coevo.git.repository import Repository
from coevo.languages.capabilities import Capability, make_refusal
from coevo.languages.engine import Engine, RunSettings
from coevo.languages.findings import DoctorFinding
from coevo.languages.kits import Kits
from coevo.languages.measures import Measures
from coevo.languages.mutation_tools import MutationTool
from coevo.languages.prompt_words import PromptWords
from coevo.languages.reading import LanguageReading, RevisionTree
from coevo.languages.refactorings import RefactoringFinder
from coevo.languages.runtimes import Runtimes
from coevo.languages.surgery import FileSurgery
from coevo.languages.verdicts import Verdict
from coevo.model.environments import Environment
from coevo.model.listener import Say, ignore_message
from coevo.model.records import TestMethod
from coevo.sandboxes.sandbox import Sandbox


class Language(Protocol):
    """A module under `coevo.languages`, in the table of `coevo.languages.table`.

    What it has nothing of its own to say to, it answers by assignment from the end of this module:
    `suggest_workaround = base.suggest_no_workaround`.
    """

    # the module's own name
    @property
    def __name__(self) -> str: ...

    # the value of the `language` columns
    @property
    def NAME(self) -> str: ...

    # names of files, one of which lies at the root of what its tool builds; the likeliest first
    @property
    def BUILD_FILES(self) -> tuple[str, ...]: ...

    # what a revision has to have, for who is told that it has not
    @property
    def NEEDS(self) -> str: ...

    # what it calls what its code is run with, for who is told of one
    @property
    def RUNTIME(self) -> str: ...

    # the overrides that are workarounds, as `suggest_workaround` names them; others are what a build did
    @property
    def WORKAROUNDS(self) -> AbstractSet[str]: ...

    # the one that may help a verdict of this kind, None where none is known
    def suggest_workaround(self, verdict: Verdict) -> str | None: ...

    # what it knows of files as text
    @property
    def READING(self) -> LanguageReading: ...

    # how it takes tests out of files and puts them in
    @property
    def SURGERY(self) -> FileSurgery: ...

    # what its pairs can do beside what every one must; the members of `BuiltPair` that belong to one
    # that is not among them are `not_offered`
    @property
    def OFFERS(self) -> frozenset[Capability]: ...

    # what it measures of tests beside their runs
    @property
    def MEASURES(self) -> Measures: ...

    # whether a revision is built by this module's tool
    def can_build_revision(self, repository: Repository, rev: str) -> bool: ...

    # the machine's, those that can be brought with them, or those like the one that a row names
    def make_runtimes(
        self, *, brings: bool = False, like: str = '', say: Say = ignore_message
    ) -> Runtimes: ...

    # finds the refactorings of pairs; `NoRefactoringFinder` where nobody does, closed by who asks
    def make_refactoring_finder(self) -> RefactoringFinder: ...

    # what makes the mutants of `BuiltPair.mutate`; `not_offered` where it is
    def get_mutation_tool(self) -> MutationTool: ...

    # what this machine has of what the language needs, in a fixed order
    def inspect_machine(self) -> Iterable[DoctorFinding]: ...

    # `name version` of every tool on which what is measured of a pair depends, sorted
    def list_tool_versions(self) -> tuple[str, ...]: ...

    # why a revision is too old to be mined, such as `Java 5`; None where it is not, or cannot be
    # told. level: that of its build, None where none is known: it failed, or had to be raised
    def explain_outdated(
        self, repository: Repository, rev: str, level: int | None
    ) -> str | None: ...

    # what agents are given to work with; their tools lie in the folder, an empty one that the
    # sandbox's user can enter
    def make_kits(self, sandbox: Sandbox, folder: Path, say: Say) -> Kits: ...

    # what they are told of it: tests of a module, by the names under which they are to be run; the
    # environment that `add_commands` gives, where it is known
    def make_prompt_words(
        self,
        module: str,
        test_file: str,
        methods: Sequence[TestMethod],
        environment: Environment | None = None,
    ) -> PromptWords: ...

    # the environment of a module with the two commands by which anybody builds a start state and runs
    # its tests, without coevo; lines for sh at its root. Without methods: all tests of the file. The
    # tree is that of the new revision
    def add_commands(
        self,
        environment: Environment,
        module: str,
        test_file: str,
        methods: Sequence[TestMethod],
        tree: RevisionTree,
    ) -> Environment: ...

    # what it holds is closed with the stack
    def make_engine(self, run: RunSettings, stack: ExitStack) -> Engine: ...


# What a language answers by assignment that has nothing of its own to say.

NO_WORKAROUNDS = frozenset[str]()

refuse_mutation_tool = make_refusal(Capability.MUTATE)


def suggest_no_workaround(verdict: Verdict) -> None:
    """None is known."""


def accept_any_age(repository: Repository, rev: str, level: int | None) -> None:
    """None is outdated: its tools build all that was ever written."""


def need_nothing_of_the_machine() -> Iterable[DoctorFinding]:
    """Nothing is looked for."""
    return ()


def list_no_tools() -> tuple[str, ...]:
    """What measures is of the runtime, which a build names itself."""
    return ()


def keep_environment(
    environment: Environment,
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    tree: RevisionTree,
) -> Environment:
    """No command is known by which others run its tests."""
    return environment


def has_file_at_root(names: Iterable[str], repository: Repository, rev: str) -> bool:
    """Whether one of some files lies at the root of a revision."""
    tree = repository.tree(rev)
    return any(name in tree for name in names)
