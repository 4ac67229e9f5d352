"""A till that a pair changes, mined for real, and submitted test files in place of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

from coevo.evaluation.assignments import assignments
from coevo.evaluation.scene import Scene
from coevo.git import Repository
from coevo.languages.base import Conditions
from coevo.languages.java_maven import PairWorkshop
from coevo.languages.java_maven import Site
from coevo.languages.java_maven import Yards
from coevo.profiles import load_profile
from coevo.records import Pair
from tests.coevo.measures.shop import pair_of
from tests.flows.mining_runs import released
from tests.projects import junit
from tests.projects import mined
from tests.projects import pom
from tests.projects import source
from tests.projects import write
from tests.repos import git

# Lines of which few mutants compile: every mutant is a JVM.
OLD = """\
    public int price(int n) {
        int sum = n;
        return -sum;
    }
"""
NEW = """\
    public int price(int n) {
        int sum = -n;
        return -sum;
    }
    public int fee(int n, boolean late) {
        if (late) {
            return n;
        }
        return -n;
    }
"""
TESTS = {
    'prices': 'assertEquals(2, new Till().price(2));',
    'fees': 'assertEquals(-2, new Till().fee(2, false));',
}
STEPS = (
    {
        'pom.xml': pom(),
        **source('Till', OLD),
        **junit('TillTest', 'prices: assertEquals(-2, new Till().price(2));'),
    },
    {
        **source('Till', NEW),
        **junit('TillTest', *(f'{name}: {body}' for name, body in TESTS.items())),
    },
)
PROFILE = replace(load_profile('default'), refactorings=False)


def submitted(imports: str = '', **bodies: str) -> bytes:
    """The test file at new with other bodies of its tests."""
    texts = [f'{name}: {body}' for name, body in {**TESTS, **bodies}.items()]
    (text,) = junit('TillTest', *texts, imports=imports).values()
    return text.encode()


@dataclass(frozen=True, kw_only=True)
class Till:
    """A snapshot of the mined pair, and a workshop in which both ends were built."""

    snapshot: Path
    workshop: PairWorkshop
    repository: Repository
    pair: Pair

    def of(self, name: str, content: bytes) -> Scene:
        """The scene of a target of that name, with what was submitted for its task."""
        (assignment,) = (
            one
            for one in assignments(self.snapshot)
            if any(target.row.test_method == name for target in one.targets)
        )
        return Scene(
            assignment=assignment,
            snapshot=self.snapshot,
            workshop=self.workshop,
            repository=self.repository,
            pair=self.pair,
            patched=content,
            methods={target.name: target.method for target in assignment.targets},
            conditions=Conditions(observed=True),
        )


@contextmanager
def opened(folder: Path) -> Iterator[Till]:
    root = write(folder / 'repository', STEPS)
    snapshot = released(mined(root, folder / 'store', profile=PROFILE).store)
    repository = Repository(root / '.git')
    old, new = git(root, 'rev-list', '--reverse', 'HEAD').split()
    with ExitStack() as stack:
        workshop = PairWorkshop(Yards(Site(repository, sandbox='bubblewrap', stack=stack)))
        stack.callback(workshop.close)
        pair = pair_of(repository, old, new)
        assert workshop.build(pair)[1].summary == 'built'
        yield Till(snapshot=snapshot, workshop=workshop, repository=repository, pair=pair)
