"""Mining with one run where evidence asks for many.

That runs have to agree is a matter of its own tests. Those of what is built, found and run where, and
those that only need something mined, can do with a third of the JVMs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coevo.engine.workers import BuilderPool
from coevo.languages.cells import CompiledTests
from coevo.languages.engine import Builder, BuiltPair
from coevo.languages.verdicts import PLAIN, RunConditions, Verdict, VerdictBatch
from coevo.model.profiles import Profile
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Walk
from flows import missing_pairs
from tests.projects import QUICK, Mined, mined

# By runtime too: what two of them compile may look the same.
_Run = tuple[str, CompiledTests, TestMethod, RunConditions]


class Once:
    """A pair of which a test that has run does not run again: what it gave is what it gives."""

    def __init__(self, built: BuiltPair, given: dict[_Run, Verdict]) -> None:
        self._built, self._given = built, given

    def otherwise(self) -> BuiltPair | None:
        other = self._built.build_with_other_runtime()
        return None if other is None else Once(other, self._given)

    def run(
        self,
        compiled: CompiledTests,
        methods: Sequence[TestMethod],
        conditions: RunConditions = PLAIN,
    ) -> VerdictBatch:
        runtime = self._built.new.runtime
        keys = [(runtime, compiled, method, conditions) for method in methods]
        batch = VerdictBatch(verdicts=(), cpu_seconds=0.0)
        if any(key not in self._given for key in keys):
            batch = self._built.run(compiled, methods, conditions)
            for key, verdict in zip(keys, batch.verdicts, strict=True):
                if verdict is not None:
                    self._given.setdefault(key, verdict)
        return replace(batch, verdicts=tuple(self._given.get(key) for key in keys))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._built, name)


class OnceBuilder:
    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._given: dict[_Run, Verdict] = {}

    def build(self, pair: Pair) -> BuiltPair:
        return Once(self._builder.build(pair), self._given)

    def close(self) -> None:
        self._builder.close()


class OnceForAll(BuilderPool):
    def open_builder(self) -> Builder:
        return OnceBuilder(super().open_builder())


def mined_once(
    repository: Path, store: Path, *, walk: Walk = Walk.PARENTS, profile: Profile = QUICK
) -> Mined:
    """The same as `mined`, in real JVMs, but for runs of what has run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(missing_pairs, 'BuilderPool', OnceForAll)
        return mined(repository, store, walk=walk, profile=profile)
