"""A pair that changes a shop, its gold tests, and a runner to measure them with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.java.engine import BuildsByJdk, JavaBuilder
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.measures.edited_cells import EditedCellRunner, GoldTest
from coevo.model.dependencies import Dependency, Revised
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Walk
from tests.projects import junit, pom, source, write
from tests.repos import git

PATH = 'src/main/java/shop/Shop.java'
OLD = """\
    public int price(int n) {
        return n;
    }
    public int sum() {
        return seven();
    }
    public int seven() {
        return 7;
    }
    public String toString() {
        return "shop";
    }
"""
NEW = """\
    public int price(int n) {
        int sum = n + n;
        if (n < 0) {
            return 0 + 0;
        }
        return sum;
    }
    public int sum() {
        return 7;
    }
    public int tax() {
        return price(1) - 1;
    }
"""
TESTS = (
    'strong: assertEquals(4, new Shop().price(2)); assertEquals(0, new Shop().price(-2));',
    'weak: new Shop().price(2); new Shop().price(-2);',
    'taxes: assertEquals(1, new Shop().tax());',
    'names: assertNotEquals("shop", new Shop().toString());',
    'sums: assertEquals(7, new Shop().sum());',
    'fails: fail();',
)


def pair_of(repository: Repository, old: str, new: str) -> Pair:
    return Pair(
        repo='local/shop',
        language='java',
        walk=Walk.PARENTS,
        old=repository.get_commit(old),
        new=repository.get_commit(new),
        old_is_ancestor=True,
    )


def dependency(path: str, text: str, name: str, revised: Revised) -> Dependency:
    """A method of a file by its name, as the diff would name it."""
    members = [member for type_ in parse(text.encode()).types for member in type_.members]
    (member,) = (member for member in members if member.name == name)
    return Dependency(
        declaration=member.declaration,
        file=path,
        start_line=member.start_line,
        end_line=member.end_line,
        revised=revised,
        rank=1,
    )


STEPS = (
    {'pom.xml': pom(), **source('Shop', OLD)},
    {**source('Shop', NEW), **junit('ShopTest', *TESTS)},
)


@contextmanager
def opened(
    folder: Path, steps: Sequence[Mapping[str, str | None]] = STEPS
) -> Iterator[EditedCellRunner]:
    """A runner for the pair that two commits make, with both ends built."""
    root = write(folder / 'repository', steps)
    repository = Repository(root / '.git')
    old, new = git(root, 'rev-list', '--reverse', 'HEAD').split()
    with ExitStack() as stack:
        builder = JavaBuilder(
            BuildsByJdk(JavaRunContext(repository, sandbox='bubblewrap', stack=stack))
        )
        stack.callback(builder.close)
        built = builder.build(pair_of(repository, old, new))
        assert built.new.built_or_first_failure == 'built'
        yield EditedCellRunner(built=built, repository=repository)


def gold(name: str, **revised: Revised) -> GoldTest:
    """A test of the shop with the methods that it depends on, and what the pair did to each."""
    old, new = source('Shop', OLD)[PATH], source('Shop', NEW)[PATH]
    return GoldTest(
        method_id=name,
        method=TestMethod(
            module='.',
            test_file='src/test/java/shop/ShopTest.java',
            test_class='shop.ShopTest',
            test_method=name,
        ),
        dependencies=tuple(
            dependency(PATH, old if how is Revised.REMOVED else new, method, how)
            for method, how in revised.items()
        ),
    )
