"""Reactors of the wild: a parent beside its modules, fixtures of siblings, encodings, profiles."""

from __future__ import annotations

import pytest

from coevo.model.words import Label, Outcome
from tests.coevo.languages.java.maven.test_processors import (
    COMPILER,
    LEVEL_8,
    library,
    price,
    written,
)
from tests.coevo.languages.java.maven.test_shapes import JUNIT4, PLACE, TEST_JAR, sibling
from tests.once import mined_once
from tests.projects import Mined, write

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

MODULES = ('core', 'app', 'latin', 'grammar')
ROOT = f"""<project><modelVersion>4.0.0</modelVersion>{PLACE}
    <artifactId>everything</artifactId><packaging>pom</packaging><modules>
    <module>build/parent</module>{''.join(f'<module>{name}</module>' for name in MODULES)}
    </modules></project>"""
# JUnit comes by way of a profile that every JDK of ours activates.
PARENT = f"""<project><modelVersion>4.0.0</modelVersion>{PLACE}
    <artifactId>parent</artifactId><packaging>pom</packaging><profiles><profile><id>any</id>
    <activation><jdk>[1.8,)</jdk></activation><dependencies>{JUNIT4}</dependencies>
    </profile></profiles></project>"""
LATIN = COMPILER.format('<source>8</source><target>8</target><encoding>ISO-8859-1</encoding>')
ANTLR = """<plugin><groupId>org.antlr</groupId><artifactId>antlr4-maven-plugin</artifactId>
    <version>4.9.3</version><executions><execution><goals><goal>antlr4</goal></goals>
    </execution></executions></plugin>"""
PUBLISHED = """<plugin><groupId>org.apache.maven.plugins</groupId>
    <artifactId>maven-jar-plugin</artifactId><version>3.3.0</version><executions><execution>
    <goals><goal>test-jar</goal></goals></execution></executions></plugin>"""


def module(name: str, dependencies: str, *plugins: str) -> str:
    return f"""<project><modelVersion>4.0.0</modelVersion><parent><artifactId>parent</artifactId>
      {PLACE}<relativePath>../build/parent</relativePath></parent><artifactId>{name}</artifactId>
      <dependencies>{dependencies}</dependencies>
      <build><plugins>{''.join(plugins)}</plugins></build></project>"""


def rules(number: int) -> str:
    return 'grammar Shop; ' + ' '.join(f'items{n} : ID ;' for n in range(number)) + ' ID : [a]+ ;'


def tree(number: int) -> dict[str, str | bytes | None]:
    """What the test of app expects stands in the fixtures of core alone."""
    word = 'né' * number
    return {
        'pom.xml': ROOT,
        'build/parent/pom.xml': PARENT,
        'core/pom.xml': module(
            'core', library('org.immutables', 'value', '2.10.1'), LEVEL_8, PUBLISHED
        ),
        'core/src/main/java/shop/Price.java': price(number),
        'core/src/test/java/shop/Sample.java': (
            'package shop; @org.immutables.value.Value.Immutable public interface Sample {'
            f' default int expected() {{ return {number}; }} }}'
        ),
        'core/src/test/java/shop/CoreTest.java': written(
            'Core',
            'immutableInTests',
            f'assertEquals({number} + Price.of(), ImmutableSample.builder().build().expected() * 2);',
        ),
        'app/pom.xml': module('app', sibling('core') + sibling('core', TEST_JAR), LEVEL_8),
        'app/src/test/java/shop/AppTest.java': written(
            'App',
            'fixtures',
            f'assertEquals("{number}", ImmutableSample.builder().build().expected(), Price.of());',
        ),
        'latin/pom.xml': module('latin', '', LATIN),
        'latin/src/main/java/shop/Word.java': (
            f'package shop; public class Word {{ public static String WORD = new String("{word}"); }}'
        ).encode('iso-8859-1'),
        'latin/src/test/java/shop/WordTest.java': written(
            'Word', 'latin', f'assertEquals("{word}", Word.WORD);'
        ).encode('iso-8859-1'),
        'grammar/pom.xml': module(
            'grammar', library('org.antlr', 'antlr4-runtime', '4.9.3', 'compile'), LEVEL_8, ANTLR
        ),
        'grammar/src/main/antlr4/shop/Shop.g4': rules(number),
        'grammar/src/test/java/shop/ShopTest.java': written(
            'Shop',
            'parses',
            f'assertEquals({number}, ShopParser.ruleNames.length);',
        ),
    }


@pytest.fixture(scope='module')
def reactors(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('reactors')
    return mined_once(write(folder / 'repository', [tree(1), tree(2)]), folder / 'store')


def test_every_module_of_the_reactor_is_built(reactors: Mined) -> None:
    assert [(pair.build_old, pair.build_new) for pair in reactors.pairs] == [('built', 'built')]


@pytest.mark.parametrize(
    'name',
    [
        pytest.param('immutableInTests', id='generated where Maven compiles tests'),
        pytest.param('fixtures', id='fixtures of a sibling, of the same revision as the test'),
        pytest.param('latin', id='ISO-8859-1'),
        pytest.param('parses', id='a generated parser'),
    ],
)
def test_test_of_a_reactor_module_gets_the_label_update(reactors: Mined, name: str) -> None:
    row = reactors.method(name)
    assert (row.t_old_c_old, row.t_new_c_new, row.t_old_c_new) == (
        Outcome.PASS,
        Outcome.PASS,
        Outcome.FAIL,
    )
    assert row.label is Label.UPDATE
