"""What a run over one toy repository builds with."""

from __future__ import annotations

from contextlib import ExitStack

from coevo.languages.engine import RunSettings
from coevo.model.records import Pair
from tests.languages.toy.builds import Builds
from tests.languages.toy.built_pair import Cells, ToyBuiltPair


class ToyBuilder:
    """Fulfils `coevo.languages.engine.Builder`."""

    def __init__(self, builds: Builds) -> None:
        self._builds = builds
        self._cells: Cells = {}

    def build(self, pair: Pair) -> ToyBuiltPair:
        return ToyBuiltPair(
            pair=pair,
            old=self._builds.build(pair.old.rev),
            new=self._builds.build(pair.new.rev),
            builds=self._builds,
            cells=self._cells,
        )

    def close(self) -> None:
        self._cells.clear()


class ToyEngine:
    """Fulfils `coevo.languages.engine.Engine`."""

    def __init__(self, run: RunSettings, stack: ExitStack) -> None:
        self._builds = Builds(run, stack)

    def make_builder(self) -> ToyBuilder:
        return ToyBuilder(self._builds)

    def forget_revision(self, rev: str) -> None:
        self._builds.forget(rev)

    def halt(self) -> None:
        self._builds.sandbox.close()
