"""A build that the warm JVM cannot do is done by Maven's own command, and its row says so."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.mark.sampled(1)
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


HAMCREST = """<dependency><groupId>org.hamcrest</groupId><artifactId>hamcrest</artifactId>
    <version>{}</version></dependency>"""


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
