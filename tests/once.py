"""Pairs mined with one run where evidence asks for many.

That runs have to agree is a matter of its own tests. Those of what is built, found and run where
can do with a third of the JVMs.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from coevo.git import Repository
from coevo.languages.base import PLAIN
from coevo.languages.base import Batch
from coevo.languages.base import Compiled
from coevo.languages.base import Conditions
from coevo.languages.base import Verdict
from coevo.languages.base import Workshop
from coevo.records import TestMethod
from coevo.records import Walk
from coevo.suites import Suites
from coevo.workshops import Surroundings
from coevo.workshops import Workshops
from flows.mining import Mine
from flows.mining import mine_pair
from flows.study import Tools
from miners.pairs import Route
from miners.pairs import visit
from miners.refactorings import RefactoringMiners
from miners.siblings import methods_by_module
from tests.projects import NAME
from tests.projects import QUICK
from tests.projects import Rows
from tests.projects import rows_of

_Run = tuple[Compiled, TestMethod, Conditions]


class Once:
    """A workshop in which a test that has run does not run again: what it gave is what it gives."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._given: dict[_Run, Verdict] = {}

    def run(
        self, compiled: Compiled, methods: Sequence[TestMethod], conditions: Conditions = PLAIN
    ) -> Batch:
        keys = [(compiled, method, conditions) for method in methods]
        if any(key not in self._given for key in keys):
            batch = self._workshop.run(compiled, methods, conditions)
            for key, verdict in zip(keys, batch.verdicts, strict=True):
                if verdict is not None:
                    self._given.setdefault(key, verdict)
        verdicts = tuple(self._given.get(key) for key in keys)
        return Batch(verdicts=verdicts, cpu_seconds=0.0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workshop, name)


def mined_once(folder: Path) -> Rows:
    """The pairs of a repository under the walk `parents` and the profile `quick`."""
    repository = Repository(folder / '.git')
    found = visit(repository, Route(repo=NAME, walk=Walk.PARENTS, ref='main'))
    with (
        RefactoringMiners() as refactoring_miners,
        Workshops(Surroundings(repository=repository, sandbox='bubblewrap'), found.pairs) as opened,
        closing(Once(opened.open())) as workshop,
    ):
        tools = Tools(
            repository=repository,
            profile=QUICK,
            suites=Suites(lambda rev: methods_by_module(repository, rev), QUICK.suite_cpu_seconds),
            refactoring_miners=refactoring_miners,
        )
        mine = Mine(tools=tools, sandbox='bubblewrap')
        return Rows(**rows_of([mine_pair(mine, pair, lambda: workshop) for pair in found.pairs]))
