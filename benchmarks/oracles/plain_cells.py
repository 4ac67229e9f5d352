"""What oracles that run a test by its language's plain command have in common: a sandbox, a tree written anew, rulings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.oracles.cell import Answer, Place, Ruling
from benchmarks.oracles.driver import LIMITS, ask, place_of_tree, readable_programs
from benchmarks.oracles.trees import write_cell_of
from coevo.git.repository import Repository
from coevo.languages.reading import LanguageReading
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Job, Mount, Sandbox, open_sandbox
from coevo.sandboxes.workspace import open_workspace


class PlainCells:
    """The sandbox of an oracle, for one repository after the other.

    program  the module of `inside` whose `main` is the driver
    """

    def __init__(self, stack: ExitStack, program: str) -> None:
        self._sandbox: Sandbox = open_sandbox('bubblewrap')
        stack.callback(self._sandbox.close)
        self.root = stack.enter_context(open_workspace())
        self._start = (
            f'import sys; sys.path.insert(0, "/in"); from inside.{program} import main; main()'
        )

    @contextmanager
    def tree(
        self, reading: LanguageReading, repository: Repository, place: Place
    ) -> Iterator[Path]:
        """The files of a cell, written anew."""
        with place_of_tree(self.root) as tree:
            write_cell_of(reading, repository, place.tests_rev, place.code_rev, tree)
            yield tree

    def ask(
        self,
        tree: Path,
        mounts: Sequence[Mount],
        environment: Mapping[str, str],
        request: Mapping[str, Any],
    ) -> Answer:
        """mounts, environment  beside the tree and the driver"""
        job = Job(
            argv=('/usr/bin/python3', '-I', '-B', '-c', self._start),
            mounts=(
                Mount(source=tree, target='/in/tree'),
                Mount(source=readable_programs(self.root), target='/in/inside'),
                *mounts,
            ),
            limits=LIMITS,
            environment=environment,
        )
        found = ask(self._sandbox, job, request)
        return Answer(
            build_seconds=found['build_seconds'],
            rulings=tuple(
                Ruling(**{**one, 'outcome': Outcome(one['outcome'])}) for one in found['methods']
            ),
            log='',
        )


def unbuilt(count: int) -> Answer:
    """Of so many methods whose code cannot be built."""
    ruling = Ruling(outcome=Outcome.UNBUILDABLE, exception='', seconds=0.0, log='')
    return Answer(build_seconds=0.0, rulings=(ruling,) * count, log='')
