"""The oracles of all languages behind one question: what do the plain commands say of these methods in a cell?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from benchmarks.oracles.driver import Answer, Place
from benchmarks.oracles.go_cell import GoBench
from benchmarks.oracles.java_cell import CellTarget, Flags, JavaBench
from benchmarks.oracles.python_cell import PytestBench
from coevo.git.repository import Repository
from coevo.languages.golang.language import NAME as GO
from coevo.languages.java.processes.workarounds import WORKAROUNDS
from coevo.languages.java.tools.jdks import Jdk, find_alike_jdks, find_jdks
from coevo.languages.python.language import NAME as PYTHON
from coevo.model.errors import Fatal
from coevo.model.pair_rows import PairRow
from coevo.model.records import Pair
from coevo.model.words import Walk

# Languages of which the date of a pair decides on libraries; its trees serve no other pair.
DATED = (GO, PYTHON)


class Benches:
    """The oracles, each made ready when it is first asked."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._by_runtime: dict[str, JavaBench] = {}

    def run(
        self,
        repository: Repository,
        pair: PairRow,
        place: Place,
        targets: Sequence[CellTarget],
        flags: Flags = Flags.C1,
    ) -> Answer:
        """Run the methods on what the engine ran the pair with.

        flags  of the JVM; other languages have none

        Raises: Transient for trouble of a network or of the driver; Fatal if no JDK like the pair's is here.
        """
        if pair.language not in DATED:
            return self._open_java(pair.runtime or '').run(repository, place, targets, flags)
        methods = [target.method for target in targets]
        bench = self._go if pair.language == GO else self._python
        return bench.run(repository, load_pair(repository, pair), place, methods)

    def _open_java(self, runtime: str) -> JavaBench:
        if runtime not in self._by_runtime:
            near = find_alike_jdks(runtime, find_jdks())
            if not near:
                raise Fatal(f'no JDK like {runtime} was found; `coevo doctor --install` brings one')
            self._by_runtime[runtime] = JavaBench(self._stack, near[0])
        return self._by_runtime[runtime]

    @cached_property
    def _python(self) -> PytestBench:
        return PytestBench(self._stack)

    @cached_property
    def _go(self) -> GoBench:
        return GoBench(self._stack)


def is_workaround(override: str | None) -> bool:
    """Whether an oracle can be given the engine's override: those of Java that change a test's JVM."""
    return (override or '') in WORKAROUNDS


def shorten_runtime(pair: PairRow) -> str:
    """Shorten a version: 8 or 17 of a JDK, 3.11 of CPython, 1.26 of Go."""
    runtime = pair.runtime or ''
    if pair.language in DATED:
        return '.'.join(runtime.split('.')[:2])
    return Jdk(home=Path(), version=runtime).release


def load_pair(repository: Repository, row: PairRow) -> Pair:
    """Make the pair of its row."""
    return Pair(
        repo=row.repo,
        language=row.language,
        walk=Walk(row.walk),
        old=repository.get_commit(row.old_rev),
        new=repository.get_commit(row.new_rev),
        old_is_ancestor=row.old_is_ancestor,
    )
