"""What all measures take: a pair in a workshop, tests of one of its ends, and a budget of CPU seconds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coevo.errors import Transient
from coevo.git import Repository
from coevo.languages.base import Build
from coevo.languages.base import Compiled
from coevo.languages.base import Conditions
from coevo.languages.base import Edits
from coevo.languages.base import Verdict
from coevo.languages.base import Workshop
from coevo.quality import End
from coevo.records import Dependency
from coevo.records import Outcome
from coevo.records import Pair
from coevo.records import TestMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldTest:
    """A test method that has a track, as it stands where it is measured, with its dependencies."""

    method_id: str
    method: TestMethod
    dependencies: tuple[Dependency, ...]


@dataclass(slots=True, kw_only=True)
class Bench:
    """Where a pair is measured. A measure starts nothing more once its budget is spent.

    override     the cure under which the pair's cells ran
    end          whose tests are run on whose code
    tests        test files that are other than their revision's, as in `Edits`
    budget       CPU seconds of sandboxed programs
    cpu_seconds  what has been used of it
    """

    workshop: Workshop
    repository: Repository
    pair: Pair
    override: str | None = None
    end: End = End.NEW
    tests: tuple[tuple[str, bytes | None], ...] = ()
    budget: float
    cpu_seconds: float = 0.0

    @property
    def spent(self) -> bool:
        return self.cpu_seconds >= self.budget

    @property
    def rev(self) -> str:
        """The revision that is measured."""
        return self.pair.new.rev if self.end is End.NEW else self.pair.old.rev

    @property
    def build(self) -> Build:
        """The build of that revision, which has been made before."""
        old, new = self.workshop.build(self.pair)
        return new if self.end is End.NEW else old

    def compile(self, module: str, code: tuple[str, bytes] | None = None) -> Compiled:
        """A module's tests against the code, of which one file may be another."""
        edits = Edits(tests=self.tests, code=(code,) if code else ())
        compiled = self.workshop.compile(
            self.rev, self.rev, module, edits=edits if edits != Edits() else None
        )
        self.cpu_seconds += compiled.cpu_seconds
        return compiled

    def run(self, compiled: Compiled, method: TestMethod, cpu_limit: float | None) -> Verdict:
        """What a method does alone in a fresh process; or in the compiler's hands.

        Transient where the process did not start, which says nothing of the code.
        """
        if compiled.code_failure is not None:
            return Verdict(outcome=Outcome.COMPILE_ERROR, signature=compiled.code_failure)
        verdict = self.workshop.compile_verdict(compiled, method)
        if verdict is not None:
            return verdict
        conditions = Conditions(override=self.override, cpu_limit=cpu_limit)
        batch = self.workshop.run(compiled, [method], conditions)
        self.cpu_seconds += batch.cpu_seconds
        (verdict,) = batch.verdicts
        assert verdict is not None, 'a method that runs alone has no neighbour to lose to'
        if verdict.outcome is Outcome.INFRA:
            raise Transient(f'a test process did not start: {verdict.message.strip()}')
        return verdict


def module_of(modules: Iterable[str], path: str) -> str | None:
    """The innermost module below whose folder a file lies."""
    holding = [name for name in modules if name == '.' or path.startswith(f'{name}/')]
    return max(holding, key=lambda name: (name != '.', len(name)), default=None)
