"""Tests of every shape, in modules of every shape, mined together from one pair of revisions."""

from __future__ import annotations

import io
import zipfile

import pytest

from coevo.model.words import Label, MethodChange, Outcome, Track
from flows.reverification import ReverifyOptions, reverify_labels
from tests.once import mined_once
from tests.projects import Mined, write

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

PLACE = '<groupId>shop</groupId><version>7</version>'
JUNIT4 = """<dependency><groupId>junit</groupId><artifactId>junit</artifactId>
    <version>4.13.2</version><scope>test</scope></dependency>"""
JUPITER = """<dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId>
    <version>5.11.4</version><scope>test</scope></dependency>"""
MOCKITO = """<dependency><groupId>org.mockito</groupId><artifactId>mockito-core</artifactId>
    <version>2.7.1</version><scope>test</scope></dependency>"""
BROUGHT_ALONG = """<dependency><groupId>lib</groupId><artifactId>words</artifactId>
    <version>1</version><scope>system</scope>
    <systemPath>${project.basedir}/lib/words.jar</systemPath></dependency>"""
NO_LEVEL = """<plugin><groupId>org.apache.maven.plugins</groupId>
    <artifactId>maven-compiler-plugin</artifactId><version>3.8.1</version></plugin>"""
SUREFIRE = """<plugin><groupId>org.apache.maven.plugins</groupId>
    <artifactId>maven-surefire-plugin</artifactId><configuration>
      <argLine>-Dquoted=it's -Dx=${nowhere} -XX:+UseParallelGC -XX:+ForMuchOlderJvms -Xms2g</argLine>
      <systemPropertiesFile>surefire.properties</systemPropertiesFile>
      <systemPropertyVariables><greeting>hello</greeting><empty/></systemPropertyVariables>
      <environmentVariables><SHOP>open</SHOP></environmentVariables>
      <enableAssertions>false</enableAssertions>
      <additionalClasspathElements>
        <element>${project.basedir}/extra</element>
      </additionalClasspathElements>
      <classpathDependencyExcludes><exclude>shop:words</exclude></classpathDependencyExcludes>
    </configuration></plugin>"""
FILTERED = """<resources><resource><directory>src/main/resources</directory>
    <filtering>true</filtering></resource></resources>"""


def root(*modules: str) -> str:
    listed = ''.join(f'<module>{module}</module>' for module in modules)
    return f"""<project><modelVersion>4.0.0</modelVersion>{PLACE}
      <artifactId>root</artifactId><packaging>pom</packaging><modules>{listed}</modules>
      <properties><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
    </project>"""


def module(name: str, dependencies: str, build: str = NO_LEVEL) -> str:
    build = build if '<plugins>' in build else f'<plugins>{build}</plugins>'
    return f"""<project><modelVersion>4.0.0</modelVersion>
      <parent><artifactId>root</artifactId>{PLACE}</parent><artifactId>{name}</artifactId>
      <dependencies>{dependencies}</dependencies><build>{build}</build></project>"""


def sibling(name: str, more: str = '') -> str:
    return f'<dependency>{PLACE}<artifactId>{name}</artifactId>{more}</dependency>'


def jar(name: str, text: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, 'w') as archive:
        archive.writestr(zipfile.ZipInfo(name), text)
    return buffer.getvalue()


def till(*methods: str) -> str:
    body = ' '.join(f'public static int {m}() {{ return {len(m)}; }}' for m in methods)
    return f'package shop; public class Till {{ {body} }}'


HEAD4 = 'package shop;\nimport static org.junit.Assert.*;\nimport org.junit.Test;\n'
HEAD5 = """package shop;
import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
"""

CORE_TESTS = {
    'core/src/test/java/shop/Drawer.java': """package shop;
        public abstract class Drawer {
            protected abstract int opens();
            @org.junit.Test public void shuts() {
                org.junit.Assert.assertEquals(Till.three() - 4, opens()); }
            @org.junit.Test public void rattles() {
                org.junit.Assert.assertTrue(Till.three() > opens()); }
        }""",
    'core/src/test/java/shop/WideTest.java': (
        'package shop; public class WideTest extends Drawer { protected int opens() { return 1; }}'
    ),
    'core/src/test/java/shop/NarrowTest.java': (
        'package shop; public class NarrowTest extends Drawer { protected int opens() { return 2; }}'
    ),
    'core/src/test/java/shop/OldStyleTest.java': """package shop;
        public class OldStyleTest extends junit.framework.TestCase {
            public void testOldStyle() { assertEquals(5, Till.three()); } }""",
    'core/src/test/java/shop/RowsTest.java': """package shop;
        import java.util.Arrays; import org.junit.runner.RunWith; import org.junit.runners.*;
        @RunWith(Parameterized.class) public class RowsTest {
            @Parameterized.Parameters public static Iterable<Object[]> rows() {
                return Arrays.asList(new Object[][] {{5}, {6}}); }
            private final int row;
            public RowsTest(int row) { this.row = row; }
            @org.junit.Test public void everyRow() {
                org.junit.Assert.assertTrue(row >= Till.three()); }
            @org.junit.Test public void oneRowFails() {
                org.junit.Assert.assertEquals(row, Till.three()); } }""",
    'core/src/test/java/shop/PlacesTest.java': HEAD4
    + """import java.io.*; import java.nio.file.*; import java.util.*;
        public class PlacesTest {
            private static String read(String name) {
                return new Scanner(PlacesTest.class.getResourceAsStream(name)).nextLine(); }
            @Test public void readsItsResource() {
                assertEquals("a mark " + Till.three(), read("/mark.txt")); }
            @Test public void readsAFileOfItsModule() throws IOException {
                Path path = Paths.get("src/test/resources/mark.txt");
                assertEquals("a mark " + Till.three(),
                    new String(Files.readAllBytes(path), "UTF-8").trim()); }
            @Test public void readsAFilteredResource() {
                assertEquals("7 " + Till.three(), read("/version.txt")); }
            @Test public void seesSurefiresProperties() {
                assertEquals("hello", System.getProperty("greeting"));
                assertEquals("", System.getProperty("empty"));
                assertEquals("it's", System.getProperty("quoted"));
                assertEquals("from a file", System.getProperty("filed"));
                assertEquals("open", System.getenv("SHOP"));
                assert Till.three() == 0 : "assertions are off";
                assertNotNull(PlacesTest.class.getResource("/extra.txt"));
                assertEquals(5, Till.three()); }
            @Test public void readsALibraryOfTheTree() {
                assertEquals("brought along " + Till.three(), read("/words.txt")); } }""",
    'core/src/test/java/shop/MockTest.java': HEAD4
    + """public class MockTest {
            public static class Clerk { public int counts() { return 0; } }
            @Test public void mocks() {
                Clerk clerk = org.mockito.Mockito.mock(Clerk.class);
                org.mockito.Mockito.when(clerk.counts()).thenReturn(5);
                assertEquals(Till.three(), clerk.counts()); } }""",
}
APP_TESTS = {
    'app/src/test/java/shop/AppTest.java': HEAD5
    + """class AppTest {
            @Test void usesItsSiblingsTests() { assertEquals(Till.three(), Counter.count() + 1); }
            @Test void overloaded() { assertEquals(5, Till.three()); }
            @Test void overloaded(TestInfo info) { assertEquals(6, Till.three()); }
            @ParameterizedTest @ValueSource(ints = {5, 6}) void oneFails(int n) {
                assertEquals(n, Till.three()); }
            @ParameterizedTest @ValueSource(ints = {3, 4}) void allPass(int n) {
                assertTrue(n < Till.three()); }
            @Nested class Inside { @Test void nested() { assertEquals(5, Till.three()); } } }""",
}
COUNTER = 'package shop; public class Counter { public static int count() { return Till.four(); } }'

TEST_JAR = '<type>test-jar</type><scope>test</scope>'
APP_POM = module('app', sibling('core') + sibling('core', TEST_JAR) + JUPITER)
# All of this module's folders have names of their own, and its test resources are all its files.
FLAT_BUILD = """<plugins><plugin><groupId>org.apache.maven.plugins</groupId>
      <artifactId>maven-surefire-plugin</artifactId><configuration>
        <argLine>-Dlevel=plugin</argLine>
        <systemProperties><older>older</older><asFile>no</asFile>
          <property><name>oldest</name><value>oldest</value></property></systemProperties>
        <systemPropertiesFile>surefire.properties</systemPropertiesFile>
      </configuration><executions><execution><id>default-test</id><configuration>
        <argLine>@{late} -Dlevel=execution -Dfork=${surefire.forkNumber}</argLine>
        <workingDirectory>${project.build.directory}/work</workingDirectory>
        <enableAssertions>false</enableAssertions>
        <environmentVariables><FLAT>${project.basedir}</FLAT></environmentVariables>
        <additionalClasspathElements><one>${project.basedir}/more</one></additionalClasspathElements>
        <classpathDependencyExcludes><one>org.objenesis:*</one></classpathDependencyExcludes>
        <properties><configurationParameters>a.parameter = given
          </configurationParameters></properties>
      </configuration></execution></executions></plugin></plugins>
    <sourceDirectory>java</sourceDirectory>
    <testSourceDirectory>tests</testSourceDirectory>
    <testResources><testResource><directory>${project.basedir}</directory>
      <includes><include>NOTICE.txt</include></includes></testResource></testResources>"""
LONE = HEAD4 + 'public class {name}Test {{ @Test public void {body} }}'
GOES = LONE.format(
    name='Old', body='goes() { for (int i = 0; i < 9; i += Till.one()) { new StringBuilder(i); } }'
)
COMES = LONE.format(
    name='New', body='comes() { String text = "tills"; assertTrue(text.length() > Till.four()); }'
)


@pytest.fixture(scope='module')
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('shapes')
    main = 'src/main/java/shop/Till.java'
    core = module('core', JUNIT4 + MOCKITO + BROUGHT_ALONG, NO_LEVEL + SUREFIRE)
    old: dict[str, str | bytes | None] = {
        'pom.xml': root('core', 'app', 'flat', 'gone'),
        'core/pom.xml': core.replace('<build>', f'<build>{FILTERED}'),
        f'core/{main}': till('one', 'four'),
        'core/src/main/resources/version.txt': '${project.version} 5',
        'core/src/test/resources/mark.txt': 'a mark 5',
        'core/src/test/java/shop/Counter.java': COUNTER,
        'core/surefire.properties': 'filed = from a file\ngreeting = overruled\n',
        'core/extra/extra.txt': 'more',
        'core/lib/words.jar': jar('words.txt', 'brought along 5'),
        'app/pom.xml': APP_POM,
        'flat/pom.xml': module('flat', sibling('core') + JUNIT4 + MOCKITO, FLAT_BUILD),
        'flat/surefire.properties': 'fromFile=yes\nasFile=yes\n',
        'flat/more/more.txt': 'more 5',
        'flat/NOTICE.txt': 'take notice 5',
        'gone/pom.xml': module('gone', sibling('core') + JUNIT4),
        'gone/src/test/java/shop/OldTest.java': GOES,
    }
    new: dict[str, str | bytes | None] = {
        'pom.xml': root('core', 'app', 'flat', 'fresh'),
        'gone/pom.xml': None,
        'gone/src/test/java/shop/OldTest.java': None,
        f'core/{main}': till('one', 'four', 'three'),
        **CORE_TESTS,
        **APP_TESTS,
        'flat/tests/shop/FlatTest.java': HEAD4
        + """public class FlatTest { @Test public void takesNotice() {
            java.io.InputStream in = FlatTest.class.getResourceAsStream("/NOTICE.txt");
            assertEquals("take notice " + Till.three(), new java.util.Scanner(in).nextLine()); }
            @Test public void seesAllThatSurefireWouldGive() {
                assertEquals("execution", System.getProperty("level"));
                assertEquals("1", System.getProperty("fork"));
                assertEquals("older", System.getProperty("older"));
                assertEquals("oldest", System.getProperty("oldest"));
                assertEquals("yes", System.getProperty("asFile"));
                assertEquals("yes", System.getProperty("fromFile"));
                assertEquals("given", System.getProperty("a.parameter"));
                assertEquals(System.getProperty("basedir"), System.getenv("FLAT"));
                assert Till.three() == 0 : "assertions are off";
                java.io.InputStream in = FlatTest.class.getResourceAsStream("/more.txt");
                assertEquals("more " + Till.three(), new java.util.Scanner(in).nextLine());
                try { Class.forName("org.objenesis.Objenesis"); fail("left out"); }
                catch (ClassNotFoundException expected) { } }
            @Test public void worksWhereSurefireWould() throws Exception {
                new java.io.File("made").createNewFile();
                assertTrue(new java.io.File("../work/made").exists() && Till.three() == 5); } }
            """,
        'fresh/pom.xml': module('fresh', sibling('core') + JUNIT4),
        'fresh/src/test/java/shop/NewTest.java': COMES,
    }
    return mined_once(write(folder / 'repository', [old, new]), folder / 'store')


def test_modules_of_every_shape_are_built(shapes: Mined) -> None:
    assert [(row.build_old, row.build_new) for row in shapes.pairs] == [('built', 'built')]
    assert not shapes.report.failures


@pytest.mark.parametrize(
    'name',
    [
        pytest.param('rattles', id='inherited by both subclasses'),
        pytest.param('testOldStyle', id='JUnit 3'),
        pytest.param('everyRow', id='JUnit 4 Parameterized'),
        pytest.param('readsItsResource', id='a resource on the class path'),
        pytest.param('readsAFileOfItsModule', id='a file below the working folder'),
        pytest.param('readsAFilteredResource', id='a filtered main resource'),
        pytest.param('seesSurefiresProperties', id='properties and argLine of surefire'),
        pytest.param('readsALibraryOfTheTree', id='a jar that the repository brings along'),
        pytest.param('mocks', id='a mocking library older than the JDK'),
        pytest.param('usesItsSiblingsTests', id='a sibling and its test-jar'),
        pytest.param('allPass', id='JUnit 5 ParameterizedTest'),
        pytest.param('nested', id='JUnit 5 Nested'),
        pytest.param('takesNotice', id='folders with other names'),
        pytest.param('seesAllThatSurefireWouldGive', id='all settings of surefire'),
        pytest.param('worksWhereSurefireWould', id='a working folder that is made for it'),
    ],
)
def test_inserted_test_of_each_shape_gets_the_label_generation(shapes: Mined, name: str) -> None:
    row = shapes.method(name)
    assert (row.t_new_c_new, row.t_new_c_old) == (Outcome.PASS, Outcome.COMPILE_ERROR)
    assert (row.change, row.label) == (MethodChange.INSERTED, Label.GENERATION)


def test_one_failing_invocation_or_subclass_fails_the_method(shapes: Mined) -> None:
    """oneFails, oneRowFails, shuts, and of the overloads the one with a parameter."""
    reasons = [drop.reason for drop in shapes.drops if drop.stage == 'label']
    assert reasons == ['t_new_c_new_fail'] * 4


def test_overloaded_tests_are_distinguished_by_parameters(shapes: Mined) -> None:
    row = shapes.method('overloaded')
    assert (row.parameters, row.label) == ((), Label.GENERATION)


def test_nested_test_belongs_to_its_nested_class(shapes: Mined) -> None:
    assert shapes.method('nested').test_class == 'shop.AppTest$Inside'


def test_test_of_a_removed_module_is_obsolete(shapes: Mined) -> None:
    row = shapes.method('goes')
    assert (row.change, row.label) == (MethodChange.DELETED, Label.OBSOLETE)
    assert (row.t_old_c_old, row.t_old_c_new) == (Outcome.PASS, Outcome.COMPILE_ERROR)
    assert row.t_old_c_new_signature == 'module_absent'


def test_test_of_an_added_module_gets_the_label_generation(shapes: Mined) -> None:
    row = shapes.method('comes')
    assert (row.label, row.track) == (Label.GENERATION, Track.GENERATION)
    assert row.t_new_c_old_signature == 'module_absent'


def test_overrides_of_project_settings_are_recorded(shapes: Mined) -> None:
    assert {row.override for row in shapes.methods} == {'byte-buddy+source-level-8'}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_labels_are_confirmed_by_reverification(shapes: Mined) -> None:
    """Under the override that their pair was given, alone or beside few of their neighbours."""
    report = reverify_labels(ReverifyOptions(store=shapes.store, sample=8))
    assert report.population == len(shapes.methods)
    assert (report.confirmed, report.lost, report.unknown) == (8, {}, {})
