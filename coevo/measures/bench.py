"""What all measures take: a pair in a workshop, its gold tests, and a budget of CPU seconds."""

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
from coevo.records import Dependency
from coevo.records import Outcome
from coevo.records import Pair
from coevo.records import TestMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldTest:
    """A test method at new that has a track, with its changed dependencies."""

    method_id: str
    method: TestMethod
    dependencies: tuple[Dependency, ...]


@dataclass(slots=True, kw_only=True)
class Bench:
    """Where a pair is measured. A measure starts nothing more once its budget is spent.

    override     the cure under which the pair's cells ran
    budget       CPU seconds of sandboxed programs
    cpu_seconds  what has been used of it
    """

    workshop: Workshop
    repository: Repository
    pair: Pair
    override: str | None = None
    budget: float
    cpu_seconds: float = 0.0

    @property
    def spent(self) -> bool:
        return self.cpu_seconds >= self.budget

    @property
    def build(self) -> Build:
        """The build of the new code, which has been made before."""
        return self.workshop.build(self.pair)[1]

    def compile(self, module: str, code: tuple[str, bytes] | None = None) -> Compiled:
        """A module's new tests against the new code, of which one file may be another."""
        new = self.pair.new.rev
        edits = Edits(code=(code,)) if code else None
        compiled = self.workshop.compile(new, new, module, edits=edits)
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
