"""The two commands of a task in Java, as text and run by plain Maven as they stand."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.java import reading
from coevo.languages.java.commands import add_commands
from coevo.languages.reading import RevisionTree
from coevo.model.pair_rows import Environment
from coevo.model.records import TestMethod
from tests.projects import pom
from tests.repos import commit, init

REACTOR = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>shop</groupId><artifactId>all</artifactId><version>1</version><packaging>pom</packaging>
  <modules><module>base</module><module>core</module></modules>
</project>
"""
BY_GRADLE = Environment(runtime='17', build_tool='gradle 8.5', libraries=())
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


# Above the class that runs them.
ABOVE = """\
package shop;

public abstract class AbstractTillTest {
    @org.junit.Test public void counts() { System.out.println("ran counts"); }
}
"""
BELOW = 'package shop; public class DeepTest extends AbstractTillTest {}'
OTHER = 'package shop; public class PlainTest {}'
# Of a time when surefire knew no JUnit 5: its libraries fail with any other version of surefire.
PINNED = """<build><pluginManagement><plugins><plugin>
    <artifactId>maven-surefire-plugin</artifactId>
    <dependencies><dependency>
      <groupId>org.apache.maven.surefire</groupId><artifactId>surefire-junit4</artifactId><version>2.22.2</version>
    </dependency></dependencies>
</plugin></plugins></pluginManagement></build>"""
JAVA = 'src/test/java/shop'


def method(owner: str, name: str, module: str = '.', file: str = FILE) -> TestMethod:
    return TestMethod(module=module, test_file=file, test_class=owner, test_method=name)


def tree(folder: Path, files: Mapping[str, str]) -> RevisionTree:
    repository = init(folder / 'repository')
    return reading.open_tree(Repository(repository / '.git'), commit(repository, 'all', files))


@pytest.fixture
def empty(tmp_path: Path) -> RevisionTree:
    return tree(tmp_path, {'pom.xml': pom()})


def test_test_command_names_each_class_once_with_all_its_methods(empty: RevisionTree) -> None:
    asked = [method('shop.A', 'a'), method('shop.A$B', 'b'), method('shop.A', 'c')]
    line = add_commands(BARE, '.', FILE, asked, empty).test_command
    assert "'-Dtest=shop.A#a+a[*+c+c[*,shop.A$B#b+b[*'" in line


def test_maven_commands_build_a_module_with_its_required_modules(empty: RevisionTree) -> None:
    module = 'core/api'
    asked = [method('shop.A', 'a', module)]
    found = add_commands(BARE, module, f'{module}/{FILE}', asked, empty)
    assert ' -pl core/api -am ' in found.compile_command
    assert found.test_command.startswith('rm -rf core/api/target/surefire-reports && mvn ')
    assert found.test_command.endswith(
        "grep -qs '<testcase' core/api/target/surefire-reports/*.xml"
    )


def test_suite_command_runs_the_whole_test_file(empty: RevisionTree) -> None:
    assert add_commands(BARE, '.', FILE, (), empty).test_command.endswith(
        ' -Dtest=TillTest -DfailIfNoTests=true'
    )


def test_test_of_an_abstract_class_is_run_in_its_subclasses(tmp_path: Path) -> None:
    file = f'{JAVA}/AbstractTillTest.java'
    files = {file: ABOVE, f'{JAVA}/DeepTest.java': BELOW, f'{JAVA}/PlainTest.java': OTHER}
    asked = [method('shop.AbstractTillTest', 'counts', file=file)]
    found = add_commands(BARE, '.', file, asked, tree(tmp_path, {'pom.xml': pom(), **files}))
    assert "'-Dtest=shop.DeepTest#counts+counts[*'" in found.test_command


def test_failsafe_runs_the_tests_if_a_pom_adds_libraries_to_surefire(tmp_path: Path) -> None:
    pinned = tree(tmp_path, {'pom.xml': pom(PINNED), 'core/pom.xml': pom()})
    line = add_commands(BARE, 'core', f'core/{FILE}', [method('shop.A', 'a', 'core')], pinned)
    assert 'surefire' not in line.test_command
    assert 'maven-failsafe-plugin:3.5.2:verify' in line.test_command
    assert "'-Dit.test=shop.A#a+a[*'" in line.test_command


@pytest.mark.jvm
@pytest.mark.slow
@pytest.mark.parametrize(
    ('module', 'build'), [('.', ''), ('.', PINNED), ('core', ''), ('core', PINNED)]
)
def test_maven_command_runs_exactly_the_requested_tests(
    tmp_path: Path, module: str, build: str
) -> None:
    """In a build of modules the one that it needs has none of them."""
    prefix = '' if module == '.' else f'{module}/'
    files = {
        f'{prefix}pom.xml': pom(build),
        f'{prefix}{FILE}': TESTS,
        f'{prefix}{JAVA}/AbstractTillTest.java': ABOVE,
        f'{prefix}{JAVA}/DeepTest.java': BELOW,
    }
    if prefix:
        files |= {'pom.xml': REACTOR, 'base/pom.xml': pom().replace('>shop<', '>base<')}
        files |= {f'base/{JAVA}/PlainTest.java': OTHER}
    known = tree(tmp_path, files)

    def run(*asked: TestMethod) -> subprocess.CompletedProcess[str]:
        line = add_commands(BARE, module, f'{prefix}{FILE}', asked, known).test_command
        return subprocess.run(
            ['sh', '-c', line],
            cwd=tmp_path / 'repository',
            capture_output=True,
            text=True,
            check=False,
        )

    def asked(owner: str, name: str, file: str = 'TillTest') -> TestMethod:
        return method(f'shop.{owner}', name, module, f'{prefix}{JAVA}/{file}.java')

    good = run(
        asked('TillTest$Sums', 'adds'),
        asked('TillTest$Drawer', 'opens'),
        asked('AbstractTillTest', 'counts', 'AbstractTillTest'),
    )
    assert good.returncode == 0, good.stdout
    said = [line for line in good.stdout.splitlines() if line.startswith('ran ')]
    assert sorted(said) == ['ran adds 1', 'ran adds 2', 'ran counts', 'ran opens']
    assert run(asked('TillTest$Drawer', 'shuts')).returncode != 0
    assert run(asked('TillTest$Drawer', 'gone')).returncode != 0


@pytest.mark.parametrize(
    ('module', 'names', 'compiling', 'testing'),
    [
        ('.', ('adds',), 'gradle :testClasses', "gradle :test --tests 'shop.TillTest$Sums.adds'"),
        ('base', (), 'gradle -p base testClasses', "gradle -p base test --tests '*TillTest'"),
    ],
)
def test_gradle_commands_name_only_the_project_of_the_tests(
    tmp_path: Path, module: str, names: tuple[str, ...], compiling: str, testing: str
) -> None:
    file = FILE if module == '.' else f'{module}/{FILE}'
    known = tree(tmp_path, {'build.gradle': '', file: TESTS})
    asked = [method('shop.TillTest$Sums', name, module, file) for name in names]
    told = add_commands(BY_GRADLE, module, file, asked, known)
    assert (told.compile_command, told.test_command) == (compiling, testing)
