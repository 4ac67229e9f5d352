"""The worker against real JUnit 3, 4 and 5 classes."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.toolchain import toolchain
from tests.coevo.jvm import JUPITER
from tests.coevo.jvm import PLATFORM
from tests.coevo.jvm import REST
from tests.coevo.jvm import VINTAGE
from tests.coevo.jvm import Ran
from tests.coevo.jvm import Target
from tests.coevo.jvm import javac
from tests.coevo.jvm import libraries
from tests.coevo.jvm import work
from tests.coevo.jvm import write as write_files

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
}


@pytest.fixture(scope='module')
def junit4(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder, path = tmp_path_factory.mktemp('junit4'), libraries(toolchain(), *VINTAGE)
    classes = javac(write_files(folder / 'src', JUNIT4), folder / 'classes', path)
    return [classes, *path, *libraries(toolchain(), *PLATFORM, *REST)]


@pytest.fixture(scope='module')
def junit5(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder, path = tmp_path_factory.mktemp('junit5'), libraries(toolchain(), *JUPITER, *REST)
    path += libraries(toolchain(), *PLATFORM)
    return [javac(write_files(folder / 'src', JUNIT5), folder / 'classes', path), *path]


@pytest.fixture(scope='module')
def ran4(junit4: list[Path]) -> Ran:
    return work([Target(*split(name)) for name in EXPECTED4], junit4)


@pytest.fixture(scope='module')
def ran5(junit5: list[Path]) -> Ran:
    return work([Target(*split(name)) for name in EXPECTED5], junit5)


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
}


@pytest.mark.parametrize('name', EXPECTED4)
def test_junit_3_and_4(name: str, ran4: Ran) -> None:
    index = list(EXPECTED4).index(name)
    assert ran4.outcomes(index) == EXPECTED4[name], ran4.tests(index)


@pytest.mark.parametrize('name', EXPECTED5)
def test_junit_5(name: str, ran5: Ran) -> None:
    index = list(EXPECTED5).index(name)
    assert ran5.outcomes(index) == EXPECTED5[name], ran5.tests(index)


def test_every_target_has_a_begin_and_an_end(ran4: Ran) -> None:
    kinds = [(event['e'], event.get('t')) for event in ran4.events if event['e'] != 'test']
    pairs = [(kind, i) for i in range(len(EXPECTED4)) for kind in ('begin', 'end')]
    assert kinds == [('start', None), *pairs, ('done', None)]
    assert ran4.status == 0  # halted in spite of the thread that a test left behind


def test_a_failure_names_types_frame_and_message(ran4: Ran) -> None:
    (fails,) = ran4.tests(list(EXPECTED4).index('p.PlainTest#fails'))
    assert fails['types'] == ['java.lang.AssertionError']
    assert fails['frame'] == 'p.PlainTest.fails'
    assert fails['message'] == 'expected:<1> but was:<2>'
    (inner,) = ran4.tests(list(EXPECTED4).index('p.PlainTest#lambda'))
    assert inner['frame'] == 'p.PlainTest.lambda$lambda'
    (stub,) = ran4.tests(list(EXPECTED4).index('p.PlainTest#stubbed'))
    assert stub['message'] == 'coevo.stub:p/PlainTest.java:9 cant.resolve'


def test_exit_ends_the_worker_without_an_end_event(junit4: list[Path]) -> None:
    ran = work([Target('exits', ['p.RudeTest']), Target('reads', ['p.RudeTest'])], junit4)
    assert [event['e'] for event in ran.events] == ['start', 'begin']
    assert ran.status == 7


def test_a_class_that_cannot_be_linked_is_an_error(tmp_path: Path, junit4: list[Path]) -> None:
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


def test_mixed_engines_in_one_worker(junit4: list[Path], junit5: list[Path]) -> None:
    ran = work(
        [Target('passes', ['p.PlainTest']), Target('passes', ['q.PlainTest'])], [*junit4, *junit5]
    )
    assert [ran.outcomes(0), ran.outcomes(1)] == [['pass'], ['pass']]
