"""The parts of a run over one repository that do not depend on the interpreter."""

from __future__ import annotations

from contextlib import ExitStack

from coevo.languages.core.engines import RunEngine
from coevo.languages.engine import RunSettings
from coevo.languages.python.built_pair import PythonBuiltPair
from coevo.languages.python.cells import PythonCells
from coevo.languages.python.ends import PythonEndBuilder
from coevo.languages.python.method_runs import MethodRuns
from coevo.languages.python.run_context import PythonRunContext
from coevo.languages.python.runner import make_sessions
from coevo.languages.python.supply import PythonSupply
from coevo.model.records import Pair


class PythonBuilder:
    """A builder of pairs for one thread, one pair after the other. Implements `engine.Builder`.

    The packed trees of a pair are kept until the next pair.
    """

    def __init__(self, context: PythonRunContext, supply: PythonSupply) -> None:
        self._context, self._supply = context, supply
        self._last: PythonBuiltPair | None = None
        self._sessions = make_sessions(context.sandbox)

    def build(self, pair: Pair) -> PythonBuiltPair:
        """Build both revisions of a pair; a repetition for the last pair reuses its cells."""
        last = self._last
        if last is None or last.pair.pair_id != pair.pair_id:
            if last is not None:
                last.runs.cells.close()
            runs = self._make_runs()
        else:
            runs = last.runs
        self._last = self._build_pair(pair, runs, frozenset())
        return self._last

    def _make_runs(self) -> MethodRuns:
        return MethodRuns(context=self._context, cells=PythonCells(self._context, self._sessions))

    def _build_pair(
        self, pair: Pair, runs: MethodRuns, fruitless_versions: frozenset[str]
    ) -> PythonBuiltPair:
        old, new = PythonEndBuilder(self._context, self._supply, runs.cells).build_ends(
            pair, fruitless_versions
        )
        return PythonBuiltPair(
            old=old.build,
            new=new.build,
            pair=pair,
            ends={pair.old.rev: old, pair.new.rev: new},
            runs=runs,
            others=lambda: self._build_with_next_interpreter(
                pair, fruitless_versions | {new.build.runtime}
            ),
        )

    def _build_with_next_interpreter(
        self, pair: Pair, fruitless_versions: frozenset[str]
    ) -> PythonBuiltPair | None:
        """Build with the next interpreter that builds both revisions and is not in `mute`.

        If each of them is in `mute`, the one that builds most is used again. Return None if that is
        the current one.
        """
        last = self._last
        assert last is not None, 'who asks for another has one'
        candidate = self._build_pair(pair, self._make_runs(), fruitless_versions)
        if candidate.new.runtime == last.new.runtime:
            candidate.runs.cells.close()
            return None
        last.runs.cells.close()
        self._last = candidate
        return candidate

    def close(self) -> None:
        """End the sessions, and remove the packed trees of the last pair."""
        self._sessions.close()
        if self._last is not None:
            self._last.runs.cells.close()


def make_engine(run: RunSettings, stack: ExitStack) -> RunEngine:
    """Return the engine of a run; closing `stack` frees its resources."""
    supply = run.runtimes
    assert supply is None or isinstance(supply, PythonSupply), 'those that Python itself gave'
    context, interpreters = PythonRunContext(run, stack), supply or PythonSupply()
    return RunEngine(
        sandbox=context.sandbox,
        make_builder=lambda: PythonBuilder(context, interpreters),
        remove_builds_of_revision=context.remove_builds_of_revision,
    )
