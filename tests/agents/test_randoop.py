"""Randoop as an agent: the tests that are made of its output, and the files that they go into."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from coevo.agents import randoop_driver
from coevo.languages.java import kits
from coevo.languages.java.tools.jdks import Jdk, choose_jdk_for_tools, find_jdks
from coevo.languages.java.tools.libraries import fetch_libraries

CODE = """\
package shop;

public class Till {
    public String label(String name) {
        if (name.isEmpty()) throw new IllegalArgumentException("no name, and a \\"quote\\"");
        return name + ", (till)";
    }

    public int[] zones() {
        return new int[] {1, 2};
    }

    public boolean[] open() {
        return new boolean[] {true};
    }
}
"""
# Randoop's layout.
GENERATED = """\
package shop;

import org.junit.Test;

public class RegressionTest0 {

    public static boolean debug = false;

    public void assertBooleanArrayEquals(boolean[] expectedArray, boolean[] actualArray) {
        if (expectedArray.length != actualArray.length) {
            throw new AssertionError();
        }
    }

    @Test
    public void test1() throws Throwable {
        if (debug)
            System.out.format("%n%s%n", "RegressionTest0.test1");
        shop.Till till0 = new shop.Till();
        java.lang.String str2 = till0.label("a");
        org.junit.Assert.assertEquals("'" + str2 + "' != '" + "a, (till)" + "'", str2, "a, (till)");
    }

    @Test
    public void test2() throws Throwable {
        if (debug)
            System.out.format("%n%s%n", "RegressionTest0.test2");
        shop.Till till0 = new shop.Till();
        // The following exception was thrown during execution in test generation
        try {
            java.lang.String str2 = till0.label("");
            org.junit.Assert.fail("Expected exception of type java.lang.IllegalArgumentException; message: no name, and a \\"quote\\"");
        } catch (java.lang.IllegalArgumentException e) {
            // Expected exception.
        }
    }

    @Test
    public void test3() throws Throwable {
        if (debug)
            System.out.format("%n%s%n", "RegressionTest0.test3");
        shop.Till till0 = new shop.Till();
        int[] intArray1 = till0.zones();
        boolean[] booleanArray2 = till0.open();
        org.junit.Assert.assertNotNull(intArray1);
        org.junit.Assert.assertArrayEquals(intArray1, new int[] { 1, 2 });
        assertBooleanArrayEquals(booleanArray2, new boolean[] { true });
        org.junit.Assert.assertTrue("'" + ',' + "' != '" + ')' + "'", intArray1.length == 2);
    }

    @Test
    public void test4() throws Throwable {
        if (debug)
            System.out.format("%n%s%n", "RegressionTest0.test4");
        shop.Till till0 = new shop.Till();
    }
}
"""
START = """\
package shop;

import org.junit.jupiter.api.Nested;

class TillTest {
    // class Other {
    String text = "class Other { }";

    @Nested
    class Other {
        int one = '}';
    }

    int two;
}
"""


def test_bodies_lack_the_switch_for_debugging_and_calls_without_an_assertion() -> None:
    bodies = randoop_driver.list_bodies(GENERATED)
    assert [body.splitlines()[-1] for body in bodies] == [
        'org.junit.Assert.assertEquals("\'" + str2 + "\' != \'" + "a, (till)" + "\'", str2, "a, (till)");',
        '}',
        "org.junit.Assert.assertTrue(\"'\" + ',' + \"' != '\" + ')' + \"'\", intArray1.length == 2);",
    ]
    assert not any('debug' in body for body in bodies)


@pytest.mark.parametrize(
    ('framework', 'equal', 'arrays'),
    [
        ('junit4', 'org.junit.Assert.assertEquals', 'org.junit.Assert.assertArrayEquals'),
        (
            'jupiter',
            'org.junit.jupiter.api.Assertions.assertEquals',
            'org.junit.jupiter.api.Assertions.assertArrayEquals',
        ),
        ('testng', 'org.testng.Assert.assertEquals', 'org.testng.Assert.assertEquals'),
    ],
)
def test_assertions_are_those_of_the_framework_and_have_no_message(
    framework: str, equal: str, arrays: str
) -> None:
    first, second, third = (
        randoop_driver.translate_assertions(body, framework)
        for body in randoop_driver.list_bodies(GENERATED)
    )
    assert f'{equal}(str2, "a, (till)");' in first
    assert '.fail("Expected exception of type java.lang.IllegalArgumentException' in second
    assert f'{arrays}(intArray1, new int[] {{ 1, 2 }});' in third
    assert f'{arrays}(booleanArray2, new boolean[] {{ true }});' in third
    assert '.assertTrue(intArray1.length == 2);' in third


def test_only_argument_is_no_message() -> None:
    body = 'org.junit.Assert.assertNotNull("a, b");'
    assert randoop_driver.translate_assertions(body, 'junit4') == body


@pytest.mark.parametrize(
    ('start', 'class_path', 'framework'),
    [
        ('import org.junit.Test;', '/r/junit-jupiter-api-5.jar', 'junit4'),
        ('import static org.junit.jupiter.api.Assertions.*;', '', 'jupiter'),
        ('import org.testng.annotations.Test;', '/r/junit-4.jar', 'testng'),
        ('', '/r/junit-jupiter-api-5.jar', 'jupiter'),
        ('// import org.testng.Assert', '/r/junit-4.jar', 'junit4'),
    ],
)
def test_framework_is_the_imported_one_or_else_that_of_the_libraries(
    start: str, class_path: str, framework: str
) -> None:
    assert randoop_driver.choose_framework(start, class_path) == framework


def test_package_is_declared_or_that_of_the_folder() -> None:
    path = Path('core/src/test/java/shop/till/TillTest.java')
    assert randoop_driver.find_package('', path) == 'shop.till'
    assert randoop_driver.find_package('// package a;\npackage shop ;\n', path) == 'shop'
    assert randoop_driver.find_package('', Path('tests/TillTest.java')) == ''


def test_tests_are_added_at_the_end_of_their_class() -> None:
    wanted = ['shop.TillTest$Other#first', 'shop.TillTest#second()']
    text = randoop_driver.add_tests(START, wanted, ['one();', 'two();', 'three();'], 'jupiter')
    other, rest = text.partition('int one')[2].split('    int two;')
    assert 'public void first() throws Throwable {' in other
    assert other.index('one();') < other.index('three();')
    assert 'public void second() throws Throwable {\n        two();\n    }\n}\n' in rest
    assert text.count('@org.junit.jupiter.api.Test') == 2
    assert text.startswith(START.partition("    int one = '}';")[0])


@pytest.fixture(scope='module')
def jdk() -> Jdk:
    return choose_jdk_for_tools(find_jdks())


def test_written_tests_compile_pass_and_notice_a_change(jdk: Jdk, tmp_path: Path) -> None:
    console = fetch_libraries(kits._CONSOLE, jdk, lambda line: None, "JUnit's console")
    (jar,) = console.glob('*.jar')
    bodies = [
        randoop_driver.translate_assertions(body, 'jupiter')
        for body in randoop_driver.list_bodies(GENERATED)
    ]
    for start, wanted in (
        (randoop_driver.make_class('shop', 'TillTest'), ['TillTest#first', 'TillTest#second']),
        (START, ['TillTest$Other#first', 'TillTest#second']),
    ):
        tests = randoop_driver.add_tests(start, wanted, bodies, 'jupiter')
        assert run_tests(jdk, jar, tmp_path, CODE, tests) == 0
        assert run_tests(jdk, jar, tmp_path, CODE.replace('(till)', '[till]'), tests) == 1


def run_tests(jdk: Jdk, jar: Path, place: Path, code: str, tests: str) -> int:
    """Compile both files and run all tests; return the exit status of JUnit's console."""
    files = {'Till.java': code, 'TillTest.java': tests}
    for name, text in files.items():
        (place / name).write_text(text)
    words = [f'{jdk.home}/bin/javac', '-d', 'out', '-cp', jar, *files]
    subprocess.run(words, cwd=place, check=True)
    words = [f'{jdk.home}/bin/java', '-jar', jar, 'execute', '-cp', 'out', '--scan-class-path']
    return subprocess.run(words, cwd=place, check=False, capture_output=True).returncode


def test_missing_software_and_missing_module_have_own_statuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(randoop_driver, 'SOFTWARE', str(tmp_path))
    assert randoop_driver.main() == randoop_driver.NO_SOFTWARE
    (tmp_path / 'randoop-all-4.3.4.jar').touch()
    code = [{'file': 'Till.java', 'name': 'shop.Till#label(String)'}]
    task = {'test_file': 'tests/TillTest.java', 'tests': [], 'code': code}
    (tmp_path / 'task.json').write_text(json.dumps(task))
    monkeypatch.setenv('COEVO_TASK', str(tmp_path / 'task.json'))
    monkeypatch.chdir(tmp_path)
    assert randoop_driver.main() == randoop_driver.NO_CLASS
    assert 'no class of a Maven module is named' in capsys.readouterr().err
