"""What builds pairs and runs their tests: the engine of a run, a builder for each thread, a pair."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from coevo.git.repository import Repository
from coevo.languages.builds import Build
from coevo.languages.capabilities import Capability, make_refusal
from coevo.languages.cells import BorrowedSettings, CellEdits, CheckedSource, CompiledTests
from coevo.languages.conditions import PLAIN, RunConditions
from coevo.languages.mutation_tools import ByteCodeMutants
from coevo.languages.runtimes import Runtimes
from coevo.languages.traces import TraceBatch
from coevo.languages.verdicts import Verdict, VerdictBatch
from coevo.model.environments import Environment
from coevo.model.listener import Say, ignore_message
from coevo.model.records import Pair, TestMethod


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
    def build_with_other_runtime(self) -> BuiltPair | None: ...

    # compiles a module's tests against code; all revisions named are ends of the pair. `methods` are those for
    # which that is asked, in the order in which they will be run: where a test file is a unit, other files
    # need not be looked at; None: the whole module. Of an edited cell it may be left to the run to say what
    # does not compile
    def compile(
        self,
        tests_rev: str,
        code_rev: str,
        module: str,
        borrowed: BorrowedSettings | None = None,
        edits: CellEdits | None = None,
        methods: Sequence[TestMethod] | None = None,
    ) -> CompiledTests: ...

    # compiles variants of one of a module's main sources, each for itself; none is laid anywhere
    def check_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[CheckedSource, ...]: ...

    # whether borrowed settings would change anything for a module of a revision
    def do_settings_differ(
        self, code_rev: str, module: str, borrowed: BorrowedSettings
    ) -> bool: ...

    # the compiler's verdict on a test method, None where it compiles
    def find_compile_verdict(
        self, compiled: CompiledTests, method: TestMethod
    ) -> Verdict | None: ...

    # compiled test classes that stand in the way of the code's own classes of the same names
    def find_shadowing_classes(self, compiled: CompiledTests) -> frozenset[str]: ...

    # all that runs in a compiled cell may depend on, as a digest; None where that cannot be told
    def digest_content(self, compiled: CompiledTests) -> str | None: ...

    # runs test methods one after the other in one fresh process; none where nothing is selected
    def run(
        self,
        compiled: CompiledTests,
        methods: Sequence[TestMethod],
        conditions: RunConditions = PLAIN,
    ) -> VerdictBatch: ...

    # what each test method executes, with the lines of some source files of the code; where
    # `shared`, methods may have a process in common as long as traces are the same; where lines are
    # watched, by what `Reading.watched_as` calls their files, an observer outside of the process says
    # which were reached, and whether the method passes at all; where `together`, what all of them
    # execute is told, too, each branch once
    def trace(
        self,
        compiled: CompiledTests,
        methods: Sequence[TestMethod],
        files: Collection[str],
        conditions: RunConditions = PLAIN,
        *,
        shared: bool = False,
        watched: Mapping[str, Collection[int]] | None = None,
        together: bool = False,
    ) -> TraceBatch: ...

    # what PIT says of mutants of some lines of the code, by the binary name of the top-level type
    # in which they are, under one test method alone; the process under test could say it itself,
    # so that nothing may be decided by it
    def mutate(
        self,
        compiled: CompiledTests,
        method: TestMethod,
        lines: Mapping[str, Collection[int]],
        conditions: RunConditions = PLAIN,
    ) -> ByteCodeMutants: ...

    # what it takes to build and run a module at a revision
    def describe_environment(self, rev: str, module: str) -> Environment | None: ...


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
    own_edits    whether all edits are coevo's own, of what the repository's developers wrote: no patch that
                 somebody handed in, which could tell by its neighbours in which run it is
    """

    repository: Repository
    sandbox: str
    say: Say = ignore_message
    runtimes: Runtimes | None = None
    end_helpers: Callable[[], None] = lambda: None
    own_edits: bool = False


class Engine(Protocol):
    """What a run builds with, for one repository; several threads share it."""

    def make_builder(self) -> Builder:
        """One for one thread, to be closed."""

    def forget_revision(self, rev: str, /) -> None:
        """Remove what was built of a revision."""

    def halt(self) -> None:
        """End what threads may be waiting for."""


# What a pair answers by assignment that has nothing of its own to say.

refuse_mutation = staticmethod(make_refusal(Capability.MUTATE))


def find_no_other_runtime(_pair: BuiltPair) -> None:
    """There is one way to build a pair."""


def find_no_shadowing(_pair: BuiltPair, compiled: CompiledTests) -> frozenset[str]:
    """Names that tests and code declare alike are in nobody's way, or do not compile."""
    return frozenset()
