"""A small Python project with a history, and the cells of its pairs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.cells import Build, CellEdits, CompiledTests
from coevo.languages.engine import RunSettings
from coevo.languages.python import language
from coevo.languages.python.built_pair import PythonBuiltPair
from coevo.languages.python.supply import PythonSupply
from coevo.languages.verdicts import RunConditions, Verdict, VerdictBatch
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Walk
from tests.repos import commit, init

# What every machine that builds coevo has, too.
PROJECT = """\
[project]
name = "till"
version = "1.0"
requires-python = ">=3.11,<3.12"
"""

DATES = ('2024-03-01T00:00:00Z', '2024-03-02T00:00:00Z')
SHORTLY = RunConditions(cpu_limit=3.0)

Files = Mapping[str, str | None]


def method(name: str, owner: str = '', file: str = 'tests/test_till.py') -> TestMethod:
    module = file.removesuffix('.py').replace('/', '.')
    return TestMethod(
        module='.',
        test_file=file,
        test_class='.'.join(filter(None, (module, owner))),
        test_method=name,
    )


@dataclass(frozen=True, kw_only=True)
class Shop:
    """Two revisions that are built."""

    old: str
    new: str
    built: PythonBuiltPair

    @property
    def builds(self) -> tuple[Build, Build]:
        return self.built.old, self.built.new

    def cell(self, tests: str, code: str, edits: CellEdits | None = None) -> CompiledTests:
        return self.built.compile(tests, code, '.', edits=edits)

    def run(
        self,
        *methods: TestMethod,
        cell: CompiledTests | None = None,
        conditions: RunConditions = SHORTLY,
    ) -> VerdictBatch:
        return self.built.run(cell or self.cell(self.new, self.new), methods, conditions)

    def verdict(self, test: TestMethod, cell: CompiledTests | None = None) -> Verdict:
        (found,) = self.run(test, cell=cell).verdicts
        assert found is not None
        return found


@contextmanager
def shop(
    folder: Path,
    old: Files,
    new: Files,
    project: str = PROJECT,
    sandbox: str = 'bubblewrap',
    *,
    own_edits: bool = False,
    dates: tuple[str, str] = DATES,
    runtimes: PythonSupply | None = None,
) -> Iterator[Shop]:
    """A repository with two commits, opened and built."""
    repo = init(folder / 'shop')
    first = commit(repo, 'first', _texts({'pyproject.toml': project, **old}), date=dates[0])
    second = commit(repo, 'second', _texts(new), date=dates[1])
    repository = Repository(repo / '.git')
    with ExitStack() as stack:
        engine = language.make_engine(
            RunSettings(
                repository=repository, sandbox=sandbox, own_edits=own_edits, runtimes=runtimes
            ),
            stack,
        )
        builder = engine.make_builder()
        stack.callback(builder.close)
        pair = Pair(
            repo='local/shop',
            language='python',
            walk=Walk.PARENTS,
            old=repository.get_commit(first),
            new=repository.get_commit(second),
            old_is_ancestor=True,
        )
        yield Shop(old=first, new=second, built=builder.build(pair))


def _texts(files: Files) -> dict[str, str | bytes | None]:
    return {path: text and textwrap.dedent(text) for path, text in files.items()}
