"""A language of the tests, small enough to be seen through, that is built and run in the real sandbox.

A file `*.toy` has types, `[shop.Till]`, and lines below them, `name: body`. In the code a body is a value
(`price: 2`), or `!` and what happens to who asks for it (`price: !hang`). In files `test_*.toy` it is steps
with `then` between them, see `programs`; `_before` runs before each test of its type, other names with `_`
are helpers. A folder with a `toy.build` is a module; `build: COMMAND` in it is run when it is built,
`library: VALUE` and `setting: VALUE` are what its tests run with.

Fulfils `coevo.languages.base.Language`, as a language of its own does, and nothing of it is a mock.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.capabilities import Capability, make_refusal
from coevo.languages.engine import RunSettings
from coevo.languages.findings import DoctorFinding
from coevo.languages.kits import Kit
from coevo.languages.measures import Measures
from coevo.languages.prompt_words import PromptWords
from coevo.languages.reading import LanguageReading, RevisionTree
from coevo.languages.refactorings import NoRefactoringFinder
from coevo.languages.surgery import FileSurgery
from coevo.languages.verdicts import Verdict
from coevo.model.environments import Environment
from coevo.model.listener import Say, ignore_message
from coevo.model.records import TestMethod
from coevo.model.task_rows import TaskRow
from coevo.sandboxes.sandbox import Sandbox
from tests.languages.toy import defects, errors, mutation, reading, surgery
from tests.languages.toy.engine import ToyEngine
from tests.languages.toy.trees import BUILD_FILE

NAME = 'toy'
BUILD_FILES = (BUILD_FILE,)
NEEDS = f'a {BUILD_FILE} at its root'
RUNTIME = 'shell'
WORKAROUNDS = frozenset[str]()
READING: LanguageReading = reading
SURGERY: FileSurgery = surgery
OFFERS = frozenset({Capability.BORROW, Capability.CHECK_SOURCES, Capability.TRACE})
MEASURES = Measures(mutation=mutation, defects=defects, errors=errors)
get_mutation_tool = make_refusal(Capability.MUTATE)

__all__ = [
    'MEASURES',
    'WORKAROUNDS',
    'BUILD_FILES',
    'NAME',
    'NEEDS',
    'OFFERS',
    'READING',
    'RUNTIME',
    'SURGERY',
    'Shells',
    'add_commands',
    'can_build_revision',
    'make_engine',
    'inspect_machine',
    'make_kits',
    'get_mutation_tool',
    'explain_outdated',
    'make_prompt_words',
    'make_refactoring_finder',
    'make_runtimes',
    'list_tool_versions',
    'suggest_workaround',
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    version: str = ''
    release: str = ''


class Shells:
    """What a toy is run with: the shell that every machine has."""

    known = (Shell(),)
    installable = ()

    def can_provide(self, version: str) -> bool:
        return True

    def install(self, release: str) -> Shell:
        return Shell()


class Shelves:
    """What an agent needs beside the shell: nothing."""

    def make_kit(self, task: TaskRow, place: Path) -> Kit:
        return Kit(mounts=(), environment={})


def can_build_revision(repository: Repository, rev: str) -> bool:
    return BUILD_FILE in repository.tree(rev)


def make_runtimes(*, brings: bool = False, like: str = '', say: Say = ignore_message) -> Shells:
    return Shells()


def make_refactoring_finder() -> NoRefactoringFinder:
    return NoRefactoringFinder()


def inspect_machine() -> tuple[DoctorFinding, ...]:
    return ()


def suggest_workaround(verdict: Verdict) -> None:
    """None is known."""


def list_tool_versions() -> tuple[str, ...]:
    return ()


def explain_outdated(repository: Repository, rev: str, level: int | None) -> None:
    return None


def add_commands(
    environment: Environment,
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    tree: RevisionTree,
) -> Environment:
    """What mining wrote: nobody but coevo runs toys."""
    return environment


def make_prompt_words(
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    environment: Environment | None = None,
) -> PromptWords:
    return PromptWords(
        framework='toy',
        new_test='',
        new_file='the header of its type',
        running=(f'Run the steps of {", ".join(one.test_method for one in methods)} by hand.',),
        side_effects='what they write',
    )


def make_kits(sandbox: Sandbox, folder: Path, say: Say) -> Shelves:
    return Shelves()


def make_engine(run: RunSettings, stack: ExitStack) -> ToyEngine:
    return ToyEngine(run, stack)
