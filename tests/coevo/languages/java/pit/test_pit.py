"""PIT under one test method alone: what JUnit would run beside it kills no mutant, and harms none."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack

import pytest

from coevo.git.repository import Repository
from coevo.languages.java.built_pair import JavaBuiltPair
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.languages.mutation import ByteCodeMutants
from coevo.languages.verdicts import PLAIN, RunConditions
from coevo.model.quality import PitTrouble
from coevo.model.records import TestMethod
from tests.coevo.languages.java.jvm import jdk_of
from tests.coevo.languages.java.maven.test_shapes import JUNIT4, JUPITER, module, root
from tests.coevo.languages.place import built_alone
from tests.projects import write
from tests.repos import git

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(1500)]

OPTIONS = """<plugin><groupId>org.apache.maven.plugins</groupId>
    <artifactId>maven-compiler-plugin</artifactId><version>3.8.1</version><configuration>
    <source>8</source><target>8</target></configuration></plugin>
    <plugin><groupId>org.apache.maven.plugins</groupId>
    <artifactId>maven-surefire-plugin</artifactId><configuration>
    <argLine>"-Dsaid=it's \\ here"</argLine></configuration></plugin>"""

TESTNG = """<dependency><groupId>org.testng</groupId><artifactId>testng</artifactId>
    <version>6.14.3</version><scope>test</scope></dependency>"""

# Of `12 * n` and of what is returned there is a mutant each: `12 / n`, and 0.
TILL = """package shop;
public class Till {
    public static int price(int n) {
        return 12 * n;
    }
    static class Inner {
        static boolean open(int n) {
            return n > 0;
        }
    }
}
"""
HEAD5 = """package shop;
import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
"""
TESTS = {
    'five/src/test/java/shop/FiveTest.java': HEAD5
    + """class FiveTest {
    @BeforeAll static void before() { assertEquals(24, Till.price(2)); }
    @Test void one() { assertEquals(12, Till.price(1)); }
    @Test void neighbour() { assertEquals(24, Till.price(2)); }
    @Test void broken() { fail(); }
    @Test void opens() { assertTrue(Till.Inner.open(1)); }
}
""",
    'five/src/test/java/shop/NamesTest.java': HEAD5
    + """class NamesTest {
    @Test void price() { assertEquals(12, Till.price(1)); }
    @ParameterizedTest @ValueSource(ints = {1, 2}) void price(int n) {
        assertEquals(12 * n, Till.price(n));
    }
    @Test void said() { assertEquals("it's \\\\ here", System.getProperty("said")); Till.price(1); }
    @Nested class Inside {
        @Test void price() { Till.price(1); }
        @Test void asserts() { assertEquals(12, Till.price(1)); }
    }
}
""",
    'four/src/test/java/shop/FourTest.java': """package shop;
import static org.junit.Assert.*;
import org.junit.*;
public class FourTest {
    @BeforeClass public static void before() { }
    @Test public void calls() { Till.price(2); }
    @Test public void asserts() { assertEquals(24, Till.price(2)); }
    @Test public void exits() { System.exit(0); }
    @Test public void absent() { }
}
""",
    'ng/src/test/java/shop/NgTest.java': """package shop;
import static org.testng.Assert.*;
import org.testng.annotations.*;
public class NgTest {
    @Test public void one() { assertEquals(Till.price(1), 12); }
    @Test public void neighbour() { assertEquals(Till.price(2), 24); }
}
""",
}
MODULES = {'Five': 'five', 'Name': 'five', 'Four': 'four', 'NgTe': 'ng'}


# JDK 8 has a release of PIT of its own.
@pytest.fixture(scope='module', params=[None, 8], ids=['usual', '8'])
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JavaBuiltPair]:
    jdk = jdk_of(request.param)
    files = {
        'pom.xml': root('five', 'four', 'ng'),
        'five/pom.xml': module('five', JUPITER, OPTIONS),
        'four/pom.xml': module('four', JUNIT4, OPTIONS),
        'ng/pom.xml': module('ng', TESTNG, OPTIONS),
        **{f'{name}/src/main/java/shop/Till.java': TILL for name in ('five', 'four', 'ng')},
        **TESTS,
    }
    folder = write(tmp_path_factory.mktemp('pit') / 'repository', [files])
    with ExitStack() as stack:
        run = JavaRunContext(Repository(folder / '.git'), sandbox='bubblewrap', stack=stack)
        rev = git(folder, 'rev-parse', 'HEAD').strip()
        found = built_alone(run.repository, SharedBuilds(run, jdk), rev)
        stack.callback(found.worker.close)
        yield found


def mutated(
    built: JavaBuiltPair,
    test: str,
    parameters: tuple[str, ...] = (),
    conditions: RunConditions = PLAIN,
    lines: Collection[int] = range(1, 99),
) -> ByteCodeMutants:
    rev = built.new.rev
    name, _, method = test.partition('#')
    place = MODULES[name[:4]]
    found = TestMethod(
        module=place,
        test_file=f'{place}/src/test/java/shop/{name.partition("$")[0]}.java',
        test_class=f'shop.{name}',
        test_method=method,
        parameters=parameters,
    )
    compiled = built.compile(rev, rev, place)
    return built.mutate(compiled, found, {'shop.Till': lines}, conditions)


def killed(found: ByteCodeMutants, method: str = 'price') -> list[bool | None]:
    assert found.trouble is None, found.said
    return sorted(bool(one.killed) for one in found.mutants if one.method == method)


@pytest.mark.parametrize(
    ('test', 'parameters', 'expected'),
    [
        pytest.param('FiveTest#one', (), [True, True], id='its own fixtures kill'),
        pytest.param('FiveTest#opens', (), [True, True], id='by fixtures alone'),
        pytest.param('NamesTest#price', (), [False, True], id='an overload does not'),
        pytest.param('NamesTest#price', ('int',), [True, True], id='each invocation does'),
        pytest.param('NamesTest#said', (), [False, False], id='options of the JVM'),
        pytest.param('NamesTest$Inside#price', (), [False, False], id='a nested class'),
        pytest.param('NamesTest$Inside#asserts', (), [False, True], id='a nested neighbour'),
        pytest.param('FourTest#calls', (), [False, False], id='JUnit 4 with fixtures'),
        pytest.param('FourTest#asserts', (), [True, True], id='JUnit 4 that asserts'),
        pytest.param('NgTest#one', (), [False, True], id='TestNG'),
        pytest.param('FourTest#absent', (), [False, False], id='what calls nothing'),
    ],
)
def test_mutants_are_killed_only_by_the_method_and_its_fixtures(
    built: JavaBuiltPair,
    test: str,
    parameters: tuple[str, ...],
    expected: list[bool],
) -> None:
    assert killed(mutated(built, test, parameters)) == expected


def test_mutants_of_a_type_include_those_of_its_nested_types(built: JavaBuiltPair) -> None:
    found = mutated(built, 'FiveTest#opens')

    assert killed(found, 'open') == [False, False, True]
    assert {one.type for one in found.mutants} == {'shop.Till', 'shop.Till$Inner'}


def test_only_requested_lines_are_mutated(
    built: JavaBuiltPair,
) -> None:
    found = mutated(built, 'NgTest#one', lines=(1, 4, 5, 8))

    assert sorted((one.line, one.method) for one in found.mutants) == [
        (4, 'price'),
        (4, 'price'),
        *[(8, 'open')] * 3,
    ]


@pytest.mark.parametrize(
    ('test', 'limit', 'trouble'),
    [
        ('FourTest#exits', None, PitTrouble.NO_REPORT),
        ('FiveTest#broken', None, PitTrouble.NO_REPORT),
        ('FiveTest#nowhere', None, PitTrouble.NO_REPORT),
        ('NgTest$No#nowhere', None, PitTrouble.NOT_COMPILED),
        ('FourTest#calls', 0.5, PitTrouble.TIME),
    ],
)
def test_pit_run_without_mutants_has_a_reason(
    built: JavaBuiltPair, test: str, limit: float | None, trouble: PitTrouble
) -> None:
    found = mutated(built, test, conditions=RunConditions(process_cpu_limit=limit))

    assert (found.mutants, found.trouble) == ((), trouble)
