"""Protocols for building and testing pairs: engine (per run), builder (per thread), pair."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from coevo.git.repository import Repository
from coevo.languages.capabilities import Capability, make_refusal
from coevo.languages.cells import BorrowedSettings, Build, CellEdits, CheckedSource, CompiledTests
from coevo.languages.mutation import ByteCodeMutants
from coevo.languages.runtimes import Runtimes
from coevo.languages.verdicts import (
    PLAIN,
    ProjectRun,
    RunConditions,
    TraceBatch,
    Verdict,
    VerdictBatch,
)
from coevo.model.listener import Say, ignore_message
from coevo.model.pair_rows import Environment
from coevo.model.records import Pair, TestMethod


class BuiltPair(Protocol):
    """Both ends of a pair, built in the same way, whose tests run in a sandbox.

    It belongs to the thread that built it. It stays usable while that thread builds other pairs,
    until a revision is forgotten or the builder is closed.
    """

    @property
    def pair(self) -> Pair:
        """The pair that was built."""

    @property
    def old(self) -> Build:
        """The build of the old revision."""

    @property
    def new(self) -> Build:
        """The build of the new revision."""

    def build_with_other_runtime(self) -> BuiltPair | None:
        """Build both ends with another runtime and return them; None if there is no other.

        Meant for pairs in which no test gave a result with the chosen runtime. Whether tests pass
        must not influence the choice.
        """

    def compile(
        self,
        tests_rev: str,
        code_rev: str,
        module: str,
        borrowed: BorrowedSettings | None = None,
        edits: CellEdits | None = None,
        methods: Sequence[TestMethod] | None = None,
    ) -> CompiledTests:
        """Compile the tests of a module against code. All revisions must be ends of the pair.

        For an edited cell, compile errors may come to light only when the tests run.

        borrowed  settings to take from another revision; None for those of the code
        edits     files to change first; None for none
        methods   the tests of interest, in the order in which they will run; None for the whole
                  module. If each test file is a unit of its own, other files may be skipped
        """

    def check_main_sources(
        self, code_rev: str, module: str, path: str, variants: Sequence[bytes]
    ) -> tuple[CheckedSource, ...]:
        """Compile variants of a main source, each separately, and return a result for each.

        The results are in the order of the variants. No variant is installed: later cells do not
        see it.

        path      the repository path of the main source
        variants  whole contents of the file
        """

    def do_settings_differ(self, code_rev: str, module: str, borrowed: BorrowedSettings) -> bool:
        """Return whether borrowed settings would change anything for a module of a revision."""

    def find_compile_verdict(self, compiled: CompiledTests, method: TestMethod) -> Verdict | None:
        """Return the verdict of the compiler on a test method; None if it compiles."""

    def find_shadowing_classes(self, compiled: CompiledTests) -> frozenset[str]:
        """Return the compiled test classes that hide a class of the code with the same name."""

    def digest_run_inputs(self, compiled: CompiledTests) -> str | None:
        """Return a digest of all on which a run of compiled tests may depend; None if unknown."""

    def run(
        self,
        compiled: CompiledTests,
        methods: Sequence[TestMethod],
        conditions: RunConditions = PLAIN,
    ) -> VerdictBatch:
        """Run test methods one after the other in one fresh process; without methods nothing runs.

        The verdicts are in the order of the methods.
        """

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
    ) -> TraceBatch:
        """Return what each test method executes, with the lines of some source files of the code.

        files     the source files whose lines are of interest
        shared    whether methods may share a process, provided that the traces stay the same
        watched   lines to watch, by the names that `LanguageReading.list_watch_names` gives their
                  files. An observer outside the process reports which of them were executed, and
                  whether the method passes at all
        together  whether to report also what all methods execute together, each branch once
        """

    def mutate(
        self,
        compiled: CompiledTests,
        method: TestMethod,
        lines: Mapping[str, Collection[int]],
        conditions: RunConditions = PLAIN,
    ) -> ByteCodeMutants:
        """Make mutants of some lines of the code with PIT and run each under one test method alone.

        The process under test could forge the results, so nothing may be decided by them.

        lines  the lines to mutate, by the binary name of the top-level type that contains them
        """

    def run_project(
        self,
        rev: str,
        module: str,
        reported_methods: Sequence[TestMethod],
        awaited: Sequence[TestMethod] = (),
    ) -> ProjectRun:
        """Run the tests of a module of one end of the pair once, by the project's own command.

        The command is the one that its developers type (`python -m pytest`, `go test`, `mvn test`),
        with their settings, their selection and their order. The command does not know which tests
        are of interest. Its results come over a channel, never from its output.

        reported_methods  all test methods of the module at this revision, by which results are
                          named
        awaited           the methods of interest; the run may end when it has reported all of them
                          (without them: when all tests have run)
        """

    def describe_environment(self, rev: str, module: str) -> Environment | None:
        """Return what is needed to build and run a module at a revision; None if unknown."""


class Builder(Protocol):
    """Builds pairs for one thread."""

    def build(self, pair: Pair) -> BuiltPair:
        """Build both ends of a pair in the same way; ends that are already built are reused."""

    def close(self) -> None:
        """Release what the builder holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Settings that all builders of a run share.

    runtimes     those that may be used, as the language returned them; None for all of the machine
    end_helpers  ends processes outside sandboxes that threads may be waiting for
    own_edits    whether coevo makes all edits itself, from text of the repository's developers. It
                 is False for submitted patches, which could detect from neighbouring tests which
                 run they are in
    """

    repository: Repository
    sandbox: str
    say: Say = ignore_message
    runtimes: Runtimes | None = None
    end_helpers: Callable[[], None] = lambda: None
    own_edits: bool = False


class Engine(Protocol):
    """Builds pairs of one repository during a run; threads share it."""

    def make_builder(self) -> Builder:
        """Return a builder for one thread; the caller closes it."""

    def remove_builds_of_revision(self, rev: str, /) -> None:
        """Remove all builds of a revision, since no later pair needs them."""

    def stop_running_processes(self) -> None:
        """Stop the processes for which threads of the run may wait, so that the run can end."""


# Defaults that pairs assign to members for which they have no behaviour of their own.

refuse_mutation = staticmethod(make_refusal(Capability.MUTATE))
refuse_project_run = staticmethod(make_refusal(Capability.UMPIRE))


def find_no_other_runtime(_pair: BuiltPair) -> None:
    """Return None: there is only one way to build a pair."""


def find_no_shadowing(_pair: BuiltPair, compiled: CompiledTests) -> frozenset[str]:
    """Return no classes: tests cannot shadow the code in this language.

    If tests and code declare the same name, both are usable or the tests do not compile.
    """
    return frozenset()
