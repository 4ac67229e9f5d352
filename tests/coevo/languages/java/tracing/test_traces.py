"""What test methods execute: real JVMs with JaCoCo's agent on a small reactor."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pytest

from coevo.languages.cells import CellEdits, CompiledTests
from coevo.languages.verdicts import Trace
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from tests.coevo.languages.java.maven.test_shapes import JUNIT4, JUPITER, module, root, sibling
from tests.coevo.languages.place import Place, opened

# Its first test waits for some thirty JVMs.
pytestmark = [pytest.mark.jvm, pytest.mark.timeout(1500)]

COMPILER = """<plugin><groupId>org.apache.maven.plugins</groupId>
    <artifactId>maven-compiler-plugin</artifactId><version>3.8.1</version><configuration>
    <source>8</source><target>8</target>{more}</configuration></plugin>"""
LEVEL_8 = COMPILER.format(more='')
NO_DEBUG = COMPILER.format(
    more='<debug>false</debug><compilerArgs><arg>-g:none</arg></compilerArgs>'
)
# A project that measures its own coverage, by an agent and with its classes at hand.
OWN_AGENT = """<plugin><groupId>org.jacoco</groupId><artifactId>jacoco-maven-plugin</artifactId>
    <version>0.8.12</version><executions><execution><goals><goal>prepare-agent</goal></goals>
    </execution></executions></plugin>
    <plugin><groupId>org.apache.maven.plugins</groupId>
    <artifactId>maven-surefire-plugin</artifactId><configuration>
    <argLine>-javaagent:/nowhere/agent.jar @{argLine}</argLine></configuration></plugin>"""
OWN_RUNTIME = """<dependency><groupId>org.jacoco</groupId><artifactId>org.jacoco.agent</artifactId>
    <version>0.8.12</version><classifier>runtime</classifier><scope>test</scope></dependency>"""

TILL = """\
package shop;

public class Till {
    private int sum = start();

    public Till() {
        this("plain");
    }

    public Till(String name) {
        sum += name.length();
    }

    private static int start() {
        return 1;
    }

    public int add(int n) {
        return sum += n;
    }

    public int add(String n) {
        return add(Integer.parseInt(n));
    }

    public Runnable later() {
        return () -> sum++;
    }

    public Runnable anonymous() {
        return new Runnable() {
            @Override
            public void run() {
                sum++;
            }
        };
    }

    public static String sign(int n) {
        if (n < 0) {
            return "-";
        }
        return "+";
    }

    public static int checked(String text) {
        return Till.number(text);
    }

    private static int number(String text) {
        return Integer.parseInt(text);
    }

    public int open() {
        return new Drawer().open();
    }

    class Drawer {
        int open() {
            return sum;
        }
    }
}

class Beside {
    static int beside() {
        return 2;
    }
}
"""
MORE = """\
package shop;

import java.util.*;

public class More {
    public interface Source<T> {
        T get();

        default T again() {
            return get();
        }
    }

    public static class Text implements Source<String> {
        @Override
        public String get() {
            return "text";
        }
    }

    public enum Colour {
        RED(1);

        public final int number;

        Colour(int number) {
            this.number = number;
        }
    }

    public static class Registry {
        public static final Map<String, Integer> NAMES = build();

        private static Map<String, Integer> build() {
            return new HashMap<>();
        }

        public static int size() {
            return NAMES.size();
        }
    }

    public static class Lazy {
        private static Lazy one;

        public static Lazy get() {
            if (one == null) {
                one = make();
            }
            return one;
        }

        private static Lazy make() {
            return new Lazy();
        }
    }

    public static void once() {}

    public static void each() {}

    public static void made() {}

    public static void tick() {}
}
"""
TILL_TEST = """\
package shop;

import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TillTest {
    static { More.made(); }

    @BeforeAll static void once() { More.once(); }
    @BeforeEach void each() { More.each(); }

    @Test void text() { new Till("x").add("1"); }
    @Test void number() { new Till().add(1); }
    @Test void unused() { new Till().later(); }
    @Test void lambda() { new Till().later().run(); }
    @Test void anonymous() { new Till().anonymous().run(); }
    @Test void inner() { new Till().open(); }
    @Test void bridge() { More.Source<String> source = new More.Text(); source.get(); }
    @Test void inherited() { new More.Text().again(); }
    @Test void red() { Object colour = More.Colour.RED; }
    @Test void redAgain() { Object colour = More.Colour.RED; }
    @Test void size() { More.Registry.size(); }
    @Test void sizeAgain() { More.Registry.size(); }
    @Test void lazy() { More.Lazy.get(); }
    @Test void lazyAgain() { More.Lazy.get(); }
    @ParameterizedTest @ValueSource(ints = {-1, 1}) void signs(int n) { Till.sign(n); }
    @Test void minus() { Till.sign(-1); }
    @Test void sibling() { new core.Price().tax(); }
    @Test void thrown() {
        Assertions.assertThrows(NumberFormatException.class, () -> Till.checked("x"));
    }
    @Test void beside() { Beside.beside(); }
    @Test void fails() { Till.sign(1); Assertions.fail(); }
    @Test void exits() { Till.sign(1); Runtime.getRuntime().halt(0); }
    @Disabled @Test void disabled() { Till.sign(1); }
    @Test void leaks() throws Exception {
        java.util.concurrent.CountDownLatch ticked = new java.util.concurrent.CountDownLatch(1);
        Thread thread = new Thread(() -> { while (true) { More.tick(); ticked.countDown(); } });
        thread.setDaemon(true);
        thread.start();
        ticked.await();
    }
    @Test void nothing() {}
}
"""
OLD_TEST = """\
package old;

import org.junit.*;

public class OldTest {
    @BeforeClass public static void once() { new Old().once(); }
    @Test public void first() { new Old().first(); }
    @Test public void second() { new Old().second(); }
}
"""
SILENT_TEST = """\
package silent;

class SilentTest {
    @org.junit.jupiter.api.Test void speaks() { new Silent().speak(); }
}
"""

STEP: dict[str, str | bytes | None] = {
    'pom.xml': root('core', 'app', 'old', 'silent'),
    'core/pom.xml': module('core', '', LEVEL_8),
    'core/src/main/java/core/Price.java': (
        'package core; public class Price { public int tax() { return 1; } }'
    ),
    'app/pom.xml': module('app', sibling('core') + JUPITER + OWN_RUNTIME, LEVEL_8 + OWN_AGENT),
    'app/src/main/java/shop/Till.java': TILL,
    'app/src/main/java/shop/More.java': MORE,
    'app/src/test/java/shop/TillTest.java': TILL_TEST,
    'old/pom.xml': module('old', JUNIT4, LEVEL_8),
    'old/src/main/java/old/Old.java': (
        'package old; public class Old {'
        ' public void once() {} public void first() {} public void second() {} }'
    ),
    'old/src/test/java/old/OldTest.java': OLD_TEST,
    'silent/pom.xml': module('silent', JUPITER, NO_DEBUG),
    'silent/src/main/java/silent/Silent.java': (
        'package silent; public class Silent { public void speak() { new Runnable() {'
        ' public void run() {} }.run(); } }'
    ),
    'silent/src/test/java/silent/SilentTest.java': SILENT_TEST,
}

APP = (
    *('text', 'number', 'unused', 'lambda', 'anonymous', 'inner', 'bridge', 'inherited'),
    *('red', 'redAgain', 'size', 'sizeAgain', 'lazy', 'lazyAgain', 'signs', 'minus'),
    *('sibling', 'beside', 'thrown', 'fails', 'exits', 'disabled', 'leaks', 'nothing', 'absent'),
)
TILL_JAVA, MORE_JAVA = 'app/src/main/java/shop/Till.java', 'app/src/main/java/shop/More.java'
PRICE_JAVA = 'core/src/main/java/core/Price.java'


def methods(module: str, name: str, wanted: Collection[str]) -> list[TestMethod]:
    return [
        TestMethod(
            module=module,
            test_file=f'{module}/src/test/java/{name.replace(".", "/")}.java',
            test_class=name,
            test_method=one,
            parameters=('int',) if one == 'signs' else (),
        )
        for one in wanted
    ]


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(tmp_path_factory.mktemp('traces'), [STEP]) as found:
        yield found


@pytest.fixture(
    scope='module',
    params=[pytest.param(False, marks=pytest.mark.slow), True],
    ids=['alone', 'shared'],
)
def traces(request: pytest.FixtureRequest, place: Place) -> dict[str, Trace | None]:
    built, rev = place.built, place.rev
    compiled = built.compile(rev, rev, 'app')
    files = (TILL_JAVA, MORE_JAVA, PRICE_JAVA, 'app/src/main/java/shop/None.java')
    wanted = methods('app', 'shop.TillTest', APP)
    traced = built.trace(compiled, wanted, files, shared=request.param)
    assert traced.cpu_seconds > 0
    return dict(zip(APP, traced.traces, strict=True))


def executed(trace: Trace | None) -> set[str]:
    """Methods as TYPE.METHOD(PARAMETERS), less what the fixtures of `TillTest` execute."""
    assert trace is not None
    names = {f'{m.type}.{m.method}{m.descriptor.partition(")")[0]})' for m in trace.executed}
    fixtures = {f'shop.More.{name}()' for name in ('once', 'each', 'made')}
    assert fixtures <= names
    return names - fixtures


PLAIN = {'shop.Till.<init>()', 'shop.Till.<init>(Ljava/lang/String;)', 'shop.Till.start()'}
MADE = {'shop.More$Registry.<clinit>()', 'shop.More$Registry.build()', 'shop.More$Registry.size()'}
COLOUR = {'shop.More$Colour.<clinit>()', 'shop.More$Colour.<init>(Ljava/lang/String;II)'}
LAZY = {f'shop.More$Lazy.{name}()' for name in ('get', 'make', '<init>')}
DRAWER = {'shop.Till$Drawer.<init>(Lshop/Till;)', 'shop.Till$Drawer.open()'}
TEXT = 'shop.More$Text.<init>()'


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ('test', 'expected'),
    [
        (
            'text',
            PLAIN - {'shop.Till.<init>()'}
            | {'shop.Till.add(I)', 'shop.Till.add(Ljava/lang/String;)'},
        ),
        ('number', PLAIN | {'shop.Till.add(I)'}),
        ('unused', PLAIN | {'shop.Till.later()'}),
        ('lambda', PLAIN | {'shop.Till.later()', 'shop.Till.lambda$later$0()'}),
        (
            'anonymous',
            PLAIN
            | {'shop.Till.anonymous()', 'shop.Till$1.<init>(Lshop/Till;)', 'shop.Till$1.run()'},
        ),
        ('inner', PLAIN | {'shop.Till.open()'} | DRAWER),
        pytest.param('bridge', {TEXT, 'shop.More$Text.get()'}, id='bridge: the real method'),
        ('inherited', {TEXT, 'shop.More$Text.get()', 'shop.More$Source.again()'}),
        ('red', COLOUR),
        ('redAgain', COLOUR),
        ('size', MADE),
        ('sizeAgain', MADE),
        ('lazy', LAZY),
        ('lazyAgain', LAZY),
        ('signs', {'shop.Till.sign(I)'}),
        ('sibling', {'core.Price.<init>()', 'core.Price.tax()'}),
        ('beside', {'shop.Beside.beside()'}),
        pytest.param(
            'thrown',
            {f'shop.Till.{name}(Ljava/lang/String;)' for name in ('checked', 'number')},
            id='left by an exception in the first line',
        ),
        pytest.param('fails', {'shop.Till.sign(I)'}, id='a test that fails'),
        pytest.param('nothing', set(), id='after a test that left a thread'),
    ],
)
def test_trace_lists_the_methods_that_a_test_executes(
    traces: dict[str, Trace | None], test: str, expected: set[str]
) -> None:
    assert executed(traces[test]) == expected


def test_trace_lists_the_real_method_instead_of_its_bridge(
    traces: dict[str, Trace | None],
) -> None:
    trace = traces['bridge']
    assert trace is not None
    assert [m.descriptor for m in trace.executed if m.method == 'get'] == ['()Ljava/lang/String;']


@pytest.mark.parametrize('test', ['exits', 'absent'])
def test_test_that_does_not_run_to_its_end_has_no_trace(
    traces: dict[str, Trace | None], test: str
) -> None:
    assert traces[test] is None


def test_a_disabled_test_executes_nothing(traces: dict[str, Trace | None]) -> None:
    trace = traces['disabled']
    assert trace is not None
    assert not [method for method in trace.executed if method.type == 'shop.Till']


def test_thread_left_running_counts_for_its_own_test(traces: dict[str, Trace | None]) -> None:
    assert 'shop.More.tick()' in executed(traces['leaks'])


def line_of(text: str, source: str = TILL) -> int:
    (found,) = (n for n, line in enumerate(source.splitlines(), 1) if line.strip() == text)
    return found


def covered(trace: Trace | None, path: str = TILL_JAVA) -> dict[int, tuple[int, int, int, int]]:
    assert trace is not None
    return {
        line.line: (
            *(line.missed_instructions, line.covered_instructions),
            *(line.missed_branches, line.covered_branches),
        )
        for line in trace.lines[path]
    }


def test_traced_lines_have_counts_of_instructions_and_branches(
    traces: dict[str, Trace | None],
) -> None:
    minus, signs = covered(traces['minus']), covered(traces['signs'])
    branch, plus = line_of('if (n < 0) {'), line_of('return "+";')
    assert (minus[branch], minus[plus]) == ((0, 2, 1, 1), (2, 0, 0, 0))
    assert (signs[branch], signs[plus]) == ((0, 2, 0, 2), (0, 2, 0, 0))


def test_every_code_line_of_every_class_of_a_file_is_listed(
    traces: dict[str, Trace | None],
) -> None:
    lines = covered(traces['nothing'])
    assert not any(executed for _, executed, _, _ in lines.values())
    assert {line_of('return 2;'), line_of('return sum;'), line_of('return 1;')} <= set(lines)
    assert set(lines) == set(covered(traces['inner']))


def test_field_initialiser_is_covered_by_the_constructor(traces: dict[str, Trace | None]) -> None:
    assert covered(traces['number'])[line_of('private int sum = start();')][0] == 0


def test_file_without_a_class_has_no_traced_lines(traces: dict[str, Trace | None]) -> None:
    trace = traces['nothing']
    assert trace is not None
    assert trace.lines['app/src/main/java/shop/None.java'] == ()
    assert trace.lines[PRICE_JAVA] != ()


def test_executed_methods_have_their_file_and_lines(traces: dict[str, Trace | None]) -> None:
    trace = traces['inner']
    assert trace is not None
    (found,) = (m for m in trace.executed if (m.type, m.method) == ('shop.Till$Drawer', 'open'))
    at = line_of('return sum;')
    assert (found.file, found.first_line, found.last_line) == (TILL_JAVA, at, at)
    trace = traces['beside']
    assert trace is not None
    assert [m.file for m in trace.executed if m.type == 'shop.Beside'] == [TILL_JAVA]


def test_junit_4_class_fixtures_are_in_every_trace(place: Place) -> None:
    built, rev = place.built, place.rev
    compiled = built.compile(rev, rev, 'old')
    traced = built.trace(compiled, methods('old', 'old.OldTest', ('first', 'second')), ())
    names = [[m.method for m in trace.executed] for trace in traced.traces if trace is not None]
    assert names == [['<init>', 'first', 'once'], ['<init>', 'once', 'second']]


def test_trace_without_debug_information_has_methods_but_no_lines(place: Place) -> None:
    built, rev = place.built, place.rev
    compiled = built.compile(rev, rev, 'silent')
    path = 'silent/src/main/java/silent/Silent.java'
    wanted = methods('silent', 'silent.SilentTest', ('speaks',))
    (trace,) = built.trace(compiled, wanted, (path,)).traces
    assert trace is not None
    assert [(m.type, m.method, m.file, m.first_line) for m in trace.executed] == [
        ('silent.Silent', '<init>', path, 0),
        ('silent.Silent', 'speak', path, 0),
        ('silent.Silent$1', '<init>', path, 0),
        ('silent.Silent$1', 'run', path, 0),
    ]
    assert trace.lines == {path: ()}


def test_tracing_does_not_change_verdicts(place: Place) -> None:
    built, rev = place.built, place.rev
    compiled: CompiledTests = built.compile(rev, rev, 'app')
    batch = built.run(compiled, methods('app', 'shop.TillTest', ('number', 'fails')))
    outcomes = [verdict.outcome for verdict in batch.verdicts if verdict is not None]
    assert outcomes == [Outcome.PASS, Outcome.FAIL]


@pytest.mark.slow
def test_class_removed_by_an_edit_has_no_traced_lines(place: Place) -> None:
    built, rev = place.built, place.rev
    begin, end = TILL.index('    public Runnable anonymous'), TILL.index('    public static String')
    first, gone = TILL[:begin].count('\n') + 1, TILL[begin:end].count('\n')
    edits = CellEdits(code=((TILL_JAVA, (TILL[:begin] + TILL[end:]).encode()),))
    wanted = methods('app', 'shop.TillTest', ('minus',))
    whole, rest = (
        covered(built.trace(compiled, wanted, (TILL_JAVA,)).traces[0])
        for compiled in (
            built.compile(rev, rev, 'app'),
            built.compile(rev, rev, 'app', None, edits),
        )
    )
    assert rest == {
        number if number < first else number - gone: counts
        for number, counts in whole.items()
        if not first <= number < first + gone
    }
