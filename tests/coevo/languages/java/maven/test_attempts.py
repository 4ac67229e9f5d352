"""A build that the warm JVM cannot do is done by Maven's own command, and its row says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.java.building.session import JvmAnswer
from coevo.languages.java.maven.attempts import find_failed_needless_plugins
from coevo.model.words import Label
from tests.projects import junit, mined, pom, source, write

pytestmark = pytest.mark.jvm

PERMIT = """<build><plugins><plugin>
  <groupId>org.apache.maven.plugins</groupId>
  <artifactId>maven-antrun-plugin</artifactId><version>3.1.0</version>
  <executions><execution>
    <phase>generate-sources</phase><goals><goal>run</goal></goals>
    <configuration><target><fail unless="shop.permit"/></target></configuration>
  </execution></executions>
</plugin></plugins></build>"""
PRICE = '    public static int price() {{ return {}; }}\n'


@pytest.mark.slow
def test_jvm_options_of_a_project_apply_only_to_the_maven_command(tmp_path: Path) -> None:
    steps = [
        {
            'pom.xml': pom(PERMIT),
            '.mvn/jvm.config': '-Dshop.permit=yes\n',
            **source('Till', PRICE.format(number)),
            **junit('TillTest', f'sells: assertEquals({number}, Till.price());'),
        }
        for number in (1, 2)
    ]
    without = {'.mvn/jvm.config': None, **source('Till', PRICE.format(3))}
    found = mined(write(tmp_path / 'repository', [*steps, without]), tmp_path / 'store')
    built = {(pair.build_new, pair.builder_new) for pair in found.pairs}
    assert built == {('built', 'mvn'), ('maven-antrun-plugin:run', 'maven-loop')}
    (update,) = found.methods
    assert (update.label, update.test_method) == (Label.UPDATE, 'sells')


BUNDLE = """<build><plugins><plugin>
  <groupId>org.apache.maven.plugins</groupId>
  <artifactId>maven-remote-resources-plugin</artifactId><version>{}</version>
  <executions><execution><goals><goal>process</goal></goals>
    <configuration><resourceBundles><resourceBundle>shop:nowhere:1</resourceBundle></resourceBundles>
    </configuration></execution></executions>
</plugin></plugins></build>"""


@pytest.mark.slow
@pytest.mark.parametrize('version', ['3.2.0', pytest.param('0-nowhere', marks=pytest.mark.slow)])
def test_goal_that_no_test_needs_is_left_out_once_it_fails_or_is_missing(
    tmp_path: Path, version: str
) -> None:
    steps = [
        {
            'pom.xml': pom(BUNDLE.format(version)),
            **source('Till', PRICE.format(number)),
            **junit('TillTest', f'sells: assertEquals({number}, Till.price());'),
        }
        for number in (1, 2)
    ]
    found = mined(write(tmp_path / 'repository', steps), tmp_path / 'store')
    (update,) = found.methods
    assert (update.label, update.override) == (
        Label.UPDATE,
        'without-maven-remote-resources-plugin',
    )


LEFT_OUT = {
    'exec-maven-plugin': """<plugin><groupId>org.codehaus.mojo</groupId>
      <artifactId>exec-maven-plugin</artifactId><version>3.1.0</version><executions><execution>
        <phase>generate-resources</phase><goals><goal>exec</goal></goals><configuration>
        <executable>git</executable><arguments><argument>submodule</argument><argument>update
        </argument></arguments></configuration></execution></executions></plugin>""",
    'maven-compiler-plugin@java9': """<plugin><groupId>org.apache.maven.plugins</groupId>
      <artifactId>maven-compiler-plugin</artifactId><version>3.11.0</version><executions>
        <execution><id>java9</id><phase>compile</phase><goals><goal>compile</goal></goals>
        <configuration><release>9</release><compileSourceRoots>
        <root>${project.basedir}/src/main/java9</root></compileSourceRoots></configuration>
        </execution></executions></plugin>""",
}


@pytest.mark.slow
def test_program_and_second_compilation_are_left_out_once_they_fail(tmp_path: Path) -> None:
    build = f'<build><plugins>{"".join(LEFT_OUT.values())}</plugins></build>'
    steps = [
        {
            'pom.xml': pom(build),
            'src/main/java9/module-info.java': 'module shop { requires nowhere; exports shop; }',
            **source('Till', PRICE.format(number)),
            **junit('TillTest', f'sells: assertEquals({number}, Till.price());'),
        }
        for number in (1, 2)
    ]
    found = mined(write(tmp_path / 'repository', steps), tmp_path / 'store')
    (update,) = found.methods
    assert update.label is Label.UPDATE
    assert update.override == '+'.join(f'without-{name}' for name in sorted(LEFT_OUT))


def test_only_executions_beside_the_needed_one_are_needless() -> None:
    def failed(goal: str, execution: str | None) -> frozenset[str]:
        report = {'projects': [{'failure': {'mojo': goal, 'execution': execution}}]}
        return find_failed_needless_plugins(JvmAnswer(report=report, files=(), cpu_seconds=0.0))

    assert failed('maven-compiler-plugin:compile', 'module') == {'maven-compiler-plugin@module'}
    assert failed('maven-compiler-plugin:compile', 'default-compile') == set()
    assert failed('maven-compiler-plugin:compile', 'java-compile') == set()
    assert failed('maven-compiler-plugin:compile', None) == set()
    assert failed('maven-compiler-plugin:testCompile', 'more') == set()
    assert failed('exec-maven-plugin:exec', 'any') == {'exec-maven-plugin'}


HAMCREST = """<dependency><groupId>org.hamcrest</groupId><artifactId>hamcrest</artifactId>
    <version>{}</version></dependency>"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize('version', ['(,2.2]', 'LATEST', '2.3-SNAPSHOT'])
def test_unpinned_dependency_drops_tests_with_that_reason(tmp_path: Path, version: str) -> None:
    open_pom = pom().replace('<dependencies>', f'<dependencies>{HAMCREST.format(version)}')
    steps = [
        {
            'pom.xml': open_pom,
            **source('Till', PRICE.format(number)),
            **junit('TillTest', f'sells: assertEquals({number}, Till.price());'),
        }
        for number in (1, 2)
    ]
    found = mined(write(tmp_path / 'repository', steps), tmp_path / 'store')
    reason = 'snapshot_dependency' if version.endswith('-SNAPSHOT') else 'unpinned_dependency'
    assert [pair.build_new for pair in found.pairs] == [reason]
    assert [(drop.reason, drop.detail) for drop in found.drops] == [
        (reason, 't_old_c_old_unbuildable')
    ]
