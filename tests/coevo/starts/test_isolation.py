"""Targets alone in the other tree: what agrees with whole trees, what does not, and start states."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import ExitStack

import pytest

from coevo.engine.evidence import decide
from coevo.engine.execution import evaluate
from coevo.engine.results import Wanted
from coevo.git.repository import Repository
from coevo.languages.java.maven import PairWorkshop
from coevo.languages.java.maven import Site
from coevo.languages.java.maven import Yards
from coevo.model.identity import method_id
from coevo.model.profiles import load_profile
from coevo.model.quality import Isolated
from coevo.model.records import Pair
from coevo.model.records import Track
from coevo.model.records import Walk
from coevo.starts.isolation import Isolation
from coevo.starts.isolation import isolate
from coevo.starts.swapped import IsolatedSubject
from filters import sieve
from miners.diffs.changes import diff
from tests.coevo.languages.java.maven.test_processors import LEVEL_8
from tests.coevo.languages.java.maven.test_shapes import JUNIT4
from tests.coevo.languages.java.maven.test_shapes import JUPITER
from tests.coevo.languages.java.maven.test_shapes import module
from tests.coevo.languages.java.maven.test_shapes import root
from tests.coevo.languages.java.maven.test_shapes import sibling
from tests.once import Once
from tests.projects import NAME
from tests.projects import write
from tests.repos import git

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(900)]  # one pair with all of them

Tree = dict[str, str | bytes | None]

HEAD = 'package shop;\nimport static org.junit.Assert.*;\nimport org.junit.Test;\n'
CORE, APP = 'core/src/test/java/', 'app/src/test/java/shop/'
STAYS = '    @Test public void stays() { assertEquals(3, Price.stays()); }\n'


def four(name: str, body: str, *, imports: str = '', package: str = 'shop') -> Tree:
    head = HEAD.replace('package shop', f'package {package}') + 'import shop.*;\n'
    text = f'{head}{imports}public class {name} {{\n{body}}}\n'
    return {f'{CORE}{package.replace(".", "/")}/{name}.java': text}


def five(body: str) -> Tree:
    head = HEAD.replace('Assert.*', 'jupiter.api.Assertions.*').replace(
        'org.junit.Test', 'org.junit.jupiter.api.*'
    )
    return {f'{APP}NestTest.java': f'{head}class NestTest {{\n{body}}}\n'}


def case(name: str, body: str) -> str:
    return f'    @Test public void {name}() throws Exception {{ {body} }}\n'


def fixture(number: int, said: str) -> Tree:
    """What the test expects stands in a fixture that another test uses, too."""
    body = (
        f'    private int base;\n    @org.junit.Before public void setUp() {{ base = {number}; }}\n'
    )
    shares = case('shares', 'assertTrue(base > 0);')
    return four(
        'FixtureTest', body + shares + case('fixed', f'assertEquals({said}base, Price.of());')
    )


# In the old tree, and there alone, the first spoils the second.
SPOILS = case('first', 'System.setProperty("sold", "yes"); assertEquals(2, Price.of());') + case(
    'second',
    'assertEquals(2, Price.of()); assertFalse(System.getProperty("sold") != null'
    ' && new java.io.File("src/test/resources/mark.txt").exists());',
)

OLD: Tree = {
    'pom.xml': root('core', 'app'),
    'core/pom.xml': module('core', JUNIT4, LEVEL_8),
    'core/src/main/java/shop/Price.java': """package shop; public class Price {
    public static int of() { return 1; }
    public static int stays() { return 3; } }""",
    'app/pom.xml': module('app', sibling('core') + JUPITER, LEVEL_8),
    **four('UpdateTest', STAYS + case('updates', 'assertEquals(1, Price.of());')),
    **four('GrowTest', STAYS + '    private int used() { return 1; }\n'),
    **four('NeedyTest', STAYS),
    **four('CountTest', case('counts', 'assertEquals(1, getClass().getDeclaredMethods().length);')),
    **four('MovedTest', STAYS + case('moves', 'assertEquals(1, Price.of());'), package='shop.a'),
    **fixture(1, ''),
    'core/src/test/resources/mark.txt': 'x',
    **four(
        'OrderTest',
        case('first', 'assertEquals(1, Price.of());')
        + case('second', 'assertEquals(1, Price.of());'),
    ),
    **four('RepairTest', STAYS + case('repaired', 'assertEquals(4, Price.stays());')),
    **five(STAYS + '@Nested class Deep {\n' + case('deep', 'assertEquals(1, Price.of());') + '}\n'),
}
NEW: Tree = {
    'core/src/main/java/shop/Price.java': """package shop; public class Price {
    public static int of() { return 2; }
    public static int tax() { return 5; }
    public static int stays() { return 3; } }""",
    **four('UpdateTest', STAYS + case('updates', 'assertEquals(2, Price.of());')),
    **four(
        'GrowTest',
        STAYS
        + case('grows', 'assertEquals(Arrays.asList(rate()), Arrays.asList(Price.tax()));')
        + '    private int used() { return 1; }\n    private int rate() { return 5; }\n',
        imports='import java.util.Arrays;\n',
    ),
    **four('FreshTest', case('fresh', 'assertEquals(5, Price.tax());')),
    **four('NeedyTest', STAYS + case('needs', 'assertEquals(5, Kit.tax());')),
    **four('Kit', '    public static int tax() { return Price.tax(); }\n'),
    **four(
        'CountTest',
        case('counts', 'assertEquals(2, getClass().getDeclaredMethods().length);')
        + case('counted', 'assertEquals(5, Price.tax());'),
    ),
    f'{CORE}shop/a/MovedTest.java': None,
    **four('MovedTest', STAYS + case('moves', 'assertEquals(2, Price.of());'), package='shop.b'),
    **fixture(2, '"now", '),
    'core/src/test/resources/mark.txt': None,
    **four('OrderTest', SPOILS),
    **four('RepairTest', STAYS + case('repaired', 'assertEquals(3, Price.stays());')),
    **five(
        STAYS
        + '@Nested class Deep {\n'
        + case('deep', 'assertEquals(2, Price.of());')
        + '}\n@Nested class More {\n'
        + case('more', 'assertEquals(5, Price.tax());')
        + '}\n'
    ),
}


@pytest.fixture(scope='module')
def isolation(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Isolation, Mapping[str, str]]]:
    """What is isolated, and the method ids by name."""
    folder = write(tmp_path_factory.mktemp('isolation') / 'repository', [OLD, NEW])
    repository = Repository(folder / '.git')
    old, new = (repository.commit(git(folder, 'rev-parse', name)) for name in ('HEAD~', 'HEAD'))
    pair = Pair(
        repo=NAME, language='java', walk=Walk.PARENTS, old=old, new=new, old_is_ancestor=True
    )
    kept, _ = sieve(diff(repository, pair), load_profile('default'))
    wanted = [Wanted(method_id=method_id(pair, item), candidate=item) for item in kept]
    with ExitStack() as stack:
        workshop = PairWorkshop(Yards(Site(repository, sandbox='bubblewrap', stack=stack)))
        stack.callback(workshop.close)
        evaluation = evaluate(Once(workshop), pair, wanted)
        subjects = []
        for item in wanted:
            decision = decide(item.candidate, item.method_id, evaluation, build_changed=False)
            if decision.track is not None:
                subjects.append(IsolatedSubject(wanted=item, track=decision.track))
        names = {one.new.test_method: one.method_id for one in subjects}
        tracks = {one.new.test_method: one.track for one in subjects}
        assert tracks == {
            **dict.fromkeys(('updates', 'moves', 'fixed', 'deep', 'first', 'second'), Track.UPDATE),
            **dict.fromkeys(('grows', 'fresh', 'needs', 'counted', 'more'), Track.GENERATION),
            'repaired': Track.REPAIR,
        }
        yield isolate(workshop, pair, subjects, repository), names


def found(isolation: tuple[Isolation, Mapping[str, str]], name: str) -> Isolated:
    return isolation[0].methods[isolation[1][name]]


@pytest.mark.parametrize('name', ['updates', 'moves', 'repaired', 'deep', 'second'])
def test_a_changed_test_agrees_in_both_trees(
    isolation: tuple[Isolation, Mapping[str, str]], name: str
) -> None:
    assert found(isolation, name) == Isolated(
        told_cnew='fail', tnew_cold=None, tnew_cnew='pass', start='valid', agrees=True
    )


@pytest.mark.parametrize('name', ['grows', 'fresh', 'more'])
def test_a_new_test_agrees_in_a_file_that_was_there_in_a_new_one_and_in_a_new_nested_class(
    isolation: tuple[Isolation, Mapping[str, str]], name: str
) -> None:
    assert found(isolation, name) == Isolated(
        told_cnew=None, tnew_cold='compile_error', tnew_cnew='pass', start='valid', agrees=True
    )


def test_a_new_test_that_needs_another_new_file_of_the_tests_is_not_isolated(
    isolation: tuple[Isolation, Mapping[str, str]],
) -> None:
    one = found(isolation, 'needs')
    assert (one.tnew_cnew, one.tnew_cold) == ('compile_error', 'compile_error')
    assert (one.start, one.agrees) == ('valid', False)
    assert one.detail == ('tnew_cnew_isolated is compile_error cant.resolve.location variable Kit')


def test_a_test_that_needs_another_fixture_of_its_file_is_not_isolated_and_starts_nothing(
    isolation: tuple[Isolation, Mapping[str, str]],
) -> None:
    one = found(isolation, 'fixed')
    assert (one.told_cnew, one.tnew_cnew) == ('pass', 'fail')
    assert (one.start, one.agrees) == ('start_pass', False)
    told, new = one.detail.split('; ')
    assert told == 'told_cnew_isolated is pass'
    assert new.startswith('tnew_cnew_isolated is fail java.lang.AssertionError')
    assert new.endswith(', but not with the whole file')


def test_a_start_state_in_which_a_kept_test_no_longer_passes_is_none(
    isolation: tuple[Isolation, Mapping[str, str]],
) -> None:
    one = found(isolation, 'counted')
    assert one.agrees
    assert one.start.startswith('sibling shop.CountTest#counts(): fail ')


def test_what_it_cost_is_told(isolation: tuple[Isolation, Mapping[str, str]]) -> None:
    assert isolation[0].cpu_seconds > 1
    assert list(isolation[0].methods) == sorted(isolation[0].methods)
