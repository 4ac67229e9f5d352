"""The worker against real classes of JUnit 3, 4, 5 and 6 and of TestNG, and JUnit's own console."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.oracles.java_cell import fetch_consoles
from coevo.languages.java.tools.toolchain import prepare_toolchain
from coevo.storage.disk import find_cache_folder
from tests.coevo.languages.java.jvm import (
    JUPITER,
    NG,
    PLATFORM,
    REST,
    VINTAGE,
    Ran,
    Target,
    javac,
    libraries,
    work,
    write as write_files,
)

pytestmark = pytest.mark.jvm

JUNIT4 = {
    'p/PlainTest.java': """package p;
        import static org.junit.Assert.*; import org.junit.*;
        public class PlainTest {
            @Test public void passes() { System.out.println("noise"); }
            @Test public void fails() { assertEquals(1, 2); }
            @Test public void breaks() { ((Object) null).toString(); }
            @Test public void assumes() { Assume.assumeTrue(false); }
            @Ignore @Test public void ignored() {}
            @Test public void stubbed() { helper(); }
            static void helper() { throw new Error("coevo.stub:p/PlainTest.java:9 cant.resolve"); }
            @Test public void wrapped() { throw new IllegalStateException("x", stub()); }
            static Throwable stub() { return new Error("coevo.stub:deep"); }
            public void notATest() {}
            @Test public void lambda() { Runnable r = () -> { throw new RuntimeException("in"); };
                r.run(); }
            @Test public void asserts() { assert false; }
        }""",
    'p/StaticTest.java': """package p;
        import org.junit.*;
        public class StaticTest {
            static final int X = Integer.parseInt("none");
            @Test public void never() {}
        }""",
    'p/BeforeClassTest.java': """package p;
        import org.junit.*;
        public class BeforeClassTest {
            @BeforeClass public static void setUp() { throw new RuntimeException("before"); }
            @Test public void never() {}
        }""",
    'p/RowsTest.java': """package p;
        import java.util.*; import org.junit.*; import org.junit.runner.RunWith;
        import org.junit.runners.Parameterized;
        @RunWith(Parameterized.class)
        public class RowsTest {
            @Parameterized.Parameters public static Collection<Object[]> rows() {
                return Arrays.asList(new Object[] {1}, new Object[] {2}); }
            private final int n;
            public RowsTest(int n) { this.n = n; }
            @Test public void small() { Assert.assertTrue(n < 2); }
            @Test public void other() {}
        }""",
    'p/TheoryTest.java': """package p;
        import org.junit.experimental.theories.*; import org.junit.runner.RunWith;
        @RunWith(Theories.class)
        public class TheoryTest {
            @DataPoint public static int one = 1;
            @Theory public void holds(int n) { org.junit.Assert.assertEquals(1, n); }
            @Theory public void other(int n) { throw new RuntimeException(); }
        }""",
    'p/EnclosedTest.java': """package p;
        import org.junit.*; import org.junit.experimental.runners.Enclosed;
        import org.junit.runner.RunWith;
        @RunWith(Enclosed.class)
        public class EnclosedTest {
            public static class Inner { @Test public void inside() {} }
        }""",
    'p/AbstractTest.java': """package p;
        import org.junit.*;
        public abstract class AbstractTest {
            abstract int value();
            @Test public void inherited() { Assert.assertEquals(1, value()); }
        }""",
    'p/OneTest.java': 'package p; public class OneTest extends AbstractTest { int value() { return 1; } }',
    'p/TwoTest.java': 'package p; public class TwoTest extends AbstractTest { int value() { return 2; } }',
    'p/ThreeTest.java': """package p;
        public class ThreeTest extends junit.framework.TestCase {
            public void testOld() { assertTrue(true); }
            public void testBad() { fail("three"); }
        }""",
    'p/SuiteTest.java': """package p;
        import junit.framework.*;
        public class SuiteTest extends TestCase {
            public SuiteTest(String name) { super(name); }
            public static Test suite() {
                TestSuite s = new TestSuite(); s.addTest(new SuiteTest("custom")); return s; }
            public void custom() {}
        }""",
    'p/RulesTest.java': """package p;
        import static org.junit.Assert.*; import org.junit.*; import org.junit.rules.*;
        public class RulesTest {
            @Rule public ExpectedException thrown = ExpectedException.none();
            @Rule public ErrorCollector errors = new ErrorCollector();
            @Test(expected = RuntimeException.class) public void expects() {
                throw new IllegalStateException(); }
            @Test(expected = RuntimeException.class) public void expectsInVain() {}
            @Test(expected = RuntimeException.class) public void expectsAnother() throws Exception {
                throw new Exception(); }
            @Test public void ruleExpects() { thrown.expect(RuntimeException.class); }
            @Test(timeout = 50) public void slow() throws Exception { Thread.sleep(60000); }
            @Test public void collects() { errors.addError(new Error("coevo.stub:in a list"));
                errors.addError(new Error("other")); }
            @Test public void twice() { errors.addError(new RuntimeException("1"));
                errors.addError(new RuntimeException("2")); }
        }""",
    'p/ClassRuleTest.java': """package p;
        import org.junit.*; import org.junit.rules.*;
        public class ClassRuleTest {
            @ClassRule public static ExternalResource rule = new ExternalResource() {
                protected void before() throws Throwable { throw new Exception("rule"); } };
            @Test public void never() {}
        }""",
    'p/ConstructorTest.java': """package p;
        import org.junit.*;
        public class ConstructorTest {
            public ConstructorTest() { throw new RuntimeException("constructor"); }
            @Test public void never() {}
        }""",
    'p/AssumesTest.java': """package p;
        import org.junit.*;
        public class AssumesTest {
            @BeforeClass public static void setUp() { Assume.assumeTrue(false); }
            @Test public void never() {}
        }""",
    'p/TearDownTest.java': """package p;
        import org.junit.*;
        public class TearDownTest {
            @AfterClass public static void tearDown() { throw new RuntimeException("after"); }
            @Test public void runs() {}
        }""",
    'p/NoRowsTest.java': """package p;
        import java.util.*; import org.junit.*; import org.junit.runner.RunWith;
        import org.junit.runners.Parameterized;
        @RunWith(Parameterized.class)
        public class NoRowsTest {
            @Parameterized.Parameters public static Collection<Object[]> rows() {
                throw new IllegalStateException("no rows"); }
            public NoRowsTest(int n) {}
            @Test public void never() {}
        }""",
    'p/OwnRunnerTest.java': """package p;
        import org.junit.*; import org.junit.runner.*; import org.junit.runner.notification.*;
        @RunWith(OwnRunnerTest.Own.class)
        public class OwnRunnerTest {
            @Test public void good() {}
            @Test public void bad() {}
            @Test public void left() {}
            public static class Own extends Runner {
                private final Class<?> type;
                public Own(Class<?> type) { this.type = type; }
                private Description of(String name) {
                    return Description.createTestDescription(type, name); }
                public Description getDescription() {
                    Description all = Description.createSuiteDescription(type);
                    all.addChild(of("good")); all.addChild(of("bad")); return all; }
                public void run(RunNotifier to) {
                    for (String name : new String[] {"good", "bad"}) {
                        to.fireTestStarted(of(name));
                        if (name.equals("bad")) {
                            to.fireTestFailure(new Failure(of(name), new AssertionError())); }
                        to.fireTestFinished(of(name)); } }
                static class Failure extends org.junit.runner.notification.Failure {
                    Failure(Description of, Throwable thrown) { super(of, thrown); } }
            }
        }""",
    'p/NestedTest.java': """package p;
        import org.junit.*;
        public class NestedTest {
            public void same() {}
            @Test public void other() {}
            public static class Inner { @Test public void same() {} }
        }""",
    'p/PrivateTest.java': """package p;
        import org.junit.*;
        public class PrivateTest {
            @Test void hidden() {}
        }""",
    'p/RudeTest.java': """package p;
        import org.junit.*;
        public class RudeTest {
            @Test public void exits() { System.exit(7); }
            @Test public void prints() {
                char[] c = new char[1 << 20]; java.util.Arrays.fill(c, 'x');
                System.out.println(c); System.err.println(c); }
            @Test public void reads() throws Exception { Assert.assertEquals(-1, System.in.read()); }
            @Test public void leaves() {
                new Thread(() -> { while (true) { Thread.yield(); } }).start(); }
            @Test public void closes() { System.out.close(); System.err.close(); }
            @Test public void recurses() { recurses(); }
            @Test public void badMessage() { throw new RuntimeException() {
                public String getMessage() { throw new IllegalStateException(); } }; }
        }""",
}

JUNIT5 = {
    'q/PlainTest.java': """package q;
        import static org.junit.jupiter.api.Assertions.*;
        import java.util.stream.Stream; import org.junit.jupiter.api.*;
        import org.junit.jupiter.params.ParameterizedTest;
        import org.junit.jupiter.params.provider.ValueSource;
        class PlainTest {
            @Test void passes() {}
            @Test void overloaded() { fail("wrong one"); }
            @Test void overloaded(TestInfo info) {}
            @Test void fails() { assertEquals("a", "b"); }
            @Test void throwsOther() { assertThrows(IllegalStateException.class,
                () -> { throw new RuntimeException("r"); }); }
            @Test void stubbedLambda() { assertThrows(IllegalStateException.class,
                () -> { throw new Error("coevo.stub:here"); }); }
            @Test void all() { assertAll(() -> { throw new Error("coevo.stub:all"); }); }
            @Disabled("why") @Test void disabled() {}
            @Test void assumes() { Assumptions.assumeTrue(false); }
            @ParameterizedTest @ValueSource(ints = {1, 2, 3}) void rows(int n) { assertTrue(n < 3); }
            @RepeatedTest(2) void again() {}
            @TestFactory Stream<DynamicTest> made() {
                return Stream.of(DynamicTest.dynamicTest("one", () -> {}),
                    DynamicTest.dynamicTest("two", () -> fail("two"))); }
            @Nested class Inner { @Test void nested() {} }
        }""",
    'q/BeforeTest.java': """package q;
        import org.junit.jupiter.api.*;
        class BeforeTest {
            @BeforeAll static void setUp() { throw new RuntimeException("before"); }
            @Test void never() {}
        }""",
    'q/DisabledTest.java': """package q;
        import org.junit.jupiter.api.*;
        @Disabled class DisabledTest { @Test void never() {} }""",
    'q/Contract.java': """package q;
        import org.junit.jupiter.api.*;
        interface Contract { int value();
            @Test default void agreed() { Assertions.assertEquals(1, value()); } }""",
    'q/ContractTest.java': """package q;
        class ContractTest implements Contract { public int value() { return 1; } }""",
    'q/KindsTest.java': """package q;
        import static org.junit.jupiter.api.Assertions.*;
        import java.lang.annotation.*; import java.util.*; import java.util.stream.*;
        import org.junit.jupiter.api.*; import org.junit.jupiter.api.condition.*;
        import org.junit.jupiter.api.extension.*;
        import org.junit.jupiter.params.ParameterizedTest;
        import org.junit.jupiter.params.provider.*;
        @TestInstance(TestInstance.Lifecycle.PER_CLASS)
        @TestMethodOrder(MethodOrderer.MethodName.class)
        class KindsTest {
            @Retention(RetentionPolicy.RUNTIME) @Test @interface Fast {}
            int n;
            @BeforeAll void notStatic() { n = 3; }
            @Fast void meta() { assertEquals(3, n); }
            @ParameterizedTest @MethodSource("none") void noRows(int n) {}
            static Stream<Integer> none() { return Stream.empty(); }
            @ParameterizedTest @MethodSource("absent") void badRows(int n) {}
            @ParameterizedTest @ValueSource(strings = {"x"}) void unconvertible(int n) {}
            @EnabledOnOs(OS.WINDOWS) @Test void elsewhere() {}
            @TestTemplate @ExtendWith(Twice.class) void template(String s) { assertEquals("a", s); }
            @TestTemplate void templateWithout(String s) {}
            @TestFactory List<DynamicNode> nothing() { return List.of(); }
            @TestFactory List<DynamicNode> deep() {
                return List.of(DynamicContainer.dynamicContainer("c", List.of(
                    DynamicTest.dynamicTest("d", java.net.URI.create("method:q.PlainTest#passes"),
                        () -> fail("d"))))); }
            @Test void unresolved(StringBuilder no) {}
            @Test static void isStatic() {}
            @Test int returns() { return 1; }
            @Test @Timeout(value = 50, unit = java.util.concurrent.TimeUnit.MILLISECONDS)
            void slow() throws Exception { Thread.sleep(60000); }
            @Test void twoFail() { assertAll(() -> fail("1"), () -> fail("2")); }
            void same() {}
            void same(TestInfo info) {}
            @Nested class Inner { @Test void same() {} }
            @RepeatedTest(2) void again(RepetitionInfo at) {
                assertEquals(1, at.getCurrentRepetition()); }
            <T extends Number> void rows(T[] t, Map.Entry<String, int[]>... e) { fail("wrong"); }
            @ParameterizedTest @MethodSource("kinds")
            <T extends Number> void rows(T t, List<? super T> l, int... i) {}
            static Stream<Arguments> kinds() {
                return Stream.of(Arguments.of(1, List.of(), new int[0])); }
            static class Twice implements TestTemplateInvocationContextProvider, ParameterResolver {
                public boolean supportsTestTemplate(ExtensionContext c) { return true; }
                public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(
                    ExtensionContext c) { return Stream.of(given("a"), given("b")); }
                public boolean supportsParameter(ParameterContext p, ExtensionContext c) {
                    return false; }
                public Object resolveParameter(ParameterContext p, ExtensionContext c) {
                    return null; }
                TestTemplateInvocationContext given(String s) {
                    return new TestTemplateInvocationContext() {
                        public List<Extension> getAdditionalExtensions() {
                            return List.of(new ParameterResolver() {
                                public boolean supportsParameter(
                                    ParameterContext p, ExtensionContext c) { return true; }
                                public Object resolveParameter(
                                    ParameterContext p, ExtensionContext c) { return s; } }); } }; }
            }
        }""",
    'q/BrokenTest.java': """package q;
        import org.junit.jupiter.api.*;
        class BrokenTest {
            BrokenTest(int n) {}
            @Test void never() {}
        }""",
    'q/AfterTest.java': """package q;
        import org.junit.jupiter.api.*;
        class AfterTest {
            @AfterAll static void tearDown() { throw new RuntimeException("after"); }
            @Test void runs() {}
        }""",
    'q/AssumesTest.java': """package q;
        import org.junit.jupiter.api.*;
        class AssumesTest {
            @BeforeAll static void setUp() { Assumptions.assumeTrue(false); }
            @Test void never() {}
        }""",
    'q/BadSetUpTest.java': """package q;
        import org.junit.jupiter.api.*;
        class BadSetUpTest {
            @BeforeAll void setUp() {}
            @Test void never() {}
        }""",
    'q/Base.java': """package q;
        import org.junit.jupiter.api.*;
        abstract class Base {
            abstract int value();
            @Nested class Inner {
                @Test void inherited() { Assertions.assertEquals(1, value()); } }
        }""",
    'q/OneTest.java': 'package q; class OneTest extends Base { int value() { return 1; } }',
    'q/TwoTest.java': 'package q; class TwoTest extends Base { int value() { return 2; } }',
}

TESTNG = {
    'r/PlainTest.java': """package r;
        import static org.testng.Assert.*; import org.testng.*; import org.testng.annotations.*;
        @Test(groups = "fast")
        public class PlainTest {
            public void passes() {}
            public void fails() { assertEquals(1, 2); }
            public void breaks() { throw new IllegalStateException(); }
            public void stubbed() { throw new Error("coevo.stub:here"); }
            public void skips() { throw new SkipException("why"); }
            void notPublic() {}
            @Test(enabled = false) public void disabled() {}
            @Test(dependsOnMethods = "fails") public void afterBad() {}
            @Test(dependsOnMethods = "passes") public void afterGood() {}
            @Test(expectedExceptions = RuntimeException.class) public void expects() {
                throw new IllegalStateException(); }
            @Test(expectedExceptions = RuntimeException.class) public void expectsInVain() {}
            @Test(dataProvider = "rows") public void rows(int n) { assertTrue(n < 3); }
            @Test(dataProvider = "rows") public void goodRows(int n) {}
            @Test(dataProvider = "none") public void noRows(int n) {}
            @Test(dataProvider = "bad") public void badRows(int n) {}
            @DataProvider public Object[][] rows() { return new Object[][] {{1}, {2}, {3}}; }
            @DataProvider public Object[][] none() { return new Object[0][]; }
            @DataProvider public Object[][] bad() { throw new IllegalStateException(); }
            @Test(invocationCount = 2) public void again() {}
            public void overloaded() { fail("wrong one"); }
            @Parameters("p") public void overloaded(@Optional("x") String p) {}
            @Test(timeOut = 50) public void slow() throws Exception { Thread.sleep(60000); }
            @Test(successPercentage = 50, invocationCount = 2) public void half() { n++;
                assertEquals(n, 1); }
            int n;
        }""",
    'r/NowhereTest.java': """package r;
        import org.testng.annotations.*;
        public class NowhereTest {
            @Test(dependsOnGroups = "nowhere") public void never() {}
            @Test public void neighbour() {}
        }""",
    'r/SetUpTest.java': """package r;
        import org.testng.annotations.*;
        public class SetUpTest {
            @BeforeClass public void setUp() { throw new RuntimeException("before"); }
            @Test public void never() {}
        }""",
    'r/SuiteSetUp.java': """package r;
        import org.testng.annotations.*;
        public abstract class SuiteSetUp {
            static int once;
            @BeforeSuite public void suite() { once++; }
            @BeforeMethod public void method() { once++; }
            @Test public void inherited() { org.testng.Assert.assertTrue(once >= value()); }
            abstract int value();
        }""",
    'r/OneTest.java': 'package r; public class OneTest extends SuiteSetUp { int value() { return 2; } }',
    'r/TwoTest.java': 'package r; public class TwoTest extends SuiteSetUp { int value() { return 99; } }',
}


@pytest.fixture(scope='module')
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All test classes, compiled at once; a test's class path has the libraries of one framework."""
    folder = tmp_path_factory.mktemp('classes')
    path = libraries(prepare_toolchain(), *VINTAGE, *JUPITER, *NG, *REST)
    sources = {**JUNIT4, **JUNIT5, **TESTNG}
    return javac(write_files(folder / 'src', sources), folder / 'classes', path)


@pytest.fixture(scope='module')
def junit4(classes: Path) -> list[Path]:
    return [classes, *libraries(prepare_toolchain(), *VINTAGE, *PLATFORM, *REST)]


@pytest.fixture(scope='module')
def junit5(classes: Path) -> list[Path]:
    return [classes, *libraries(prepare_toolchain(), *JUPITER, *REST, *PLATFORM)]


@pytest.fixture(scope='module')
def testng(classes: Path) -> list[Path]:
    return [classes, *libraries(prepare_toolchain(), *NG, *REST, *PLATFORM)]


@pytest.fixture(scope='module')
def ran4(junit4: list[Path]) -> Ran:
    return work([Target(*split(name)) for name in EXPECTED4], junit4)


@pytest.fixture(scope='module')
def ran5(junit5: list[Path]) -> Ran:
    return work([Target(*split(name)) for name in EXPECTED5], junit5)


@pytest.fixture(scope='module')
def ran_ng(testng: list[Path]) -> Ran:
    return work([Target(*split(name)) for name in EXPECTED_NG], testng)


def split(name: str) -> tuple[str, list[str], list[str]]:
    classes, _, rest = name.partition('#')
    method, _, parameters = rest.rstrip(')').partition('(')
    return method, classes.split(','), parameters.split(',') if parameters else []


EXPECTED4 = {
    'p.PlainTest#passes': ['pass'],
    'p.PlainTest#fails': ['fail'],
    'p.PlainTest#breaks': ['error'],
    'p.PlainTest#assumes': ['skipped'],
    'p.PlainTest#ignored': ['skipped'],
    'p.PlainTest#stubbed': ['compile_error'],
    'p.PlainTest#wrapped': ['compile_error'],
    'p.PlainTest#lambda': ['error'],
    'p.PlainTest#asserts': ['fail'],
    'p.PlainTest#notATest': [],
    'p.PlainTest#absent': [],
    'p.AbsentTest#absent': [],
    'p.StaticTest#never': ['error'],
    'p.BeforeClassTest#never': ['error'],
    'p.RowsTest#small': ['fail', 'pass'],
    'p.TheoryTest#holds(int)': ['pass'],
    'p.EnclosedTest$Inner#inside': ['pass'],
    'p.OneTest,p.TwoTest#inherited': ['fail', 'pass'],
    'p.ThreeTest#testOld': ['pass'],
    'p.ThreeTest#testBad': ['fail'],
    'p.SuiteTest#custom': ['pass'],
    'p.RulesTest#expects': ['pass'],
    'p.RulesTest#expectsInVain': ['fail'],
    'p.RulesTest#expectsAnother': ['error'],
    'p.RulesTest#ruleExpects': ['fail'],
    'p.RulesTest#slow': ['error'],
    'p.RulesTest#collects': ['compile_error'],
    'p.RulesTest#twice': ['fail'],
    'p.ClassRuleTest#never': ['error'],
    'p.ConstructorTest#never': ['error'],
    'p.AssumesTest#never': ['skipped'],
    'p.TearDownTest#runs': ['error', 'pass'],
    'p.NoRowsTest#never': ['error'],
    'p.OwnRunnerTest#good': ['pass'],
    'p.OwnRunnerTest#bad': ['fail'],
    'p.OwnRunnerTest#left': [],
    'p.NestedTest#same': [],
    'p.NestedTest$Inner#same': ['pass'],
    'p.PrivateTest#hidden': ['error'],
    'p.RudeTest#prints': ['pass'],
    'p.RudeTest#reads': ['pass'],
    'p.RudeTest#leaves': ['pass'],
    'p.RudeTest#recurses': ['error'],
    'p.RudeTest#badMessage': ['error'],
    'p.RudeTest#closes': ['pass'],
}

EXPECTED5 = {
    'q.PlainTest#passes': ['pass'],
    'q.PlainTest#overloaded': ['fail'],
    'q.PlainTest#overloaded(TestInfo)': ['pass'],
    'q.PlainTest#fails': ['fail'],
    'q.PlainTest#throwsOther': ['fail'],
    'q.PlainTest#stubbedLambda': ['compile_error'],
    'q.PlainTest#all': ['compile_error'],
    'q.PlainTest#disabled': ['skipped'],
    'q.PlainTest#assumes': ['skipped'],
    'q.PlainTest#rows(int)': ['fail', 'pass', 'pass'],
    'q.PlainTest#again': ['pass', 'pass'],
    'q.PlainTest#made': ['fail', 'pass'],
    'q.PlainTest$Inner#nested': ['pass'],
    'q.PlainTest#absent': [],
    'q.BeforeTest#never': ['error'],
    'q.DisabledTest#never': ['skipped'],
    'q.ContractTest#agreed': ['pass'],
    'q.KindsTest#meta': ['pass'],
    'q.KindsTest#noRows(int)': ['error'],
    'q.KindsTest#badRows(int)': ['error'],
    'q.KindsTest#unconvertible(int)': ['error'],
    'q.KindsTest#elsewhere': ['skipped'],
    'q.KindsTest#template(String)': ['fail', 'pass'],
    'q.KindsTest#templateWithout(String)': ['error'],
    'q.KindsTest#nothing': [],
    'q.KindsTest#deep': ['fail'],
    'q.KindsTest#unresolved(StringBuilder)': ['error'],
    'q.KindsTest#isStatic': [],
    'q.KindsTest#returns': [],
    'q.KindsTest#slow': ['error'],
    'q.KindsTest#twoFail': ['fail'],
    'q.KindsTest#same': [],
    'q.KindsTest#same(TestInfo)': [],
    'q.KindsTest$Inner#same': ['pass'],
    'q.KindsTest#again(RepetitionInfo)': ['fail', 'pass'],
    'q.KindsTest#rows(Number,List,int[])': ['pass'],
    'q.KindsTest#rows(Number[],Entry[])': [],
    'q.BrokenTest#never': ['error'],
    'q.AfterTest#runs': ['error', 'pass'],
    'q.AssumesTest#never': ['skipped'],
    'q.BadSetUpTest#never': ['error'],
}

# Where JUnit 6 differs from 5.
EXPECTED6: dict[str, list[str]] = {}

EXPECTED_NG = {
    'r.PlainTest#passes': ['pass'],
    'r.PlainTest#fails': ['fail'],
    'r.PlainTest#breaks': ['error'],
    'r.PlainTest#stubbed': ['compile_error'],
    'r.PlainTest#skips': ['skipped'],
    'r.PlainTest#notPublic': [],
    'r.PlainTest#disabled': [],
    'r.PlainTest#afterBad': ['skipped'],
    'r.PlainTest#afterGood': ['pass'],
    'r.NowhereTest#never': ['error'],
    'r.NowhereTest#neighbour': ['pass'],
    'r.PlainTest#expects': ['pass'],
    'r.PlainTest#expectsInVain': ['error'],
    'r.PlainTest#rows(int)': ['fail', 'pass', 'pass'],
    'r.PlainTest#goodRows(int)': ['pass', 'pass', 'pass'],
    'r.PlainTest#noRows(int)': [],
    'r.PlainTest#badRows(int)': ['skipped'],
    'r.PlainTest#again': ['pass', 'pass'],
    'r.PlainTest#overloaded': ['fail'],
    'r.PlainTest#overloaded(String)': ['pass'],
    'r.PlainTest#slow': ['error'],
    'r.PlainTest#half': ['pass', 'pass'],
    'r.PlainTest#absent': [],
    'r.SetUpTest#never': ['error', 'skipped'],
    'r.OneTest,r.TwoTest#inherited': ['fail', 'pass'],
}


@pytest.mark.sampled(15)
@pytest.mark.parametrize('name', EXPECTED4)
def test_junit_3_and_4_tests_get_their_expected_outcomes(name: str, ran4: Ran) -> None:
    index = list(EXPECTED4).index(name)
    assert ran4.outcomes(index) == EXPECTED4[name], ran4.tests(index)


@pytest.mark.parametrize('name', EXPECTED5)
def test_junit_5_tests_get_their_expected_outcomes(name: str, ran5: Ran) -> None:
    index = list(EXPECTED5).index(name)
    assert ran5.outcomes(index) == EXPECTED5[name], ran5.tests(index)


@pytest.mark.parametrize('name', EXPECTED_NG)
def test_testng_tests_get_their_expected_outcomes(name: str, ran_ng: Ran) -> None:
    index = list(EXPECTED_NG).index(name)
    assert ran_ng.outcomes(index) == EXPECTED_NG[name], ran_ng.tests(index)


@pytest.fixture(scope='module')
def consoles() -> dict[str, Path]:
    return fetch_consoles(find_cache_folder() / 'consoles')


@pytest.mark.slow
@pytest.mark.parametrize('expected', [EXPECTED4, EXPECTED5], ids=['JUnit 3 and 4', 'JUnit 5'])
def test_junit_6_gives_the_same_outcomes(
    expected: dict[str, list[str]],
    junit4: list[Path],
    junit5: list[Path],
    consoles: dict[str, Path],
) -> None:
    path = [
        junit4[0],
        junit5[0],
        consoles['6'],
        *libraries(prepare_toolchain(), 'junit', 'hamcrest-core'),
    ]
    ran = work([Target(*split(name)) for name in expected], path)
    got = {name: ran.outcomes(index) for index, name in enumerate(expected)}
    assert got == {**expected, **{n: o for n, o in EXPECTED6.items() if n in expected}}


@pytest.mark.slow
def test_junit_console_gives_the_same_outcomes(
    junit4: list[Path],
    junit5: list[Path],
    consoles: dict[str, Path],
    ran4: Ran,
    ran5: Ran,
    tmp_path: Path,
) -> None:
    """Worst outcomes of all methods without parameters and stubs, which only the worker knows."""
    ours = {
        (name, split(name)[0]): worst(ran.outcomes(index))
        for ran, table in ((ran4, EXPECTED4), (ran5, EXPECTED5))
        for index, name in enumerate(table)
        if table[name] and table[name] != ['compile_error']
        if not split(name)[2] and 'Rude' not in name
    }
    chosen = [f'{one}#{method}' for name, method in ours for one in split(name)[1]]
    path = [junit4[0], junit5[0], *libraries(prepare_toolchain(), 'junit', 'hamcrest-core')]
    command = [str(prepare_toolchain().java), '-ea', '-jar', str(consoles['5.11']), 'execute']
    command += ['--class-path', os.pathsep.join(map(str, path)), f'--reports-dir={tmp_path}']
    command += [f'--select-method={one}' for one in chosen]
    subprocess.run(command, check=False, capture_output=True)
    for (name, method), outcome in ours.items():
        said = [o for one in split(name)[1] for o in console_outcomes(tmp_path, one, method)]
        assert worst(said) == outcome, name


def console_outcomes(folder: Path, type_: str, method: str) -> Iterator[str]:
    kinds = {'error': 'error', 'failure': 'fail', 'skipped': 'skipped'}
    for file in folder.glob('TEST-*.xml'):
        for case in ElementTree.parse(file).iter('testcase'):
            name = re.split(r'[\[(]', str(case.get('name')))[0]
            if case.get('classname') == type_ and name in (method, 'initializationError'):
                yield next((kinds[child.tag] for child in case if child.tag in kinds), 'pass')


def worst(outcomes: Sequence[str]) -> str:
    order = ('compile_error', 'error', 'fail', 'skipped', 'pass')
    return min(outcomes, key=order.index, default='missing')


def test_every_target_has_a_begin_and_an_end_event(ran4: Ran) -> None:
    kinds = [(event['e'], event.get('t')) for event in ran4.events if event['e'] != 'test']
    pairs = [(kind, i) for i in range(len(EXPECTED4)) for kind in ('begin', 'end')]
    assert kinds == [('start', None), *pairs, ('done', None)]
    assert ran4.status == 0  # halted in spite of the thread that a test left behind


def test_failure_event_names_types_frame_and_message(ran4: Ran) -> None:
    (fails,) = ran4.tests(list(EXPECTED4).index('p.PlainTest#fails'))
    assert fails['types'] == ['java.lang.AssertionError']
    assert fails['frame'] == 'p.PlainTest.fails'
    assert fails['message'] == 'expected:<1> but was:<2>'
    (inner,) = ran4.tests(list(EXPECTED4).index('p.PlainTest#lambda'))
    assert inner['frame'] == 'p.PlainTest.lambda$lambda'
    (stub,) = ran4.tests(list(EXPECTED4).index('p.PlainTest#stubbed'))
    assert stub['message'] == 'coevo.stub:p/PlainTest.java:9 cant.resolve'


def test_system_exit_ends_the_worker_without_an_end_event(junit4: list[Path]) -> None:
    ran = work([Target('exits', ['p.RudeTest']), Target('reads', ['p.RudeTest'])], junit4)
    assert [event['e'] for event in ran.events] == ['start', 'begin']
    assert ran.status == 7


def test_test_class_that_cannot_be_linked_gives_an_error(
    tmp_path: Path, junit4: list[Path]
) -> None:
    source = {
        'p/Gone.java': 'package p; public class Gone {}',
        'p/LinkTest.java': """package p;
            public class LinkTest { public Gone f(Gone g) { return g; }
            @org.junit.Test public void t() {} }""",
    }
    classes = javac(write_files(tmp_path / 'src', source), tmp_path / 'classes', junit4)
    (classes / 'p' / 'Gone.class').unlink()
    ran = work([Target('t', ['p.LinkTest'])], [classes, *junit4])
    assert ran.outcomes(0) == ['error']
    assert ran.done


def test_one_worker_runs_tests_of_several_engines(junit4: list[Path], junit5: list[Path]) -> None:
    ran = work(
        [Target('passes', ['p.PlainTest']), Target('passes', ['q.PlainTest'])], [*junit4, *junit5]
    )
    assert [ran.outcomes(0), ran.outcomes(1)] == [['pass'], ['pass']]
