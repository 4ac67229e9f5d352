"""What a build tool must offer to be mined: one Protocol, which a plain module fulfils."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from coevo.git.repository import Repository
from coevo.languages.capabilities import Capability
from coevo.languages.findings import DoctorFinding
from coevo.languages.kits import Kits
from coevo.languages.measures import Measures
from coevo.languages.mutation_tools import ByteCodeMutants
from coevo.languages.mutation_tools import MutationTool
from coevo.languages.prompt_words import PromptWords
from coevo.languages.reading import Reading
from coevo.languages.refactorings import RefactoringFinder
from coevo.languages.runtimes import Runtimes
from coevo.languages.surgery import Surgery
from coevo.languages.traces import Traced
from coevo.model.listener import Say
from coevo.model.listener import silent
from coevo.model.records import Environment
from coevo.model.records import Outcome
from coevo.model.records import Pair
from coevo.model.records import TestMethod
from coevo.sandboxes.sandbox import Sandbox

# How a process ends that somebody killed, as a shell tells it and as Python does; under a limit of
# ours it is a time-out or `memory`.
KILLED = ('exit:137', 'exit:-9')

# The signature of a test whose process refuses the options that the project has for it.
OPTIONS_REFUSED = 'jvm_options'


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A revision built once, tests left uncompiled. `failure` says why the whole is unusable.

    modules  module -> None where it is built, else why not
    level    the highest language level that a built module declares; None where none declares one,
             or only such as had to be raised
    """

    rev: str
    failure: str | None
    modules: Mapping[str, str | None]
    level: int | None = None
    overrides: tuple[str, ...] = ()
    builder: str = ''
    runtime: str = ''
    # of that, `NAME VERSION CHECKSUM`, if coevo brought it
    runtime_packages: tuple[str, ...] = ()
    runtimes_tried: tuple[str, ...] = ()  # in this order, the one that counts among them
    runtime_lacking: str | None = None  # a release that cannot be had, where an end is not built
    cpu_seconds: float = 0.0

    @property
    def summary(self) -> str:
        """`built`, or the first reason why something is not."""
        reasons = [self.failure, *(self.modules[name] for name in sorted(self.modules))]
        return next((reason for reason in reasons if reason), 'built')

    def trouble(self, module: str) -> str | None:
        """Why tests of a module cannot run on this code; None if they can."""
        return self.failure or self.modules.get(module)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one run, or the compiler, says of one test method."""

    outcome: Outcome
    signature: str | None = None
    exceptions: tuple[str, ...] = ()  # class names, outermost first, then `message`
    message: str = ''
    cpu_seconds: float = 0.0
    environment: str | None = None  # what the machine withheld, where that is why it failed
    syntax: bool = False  # whether the compiler could not even parse it
    tampered: str | None = None  # why a pass is not to be believed, where it was observed


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One process: a verdict for each method, None for one that lost it to a neighbour.

    output  what it wrote to both of its streams, in order; the end of it
    """

    verdicts: tuple[Verdict | None, ...]
    cpu_seconds: float
    output: str = ''


class Scope(StrEnum):
    """What of a module's settings can be borrowed from another revision of it."""

    TEST_LIBRARIES = 'test_libraries'
    ALL_SETTINGS = 'all_settings'  # all libraries, and how tests are compiled and run


@dataclass(frozen=True, slots=True, kw_only=True)
class BorrowedSettings:
    """Settings that a cell takes from another revision than that of its code."""

    rev: str
    scope: Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """Files that are other than their revision's, by repository path, sorted; None is absent."""

    tests: tuple[tuple[str, bytes | None], ...] = ()  # of the tests' tree
    code: tuple[tuple[str, bytes | None], ...] = ()  # main sources of the code's tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """The test tree of one revision compiled against the code of another, for one module.

    code_failure  signature of the first error in edited main sources; nothing can be run then
    broken        classes and methods that do not compile, sorted; `*` for all of them
    torn          where a test file is a unit, those that one error breaks, sorted; None where the
                  module is one
    """

    tests_rev: str
    code_rev: str
    module: str
    unit_ok: bool  # the verdict of the project's own tool: one error breaks the unit
    cpu_seconds: float = 0.0
    borrowed: BorrowedSettings | None = None
    edits: Edits | None = None
    code_failure: str | None = None
    broken: tuple[str, ...] = ()
    torn: tuple[str, ...] | None = None

    def is_whole(self, method: TestMethod) -> bool:
        """Whether no error breaks the unit that a method is in."""
        if self.torn is None or self.code_failure is not None:
            return self.unit_ok
        return method.test_file not in self.torn


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What the compiler says of a variant of a main source.

    signature  of its first error, None where it compiles
    digest     of its byte code without debug information, where it compiles: equal digests of two
               variants of a file are equal programs
    outside    of what other sources see of it; where two are equal, others compile with both or
               with neither
    """

    signature: str | None
    digest: str | None
    outside: str | None = None
    cpu_seconds: float = 0.0  # its share of what all variants took


@dataclass(frozen=True, slots=True, kw_only=True)
class MainSources:
    """The main sources in a test process's tree, whatever its code is: those of a revision that was
    built, as they stand there; None: there are none."""

    rev: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What a test process is given beside what its project asks for.

    override           a workaround of `coevo.languages`, the same in all cells of a pair
    clock              the date at which its clock starts; None is the machine's own. Where it
                       cannot be set, every verdict is `infra`
    cpu_limit          CPU seconds for each method; None is ten times its slowest passing run, 60 at
                       least
    process_cpu_limit  CPU seconds for the whole process; None is what its methods may use together
    observed           whether passes are watched from outside of the process, see `Verdict.tampered`
    expects            where they are: class names of throwables that tests say they may be left by
    sources            None: its code's own, with all edits
    """

    override: str | None = None
    clock: datetime | None = None
    cpu_limit: float | None = None
    process_cpu_limit: float | None = None
    observed: bool = False
    expects: tuple[str, ...] = ()
    sources: MainSources | None = None


PLAIN = Conditions()


class BuiltPair(Protocol):
    """Both ends of a pair, built in the same way, and what is run of them in a sandbox.

    It belongs to the thread that had it built, and answers whatever else that builds afterwards, until
    a revision is forgotten or the builder is closed.
    """

    @property
    def pair(self) -> Pair: ...

    @property
    def old(self) -> Build: ...

    @property
    def new(self) -> Build: ...

    # where no test says anything by what was chosen: both ends by another runtime; None where there is
    # no other. Whether tests pass must have no say in it
    def otherwise(self) -> BuiltPair | None: ...

    # compiles a module's tests against code; all revisions named are ends of the pair
    def compile(
        self,
        tests_rev: str,
        code_rev: str,
        module: str,
        borrowed: BorrowedSettings | None = None,
        edits: Edits | None = None,
    ) -> Compiled: ...

    # compiles variants of one of a module's main sources, each for itself; none is laid anywhere
    def check_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[Checked, ...]: ...

    # whether borrowed settings would change anything for a module of a revision
    def differs(self, code_rev: str, module: str, borrowed: BorrowedSettings) -> bool: ...

    # the compiler's verdict on a test method, None where it compiles
    def compile_verdict(self, compiled: Compiled, method: TestMethod) -> Verdict | None: ...

    # compiled test classes that stand in the way of the code's own classes of the same names
    def shadowing(self, compiled: Compiled) -> frozenset[str]: ...

    # all that runs in a compiled cell may depend on, as a digest; None where that cannot be told
    def content(self, compiled: Compiled) -> str | None: ...

    # runs test methods one after the other in one fresh process; none where nothing is selected
    def run(
        self, compiled: Compiled, methods: Sequence[TestMethod], conditions: Conditions = PLAIN
    ) -> Batch: ...

    # what each test method executes, with the lines of some source files of the code; where
    # `shared`, methods may have a process in common as long as traces are the same; where lines are
    # watched, by the binary name of the top-level type in which they are, an observer outside of
    # the process says which were reached, and whether the method passes at all
    def trace(
        self,
        compiled: Compiled,
        methods: Sequence[TestMethod],
        files: Collection[str],
        conditions: Conditions = PLAIN,
        *,
        shared: bool = False,
        watched: Mapping[str, Collection[int]] | None = None,
    ) -> Traced: ...

    # what PIT says of mutants of some lines of the code, by the binary name of the top-level type
    # in which they are, under one test method alone; the process under test could say it itself,
    # so that nothing may be decided by it
    def mutate(
        self,
        compiled: Compiled,
        method: TestMethod,
        lines: Mapping[str, Collection[int]],
        conditions: Conditions = PLAIN,
    ) -> ByteCodeMutants: ...

    # what it takes to build and run a module at a revision
    def environment(self, rev: str, module: str) -> Environment | None: ...


class Builder(Protocol):
    """What builds pairs, for one thread."""

    # builds both ends in the same way, or answers from what was built before
    def build(self, pair: Pair) -> BuiltPair: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """What all builders of a run have in common.

    runtimes     those that may be used, as the language gave them; None for all of the machine
    end_helpers  ends processes outside of sandboxes that threads may be waiting for
    """

    repository: Repository
    sandbox: str
    say: Say = silent
    runtimes: Runtimes | None = None
    end_helpers: Callable[[], None] = lambda: None


class Engine(Protocol):
    """What a run builds with, for one repository; several threads share it."""

    def builder(self) -> Builder:
        """One for one thread, to be closed."""

    def forget(self, rev: str) -> None:
        """Remove what was built of a revision."""

    def halt(self) -> None:
        """End what threads may be waiting for."""


class Language(Protocol):
    """A module under `coevo.languages`, in the table of `coevo.languages.table`."""

    # the value of the `language` columns
    @property
    def NAME(self) -> str: ...

    # raised only when verdicts may change: it is part of the key of every segment
    @property
    def ENGINE_VERSION(self) -> int: ...

    # what a revision has to have, for who is told that it has not
    @property
    def NEEDS(self) -> str: ...

    # what it calls what its code is run with, for who is told of one
    @property
    def RUNTIME(self) -> str: ...

    # the overrides that are workarounds, as `workaround` names them; others are what a build did
    @property
    def WORKAROUNDS(self) -> AbstractSet[str]: ...

    # the one that may help a verdict of this kind, None where none is known
    def workaround(self, verdict: Verdict) -> str | None: ...

    # what it knows of files as text
    @property
    def READING(self) -> Reading: ...

    # how it takes tests out of files and puts them in
    @property
    def SURGERY(self) -> Surgery: ...

    # what its pairs can do beside what every one must; the members of `BuiltPair` that belong to one
    # that is not among them are `not_offered`
    @property
    def OFFERS(self) -> frozenset[Capability]: ...

    # what it measures of tests beside their runs
    @property
    def MEASURES(self) -> Measures: ...

    # whether a revision is built by this module's tool
    def detect(self, repository: Repository, rev: str) -> bool: ...

    # the machine's, those that can be brought with them, or those like the one that a row names
    def runtimes(self, *, brings: bool = False, like: str = '', say: Say = silent) -> Runtimes: ...

    # finds the refactorings of pairs; `NoRefactoringFinder` where nobody does, closed by who asks
    def refactoring_finder(self) -> RefactoringFinder: ...

    # what makes the mutants of `BuiltPair.mutate`; `not_offered` where it is
    def mutation_tool(self) -> MutationTool: ...

    # what this machine has of what the language needs, in a fixed order
    def findings(self) -> Iterable[DoctorFinding]: ...

    # `name version` of every tool on which what is measured of a pair depends, sorted
    def tool_versions(self) -> tuple[str, ...]: ...

    # why a revision is too old to be mined, such as `Java 5`; None where it is not, or cannot be
    # told. level: that of its build, None where none is known: it failed, or had to be raised
    def outdated(self, repository: Repository, rev: str, level: int | None) -> str | None: ...

    # what agents are given to work with; their tools lie in the folder, an empty one that the
    # sandbox's user can enter
    def kits(self, sandbox: Sandbox, folder: Path, say: Say) -> Kits: ...

    # what they are told of it: tests of a module, by the names under which they are to be run
    def prompt_words(self, module: str, methods: Sequence[TestMethod]) -> PromptWords: ...

    # what it holds is closed with the stack
    def engine(self, run: RunSettings, stack: ExitStack) -> Engine: ...
