"""A Go repository that a test writes, and the pair of its last two revisions, built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.cells import CellEdits, CompiledTests
from coevo.languages.engine import RunSettings
from coevo.languages.golang.built_pair import GoBuiltPair
from coevo.languages.golang.engine import make_engine
from coevo.languages.verdicts import PLAIN, RunConditions, Verdict
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Walk
from tests.projects import write
from tests.repos import git

GO_MOD = {'go.mod': 'module example.com/shop\n\ngo 1.21\n'}


@dataclass(frozen=True, slots=True, kw_only=True)
class GoPlace:
    """Both ends of a pair, and where its tests are unless somebody says otherwise.

    edits  of all cells of which no others are said
    """

    built: GoBuiltPair
    edits: CellEdits | None = None
    file: str = 'shop_test.go'
    module: str = '.'

    def method(self, name: str, file: str = '', module: str = '') -> TestMethod:
        return TestMethod(
            module=module or self.module,
            test_file=file or self.file,
            test_class='shop',
            test_method=name,
        )

    def compiled(
        self, tests: str = '', code: str = '', module: str = '', edits: CellEdits | None = None
    ) -> CompiledTests:
        new = self.built.new.rev
        return self.built.compile(
            tests or new, code or new, module or self.module, edits=edits or self.edits
        )

    def verdict(
        self, name: str, cell: CompiledTests | None = None, conditions: RunConditions = PLAIN
    ) -> Verdict:
        (found,) = self.built.run(cell or self.compiled(), [self.method(name)], conditions).verdicts
        assert found is not None
        return found


@contextmanager
def opened(
    folder: Path, steps: Sequence[Mapping[str, str | bytes | None]], sandbox: str = 'bubblewrap'
) -> Iterator[GoPlace]:
    """The pair of the last two commits; of one commit with itself, if there is no other."""
    repository = write(folder / 'repository', steps)
    revs = git(repository, 'rev-list', '--max-count=2', 'HEAD').split()
    known = Repository(repository / '.git')
    with ExitStack() as stack:
        engine = make_engine(RunSettings(repository=known, sandbox=sandbox), stack)
        builder = engine.make_builder()
        stack.callback(builder.close)
        pair = Pair(
            repo='local/shop',
            language='go',
            walk=Walk.PARENTS,
            old=known.get_commit(revs[-1]),
            new=known.get_commit(revs[0]),
            old_is_ancestor=True,
        )
        yield GoPlace(built=builder.build(pair))
