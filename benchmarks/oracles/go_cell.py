"""Run one cell of a pair by the plain way of Go: `go test -run ^NAME$` in the folder of its package.

The tree is written anew: the code's revision with all files that the language calls the tests' of the other one, and
go.mod and go.sum as the language says that they were completed. The toolchain is the one that it names; nothing
else of the engine takes part: no copy of `testing`, no channel, no stubs.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from benchmarks.oracles.driver import Answer, Place, PlainCells, say_unbuildable
from coevo.git.repository import Repository
from coevo.languages.engine import RunSettings
from coevo.languages.golang import language
from coevo.languages.golang.built_pair import GoBuiltPair
from coevo.languages.golang.launch import make_variables
from coevo.languages.golang.projects import GoProject
from coevo.languages.golang.toolchains import MODULES, GoToolchain, locate_module_cache
from coevo.model.records import Pair, TestMethod
from coevo.sandboxes.sandbox import Mount
from coevo.storage.disk import find_cache_folder

Known = tuple[GoToolchain, GoProject]


class GoBench:
    """The sandbox of the oracle, for one repository after the other."""

    def __init__(self, stack: ExitStack) -> None:
        self._plain = PlainCells(stack, 'go_cell')
        self._known: dict[tuple[str, str], Known | None] = {}

    def run(
        self, repository: Repository, pair: Pair, place: Place, methods: Sequence[TestMethod]
    ) -> Answer:
        """Run the methods; Transient if the driver itself failed."""
        known = self._find_project(repository, pair, place)
        if known is None:
            return say_unbuildable(len(methods))
        toolchain, project = known
        with self._plain.open_tree(language.READING, repository, place) as tree:
            for path, content in project.files.items():
                (tree / path).write_bytes(content)
            names = [method.test_method for method in methods]
            request = {'path': project.path, 'module': place.module, 'names': names}
            return self._plain.ask(
                tree,
                request,
                mounts=_list_mounts(toolchain),
                environment=make_variables(toolchain),
            )

    def _find_project(self, repository: Repository, pair: Pair, place: Place) -> Known | None:
        """Find what the language says that the code's revision is compiled with; None where it cannot be."""
        key = pair.pair_id, f'{place.code_rev} {place.module}'
        if key not in self._known:
            settings = RunSettings(repository=repository, sandbox='bubblewrap')
            with ExitStack() as stack:
                builder = language.make_engine(settings, stack).make_builder()
                stack.callback(builder.close)
                built = builder.build(pair)
                assert isinstance(built, GoBuiltPair), 'what Go itself built'
                self._known[key] = _read_project(built, place)
        return self._known[key]


def _list_mounts(toolchain: GoToolchain) -> list[Mount]:
    standard = sorted((find_cache_folder() / 'go').glob(f'std-{toolchain.version}-*/'))
    mounts = [
        Mount(source=locate_module_cache(), target=MODULES),
        Mount(source=standard[0], target='/in/cache'),
    ]
    if not toolchain.home_in_sandbox.startswith('/usr/'):
        mounts.append(Mount(source=toolchain.home, target=toolchain.home_in_sandbox))
    return mounts


def _read_project(built: GoBuiltPair, place: Place) -> Known | None:
    end = next(each for each in built.ends if each.build.rev == place.code_rev)
    if end.project is None or built.runs is None or end.build.find_trouble(place.module):
        return None
    return built.runs.cells.all.compiler.prepared.toolchain, end.project
