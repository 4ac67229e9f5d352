"""Builds the pairs of one repository: an engine for all threads, a builder for each."""

from __future__ import annotations

from contextlib import ExitStack

from coevo.languages.core.engines import RunEngine
from coevo.languages.core.test_runs import Sessions
from coevo.languages.engine import RunSettings
from coevo.languages.golang.built_pair import GoBuiltPair
from coevo.languages.golang.cells import GoCells
from coevo.languages.golang.compiler import GoCompiler
from coevo.languages.golang.ends import (
    build_end,
    choose_toolchain_or_missing_release,
    make_unbuilt_end,
)
from coevo.languages.golang.pair_runs import GoPairCells, GoPairRuns
from coevo.languages.golang.run_context import GoRunContext
from coevo.languages.golang.supply import GoSupply
from coevo.languages.golang.toolchains import GoToolchain
from coevo.model.errors import Fatal
from coevo.model.records import Pair
from coevo.sandboxes.names import CONFINING

# A pair has four cells, each in few packages; an open session keeps a tree in memory.
_MOST_SESSIONS = 8


class GoBuilder:
    """A builder of pairs for one thread, with a compiler and cells for each toolchain.

    It is a `coevo.languages.engine.Builder`.
    """

    def __init__(self, context: GoRunContext) -> None:
        self._context = context
        self._cells: dict[GoToolchain, GoCells] = {}

    def build(self, pair: Pair) -> GoBuiltPair:
        """Build both ends of a pair with one toolchain; ends that are already built are reused.

        If no toolchain fits, both ends are returned with the failure `runtime_missing`.
        """
        toolchain = choose_toolchain_or_missing_release(self._context, pair)
        if isinstance(toolchain, str):
            ends = make_unbuilt_end(pair.old, toolchain), make_unbuilt_end(pair.new, toolchain)
            return GoBuiltPair(pair=pair, ends=ends, context=self._context)
        cells = self._get_cells(toolchain)
        old, new = (
            build_end(self._context, cells, commit, pair) for commit in (pair.old, pair.new)
        )
        runs = GoPairRuns(cells=GoPairCells(ends=(old, new), all=cells))
        return GoBuiltPair(pair=pair, ends=(old, new), context=self._context, runs=runs)

    def _get_cells(self, toolchain: GoToolchain) -> GoCells:
        if toolchain not in self._cells:
            prepared = self._context.get_prepared_toolchain(toolchain)
            shared = self._context.root / f'go-{toolchain.version}'
            folder = (
                self._context.root / f'cells-{id(self):x}-{toolchain.version}'
            )  # own name: a release of Go
            folder.mkdir(mode=0o711)
            self._cells[toolchain] = GoCells(
                context=self._context,
                compiler=GoCompiler(self._context.sandbox, prepared, shared),
                folder=folder,
                sessions=Sessions(self._context.sandbox, _MOST_SESSIONS),
            )
        return self._cells[toolchain]

    def close(self) -> None:
        """End all sessions and delete the files of all cells."""
        for cells in self._cells.values():
            cells.close()
        self._cells.clear()


def make_engine(run: RunSettings, stack: ExitStack) -> RunEngine:
    """Return the engine of a run over one repository; its sandbox is closed with the stack.

    Raises:
        Fatal: the sandbox does not confine processes.
    """
    supply = run.runtimes
    assert supply is None or isinstance(supply, GoSupply), 'those that Go itself gave'
    if run.sandbox not in CONFINING:
        raise Fatal('Go tests lie at fixed places of a sandbox: choose bubblewrap or docker')
    context = GoRunContext(run, supply or GoSupply(), stack)
    return RunEngine(
        sandbox=context.sandbox,
        make_builder=lambda: GoBuilder(context),
        remove_builds_of_revision=context.remove_builds_of_revision,
    )
