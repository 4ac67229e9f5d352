"""What all measures take: a pair that was built, and tests of one of its ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from coevo.git.repository import Repository
from coevo.languages.builds import Build
from coevo.languages.cells import CellEdits, CompiledTests
from coevo.languages.conditions import MainSources, RunConditions
from coevo.languages.engine import BuiltPair
from coevo.languages.verdicts import Verdict
from coevo.model.dependencies import Dependency
from coevo.model.errors import Transient
from coevo.model.quality import PairEnd
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Outcome

Files = tuple[tuple[str, bytes | None], ...]
"""Contents by path, sorted; None is absent."""

RUN_AND_BROKEN = (Outcome.FAIL, Outcome.ERROR, Outcome.TIMEOUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldTest:
    """A test method that has a track, as it stands where it is measured, with its dependencies.

    undone  which parts of these are undone, by the keys of their rows; None is all
    tests  test files that are other there, beside those of the runner
    """

    method_id: str
    method: TestMethod
    dependencies: tuple[Dependency, ...]
    undone: frozenset[tuple[str, int, str, str]] | None = None
    tests: Files = ()


@dataclass(slots=True, kw_only=True)
class EditedCellRunner:
    """What runs edited cells of one end of a pair.

    override     the workaround under which the pair's cells ran
    end          whose tests are run on whose code
    tests        test files that are other than their revision's, as in `Edits`
    sources      that lie beside the tests; None: those of the revision without any edit, so that
                 what a test notices is never a text
    confirms     whether a test that fails without a change is asked again, as it may be by chance
    unstable     those of which the other answer was another one
    cpu_seconds  what sandboxed programs have used
    """

    built: BuiltPair
    repository: Repository
    override: str | None = None
    end: PairEnd = PairEnd.NEW
    tests: Files = ()
    sources: MainSources | None = None
    confirms: bool = False
    unstable: set[TestMethod] = field(default_factory=set)
    cpu_seconds: float = 0.0

    @property
    def pair(self) -> Pair:
        return self.built.pair

    @property
    def rev(self) -> str:
        """The revision that is measured."""
        return self.pair.new.rev if self.end is PairEnd.NEW else self.pair.old.rev

    @property
    def build(self) -> Build:
        return self.built.new if self.end is PairEnd.NEW else self.built.old

    def compile(
        self,
        module: str,
        code: tuple[str, bytes | None] | None = None,
        tests: Files = (),
        *,
        whole: bool = False,
    ) -> CompiledTests:
        """A module's tests against the code, of which one file may be another, or gone.

        tests  test files that are other, beside those of the runner
        whole  whether it is asked which of the module's tests compile, and not only what some do
        """
        files = sorted({**dict(tests), **dict(self.tests)}.items())
        edits = CellEdits(tests=tuple(files), code=(code,) if code else ())
        compiled = self.built.compile(
            self.rev,
            self.rev,
            module,
            edits=edits if edits != CellEdits() else None,
            methods=None if whole else (),
        )
        self.cpu_seconds += compiled.cpu_seconds
        return compiled

    def run_alone(
        self, compiled: CompiledTests, method: TestMethod, cpu_limit: float | None
    ) -> Verdict:
        """What a method does alone in a fresh process; or in the compiler's hands.

        Transient where the process did not start, which says nothing of the code.
        """
        (verdict,) = self.run_all(compiled, [method], cpu_limit)
        assert verdict is not None, 'a method that runs alone has no neighbour to lose to'
        return verdict

    def run_all(
        self, compiled: CompiledTests, methods: Sequence[TestMethod], cpu_limit: float | None
    ) -> tuple[Verdict | None, ...]:
        """What methods do one after the other in one process; None for who loses it to a neighbour.

        Transient where the process did not start.
        """
        if compiled.code_failure is not None:
            failed = Verdict(outcome=Outcome.COMPILE_ERROR, signature=compiled.code_failure)
            return (failed,) * len(methods)
        verdicts = [self.built.find_compile_verdict(compiled, method) for method in methods]
        left = [index for index, verdict in enumerate(verdicts) if verdict is None]
        if not left:  # also where nobody is asked
            return tuple(verdicts)
        conditions = RunConditions(
            override=self.override,
            cpu_limit=cpu_limit,
            sources=self.sources or MainSources(rev=self.rev),
        )
        batch = self.built.run(compiled, [methods[index] for index in left], conditions)
        self.cpu_seconds += batch.cpu_seconds
        for index, verdict in zip(left, batch.verdicts, strict=True):
            if verdict is not None and verdict.outcome is Outcome.INFRA:
                raise Transient(f'a test process did not start: {verdict.message.strip()}')
            verdicts[index] = verdict
        return tuple(verdicts)

    def run_confirmed(self, compiled: CompiledTests, method: TestMethod) -> Verdict:
        """The same; of a failure that is to be confirmed, and is not, the method is `unstable`."""
        verdict = self.run_alone(compiled, method, None)
        must_confirm = self.confirms and verdict.outcome in RUN_AND_BROKEN
        if must_confirm and not self.run_alone(compiled, method, None).outcome.is_broken:
            self.unstable.add(method)
        return verdict


def find_module(modules: Iterable[str], path: str) -> str | None:
    """The innermost module below whose folder a file lies."""
    holding = [name for name in modules if name == '.' or path.startswith(f'{name}/')]
    return max(holding, key=lambda name: (name != '.', len(name)), default=None)
