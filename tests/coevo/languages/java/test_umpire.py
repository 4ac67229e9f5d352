"""What a project's own `mvn test` says of its tests, and that no text of a test can say it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from coevo.languages.verdicts import ProjectRun
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from tests.coevo.languages.java.maven.test_shapes import JUNIT4, JUPITER, module, root, sibling
from tests.coevo.languages.place import Place, opened

pytestmark = pytest.mark.jvm

LEVEL = """<plugin><groupId>org.apache.maven.plugins</groupId>
    <artifactId>maven-compiler-plugin</artifactId>
    <configuration><source>8</source><target>8</target></configuration></plugin>"""
TESTNG = """<dependency><groupId>org.testng</groupId><artifactId>testng</artifactId>
    <version>7.5.1</version><scope>test</scope></dependency>"""
# A listener of the project's own, and a test that no pattern selects.
OWN = """<plugin><groupId>org.apache.maven.plugins</groupId>
    <artifactId>maven-surefire-plugin</artifactId><configuration><properties><property>
      <name>listener</name><value>shop.Bell</value></property></properties>
      <excludes><exclude>**/LeftOutTest.java</exclude></excludes></configuration></plugin>"""
CORE = """package shop; public class Till {
    public static int sold; public static int price() { return 1; } }"""

HEAD = """package shop;
import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
"""
NEW = {
    'NewTest': """
@TestMethodOrder(MethodOrderer.MethodName.class)
class NewTest extends Base {
    @Test void aSells() { Till.sold++; }
    @Test void comesAfterASale() { assertEquals(1, Till.sold); }
    @Test void fails() { System.out.println("{\\"e\\":\\"outcome\\"}"); fail(); }
    @Test void assumes() { Assumptions.assumeTrue(false); }
    @Disabled @Test void waits() { }
    @ParameterizedTest @ValueSource(ints = {1, 2}) void counts(int n) { assertEquals(1, n); }
    @ParameterizedTest @ValueSource(strings = "a") void counts(String s) { }
    @TestFactory DynamicTest lists() { return DynamicTest.dynamicTest("one", () -> fail()); }
    @Nested class Open { @Test void works() { } }
}""",
    'Base': 'abstract class Base { @Test void inherits() { assertEquals(1, Till.price()); } }',
    'BrokenTest': """class BrokenTest {
    @BeforeAll static void open() { fail(); } @Test void never() { } }""",
    'LaterTest': '@Disabled class LaterTest { @Nested class In { @Test void later() { } } }',
}
NEW_OUTCOMES = {
    'NewTest.aSells': Outcome.PASS,
    'NewTest.comesAfterASale': Outcome.PASS,
    'NewTest.fails': Outcome.FAIL,
    'NewTest.assumes': Outcome.SKIPPED,
    'NewTest.waits': Outcome.SKIPPED,
    'NewTest.counts int': Outcome.FAIL,
    'NewTest.counts String': Outcome.PASS,
    'NewTest.lists': Outcome.FAIL,
    'NewTest$Open.works': Outcome.PASS,
    'Base.inherits': Outcome.PASS,
    'BrokenTest.never': Outcome.FAIL,
    'LaterTest$In.later': Outcome.SKIPPED,
}
OLD = {
    'OldTest': """import static org.junit.Assert.*; import org.junit.*;
public class OldTest {
    @Test public void passes() { assertEquals("rung", System.getProperty("bell")); }
    @Test public void fails() { fail(); }
    @Test public void assumes() { Assume.assumeTrue(false); }
    @Ignore @Test public void waits() { }
}""",
    'RowsTest': """import static org.junit.Assert.*; import org.junit.*;
@org.junit.runner.RunWith(org.junit.runners.Parameterized.class)
public class RowsTest {
    @org.junit.runners.Parameterized.Parameters public static Object[] rows() {
        return new Object[] {1, 2}; }
    private final int row;
    public RowsTest(int row) { this.row = row; }
    @Test public void counts() { assertEquals(1, row); }
}""",
    'BrokenTest': """import org.junit.*;
public class BrokenTest {
    @BeforeClass public static void open() { Assert.fail(); } @Test public void never() { } }""",
    'LeftOutTest': 'public class LeftOutTest { @org.junit.Test public void never() { } }',
    'Bell': """public class Bell extends org.junit.runner.notification.RunListener {
    @Override public void testRunStarted(org.junit.runner.Description all) {
        System.setProperty("bell", "rung"); } }""",
}
OLD_OUTCOMES = {
    'OldTest.passes': Outcome.PASS,
    'OldTest.fails': Outcome.FAIL,
    'OldTest.assumes': Outcome.SKIPPED,
    'OldTest.waits': Outcome.SKIPPED,
    'RowsTest.counts': Outcome.FAIL,
    'BrokenTest.never': Outcome.FAIL,
}
NG = {
    'NgTest': """import org.testng.*; import org.testng.annotations.*;
public class NgTest extends NgBase {
    @Test public void passes() { }
    @Test public void fails() { Assert.fail(); }
    @Test(dependsOnMethods = "fails") public void follows() { }
    @Test(dataProvider = "rows") public void counts(int row) { Assert.assertEquals(row, 1); }
    @DataProvider public Object[][] rows() { return new Object[][] {{1}, {2}}; }
}""",
    'NgBase': 'public class NgBase { @org.testng.annotations.Test public void inherits() { } }',
    'BrokenTest': """import org.testng.*; import org.testng.annotations.*;
public class BrokenTest {
    @BeforeClass public void open() { Assert.fail(); } @Test public void never() { } }""",
}
NG_OUTCOMES = {
    'NgTest.passes': Outcome.PASS,
    'NgTest.fails': Outcome.FAIL,
    'NgTest.follows': Outcome.SKIPPED,
    'NgTest.counts': Outcome.FAIL,
    'NgBase.inherits': Outcome.PASS,
    'BrokenTest.never': Outcome.FAIL,
}


def classes(folder: str, head: str, texts: Mapping[str, str]) -> dict[str, str]:
    place = f'{folder}/src/test/java/shop'
    return {f'{place}/{name}.java': f'{head}{text}\n' for name, text in texts.items()}


PACKAGE = 'package shop;\n'
REACTOR = {
    'pom.xml': root('core', 'new', 'old', 'ng', 'torn'),
    'core/pom.xml': module('core', JUPITER, LEVEL),
    'core/src/main/java/shop/Till.java': CORE,
    **classes('core', HEAD, {'CoreTest': 'class CoreTest { @Test void fails() { fail(); } }'}),
    'new/pom.xml': module('new', JUPITER + sibling('core'), LEVEL),
    **classes('new', HEAD, NEW),
    'old/pom.xml': module('old', JUNIT4 + sibling('core'), LEVEL + OWN),
    **classes('old', PACKAGE, OLD),
    'ng/pom.xml': module('ng', TESTNG + sibling('core'), LEVEL),
    **classes('ng', PACKAGE, NG),
    'torn/pom.xml': module('torn', JUPITER, LEVEL),
    **classes(
        'torn', HEAD, {'TornTest': 'class TornTest { @Test void a() { } @Test void b() { c(); } }'}
    ),
}


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(tmp_path_factory.mktemp('umpire'), [REACTOR]) as found:
        yield found


def method(module: str, name: str) -> TestMethod:
    """The method `CLASS.METHOD PARAMETER…` of a module."""
    (owner, _, called), *parameters = name.split()[0].partition('.'), *name.split()[1:]
    return TestMethod(
        module=module,
        test_file=f'{module}/src/test/java/shop/{owner.partition("$")[0]}.java',
        test_class=f'shop.{owner}',
        test_method=called,
        parameters=tuple(parameters),
    )


def asked(place: Place, module: str, *names: str) -> ProjectRun:
    return place.built.run_project(place.rev, module, [method(module, name) for name in names])


@pytest.mark.slow
@pytest.mark.parametrize(
    ('module', 'outcomes', 'unselected'),
    [
        ('new', NEW_OUTCOMES, 'NewTest.absent'),
        pytest.param('old', OLD_OUTCOMES, 'LeftOutTest.never', marks=pytest.mark.slow),
        pytest.param('ng', NG_OUTCOMES, 'NgTest.rows', marks=pytest.mark.slow),
    ],
)
def test_outcomes_are_those_that_the_runner_reports_of_the_whole_module(
    place: Place, module: str, outcomes: Mapping[str, Outcome], unselected: str
) -> None:
    found = asked(place, module, *outcomes, unselected)
    assert found.failure is None
    assert found.outcomes == {method(module, name): each for name, each in outcomes.items()}
    assert found.cpu_seconds > 0
    again = asked(place, module, *outcomes)
    assert (again.outcomes, again.cpu_seconds) == (found.outcomes, 0)


@pytest.mark.slow
def test_tests_that_do_not_compile_have_no_outcome_and_the_goal_is_named(place: Place) -> None:
    found = asked(place, 'torn', 'TornTest.a', 'TornTest.b')
    assert not found.outcomes
    assert found.failure == 'maven-compiler-plugin:testCompile'
