"""What a run over one toy repository builds with."""

from __future__ import annotations

from contextlib import ExitStack

from coevo.languages.base import RunSettings
from tests.languages.toy.builds import Builds
from tests.languages.toy.workshop import ToyWorkshop


class ToyEngine:
    """Fulfils `coevo.languages.base.Engine`."""

    def __init__(self, run: RunSettings, stack: ExitStack) -> None:
        self._builds = Builds(run, stack)

    def workshop(self) -> ToyWorkshop:
        return ToyWorkshop(self._builds)

    def forget(self, rev: str) -> None:
        self._builds.forget(rev)

    def halt(self) -> None:
        self._builds.sandbox.close()
