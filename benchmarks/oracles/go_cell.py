"""Run one cell of a pair by the plain way of Go: `go test -run ^NAME$` in the folder of its package.

The tree is written anew: the code's revision with all files that the language calls the tests' of the other one, and
go.mod and go.sum as the language says that they were completed. The toolchain is the one that it names; nothing
else of the engine takes part: no copy of `testing`, no channel, no stubs.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.oracles.cell import Answer
from benchmarks.oracles.cell import Place
from benchmarks.oracles.cell import Ruling
from benchmarks.oracles.driver import LIMITS
from benchmarks.oracles.driver import ask
from benchmarks.oracles.driver import place_of_tree
from benchmarks.oracles.driver import readable_programs
from benchmarks.oracles.trees import write_cell_of
from coevo.git.repository import Repository
from coevo.languages.engine import RunSettings
from coevo.languages.golang import language
from coevo.languages.golang.built_pair import GoBuiltPair
from coevo.languages.golang.launch import variables
from coevo.languages.golang.places import MODULES
from coevo.languages.golang.projects import GoProject
from coevo.languages.golang.toolchains import GoToolchain
from coevo.languages.golang.toolchains import module_cache
from coevo.model.records import Pair
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Job
from coevo.sandboxes.sandbox import Mount
from coevo.sandboxes.sandbox import Sandbox
from coevo.sandboxes.sandbox import open_sandbox
from coevo.sandboxes.workspace import workspace
from coevo.storage.folders import cache_folder

_START = 'import sys; sys.path.insert(0, "/in"); from inside.go_cell import main; main()'

Known = tuple[GoToolchain, GoProject]


class GoBench:
    """The sandbox of the oracle, for one repository after the other."""

    def __init__(self, stack: ExitStack) -> None:
        self._sandbox: Sandbox = open_sandbox('bubblewrap')
        stack.callback(self._sandbox.close)
        self._root = stack.enter_context(workspace())
        self._known: dict[tuple[str, str], Known | None] = {}

    def run(
        self, repository: Repository, pair: Pair, place: Place, methods: Sequence[TestMethod]
    ) -> Answer:
        """Transient if the driver itself failed."""
        known = self._asked(repository, pair, place)
        if known is None:
            unbuilt = Ruling(outcome=Outcome.UNBUILDABLE, exception='', seconds=0.0, log='')
            return Answer(build_seconds=0.0, rulings=(unbuilt,) * len(methods), log='')
        toolchain, project = known
        with place_of_tree(self._root) as tree:
            write_cell_of(language.READING, repository, place.tests_rev, place.code_rev, tree)
            for path, content in project.files.items():
                (tree / path).write_bytes(content)
            names = [method.test_method for method in methods]
            request = {'path': project.path, 'module': place.module, 'names': names}
            return _answer(ask(self._sandbox, self._job(toolchain, tree), request))

    def _asked(self, repository: Repository, pair: Pair, place: Place) -> Known | None:
        """What the language says that the code's revision is compiled with; None where it cannot be."""
        key = pair.pair_id, f'{place.code_rev} {place.module}'
        if key not in self._known:
            settings = RunSettings(repository=repository, sandbox='bubblewrap')
            with ExitStack() as stack:
                builder = language.engine(settings, stack).builder()
                stack.callback(builder.close)
                self._known[key] = _of(builder.build(pair), place)
        return self._known[key]

    def _job(self, toolchain: GoToolchain, tree: Path) -> Job:
        standard = sorted((cache_folder() / 'go').glob(f'std-{toolchain.version}-*/'))
        mounts = [
            Mount(source=tree, target='/in/tree'),
            Mount(source=module_cache(), target=MODULES),
            Mount(source=readable_programs(self._root), target='/in/inside'),
            Mount(source=standard[0], target='/in/cache'),
        ]
        if not toolchain.inside.startswith('/usr/'):
            mounts.append(Mount(source=toolchain.home, target=toolchain.inside))
        return Job(
            argv=('/usr/bin/python3', '-I', '-B', '-c', _START),
            mounts=tuple(mounts),
            limits=LIMITS,
            environment=variables(toolchain),
        )


def _of(built: GoBuiltPair, place: Place) -> Known | None:
    end = next(one for one in built.ends if one.build.rev == place.code_rev)
    if end.project is None or built.cells is None or end.build.trouble(place.module):
        return None
    return built.cells.compiler.made.toolchain, end.project


def _answer(found: dict[str, Any]) -> Answer:
    return Answer(
        build_seconds=found['build_seconds'],
        rulings=tuple(
            Ruling(**{**one, 'outcome': Outcome(one['outcome'])}) for one in found['methods']
        ),
        log='',
    )
