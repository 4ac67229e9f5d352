"""The two commands of a task in Java, as text and run by plain Maven as they stand."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from coevo.languages.java.commands import commands
from coevo.model.records import Environment
from coevo.model.records import TestMethod
from tests.projects import pom

BARE = Environment(runtime='17', build_tool='maven', libraries=())
FILE = 'src/test/java/shop/TillTest.java'
TESTS = """\
package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Test;
import org.junit.experimental.runners.Enclosed;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

@RunWith(Enclosed.class)
public class TillTest {
    @RunWith(Parameterized.class)
    public static class Sums {
        @Parameterized.Parameters public static Object[] of() { return new Object[] {1, 2}; }
        @Parameterized.Parameter public int number;
        @Test public void adds() { System.out.println("ran adds " + number); }
        @Test public void addsAll() { throw new AssertionError("not asked for"); }
    }

    public static class Drawer {
        @Test public void opens() { System.out.println("ran opens"); }
        @Test public void shuts() { assertEquals(1, 2); }
    }
}
"""


def method(owner: str, name: str, module: str = '.') -> TestMethod:
    return TestMethod(module=module, test_file=FILE, test_class=owner, test_method=name)


def test_classes_stand_once_with_all_of_their_methods() -> None:
    asked = [method('shop.A', 'a'), method('shop.A$B', 'b'), method('shop.A', 'c')]
    line = commands(BARE, '.', FILE, asked).test_command
    assert "'-Dtest=shop.A#a+a[*+c+c[*,shop.A$B#b+b[*'" in line


def test_a_module_comes_with_those_that_it_needs() -> None:
    found = commands(BARE, 'core/api', f'core/api/{FILE}', [method('shop.A', 'a', 'core/api')])
    assert ' -pl core/api -am ' in found.compile_command
    assert found.test_command.endswith(' -Dsurefire.failIfNoSpecifiedTests=false')


def test_a_suite_is_the_whole_file() -> None:
    assert commands(BARE, '.', FILE, ()).test_command.endswith(
        ' -Dtest=TillTest -DfailIfNoTests=true'
    )


@pytest.mark.jvm
@pytest.mark.slow
def test_maven_runs_the_tests_that_are_asked_for_and_no_others(tmp_path: Path) -> None:
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / FILE).write_text(TESTS)
    (tmp_path / 'pom.xml').write_text(pom())

    def run(*asked: TestMethod) -> subprocess.CompletedProcess[str]:
        line = commands(BARE, '.', FILE, asked).test_command
        return subprocess.run(
            ['sh', '-c', line], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    good = run(method('shop.TillTest$Sums', 'adds'), method('shop.TillTest$Drawer', 'opens'))
    assert good.returncode == 0, good.stdout
    said = [line for line in good.stdout.splitlines() if line.startswith('ran ')]
    assert sorted(said) == ['ran adds 1', 'ran adds 2', 'ran opens']
    assert run(method('shop.TillTest$Drawer', 'shuts')).returncode != 0
    assert run(method('shop.TillTest$Drawer', 'gone')).returncode != 0
