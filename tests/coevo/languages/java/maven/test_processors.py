"""Code that others write: annotation processors, generators, filters; and modules of Java's own."""

from __future__ import annotations

import pytest

from coevo.model.words import Label, Outcome
from tests.coevo.languages.java.maven.test_shapes import JUNIT4, module, root, sibling
from tests.once import mined_once
from tests.projects import Mined, write

pytestmark = [pytest.mark.jvm, pytest.mark.slow]


def library(group: str, artifact: str, version: str, scope: str = 'provided') -> str:
    return (
        f'<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>'
        f'<version>{version}</version><scope>{scope}</scope></dependency>'
    )


COMPILER = """<plugin><groupId>org.apache.maven.plugins</groupId>
    <artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version>
    <configuration>{}</configuration></plugin>"""
LEVEL_8 = COMPILER.format('<source>8</source><target>8</target>')
MAPSTRUCT_PATH = COMPILER.format("""<source>8</source><target>8</target><annotationProcessorPaths>
    <path><groupId>org.mapstruct</groupId><artifactId>mapstruct-processor</artifactId>
    <version>1.5.5.Final</version></path></annotationProcessorPaths>""")
STRICT = COMPILER.format("""<source>8</source><target>8</target><showWarnings>true</showWarnings>
    <compilerArgs><arg>-Xlint:all</arg><arg>-Werror</arg></compilerArgs>""")
MORE_TESTS = """<plugin><groupId>org.codehaus.mojo</groupId>
    <artifactId>build-helper-maven-plugin</artifactId><version>3.5.0</version>
    <executions><execution><phase>generate-test-sources</phase>
      <goals><goal>add-test-source</goal></goals>
      <configuration><sources><source>src/integration-test/java</source></sources></configuration>
    </execution></executions></plugin>"""
PATH_IN_REACTOR = COMPILER.format("""<source>8</source><target>8</target><annotationProcessorPaths>
    <path><groupId>shop</groupId><artifactId>maker</artifactId><version>7</version></path>
    </annotationProcessorPaths>""")
PROCESSORS = 'META-INF/services/javax.annotation.processing.Processor'
MAKER = """package shop;
import java.io.*; import java.util.*; import javax.annotation.processing.*;
import javax.lang.model.element.*;
@SupportedAnnotationTypes("shop.Made") public class Maker extends AbstractProcessor {
    @Override public boolean process(Set<? extends TypeElement> found, RoundEnvironment round) {
        for (Element one : round.getElementsAnnotatedWith(Made.class)) {
            String name = one.getSimpleName() + "Made";
            try (Writer out = processingEnv.getFiler()
                    .createSourceFile("shop." + name, one).openWriter()) {
                out.write("package shop; class " + name + " { static int PRICE = %d; }");
            } catch (IOException e) { throw new UncheckedIOException(e); }
        }
        return true;
    }
}
"""
FILTERED_TESTS = """<testResources><testResource><directory>src/test/resources</directory>
    <filtering>true</filtering></testResource></testResources>"""

TEST = """package shop;
import static org.junit.Assert.*;
import org.junit.Test;
public class {name}Test {{
    {more}
    @Test public void {method}() {{ {body} }}
}}
"""


def written(name: str, method: str, body: str, more: str = '') -> str:
    return TEST.format(name=name, method=method, body=body, more=more)


def price(number: int) -> str:
    return f'package shop; public class Price {{ public static int of() {{ return {number}; }} }}'


def tree(number: int) -> dict[str, str | bytes | None]:
    """Every test expects the price of its revision, by way of what was generated."""
    equals = f'assertEquals({number}, {{}});'
    return {
        'pom.xml': root('lombok', 'mapper', 'value', 'named', 'more', 'strict', 'maker', 'made'),
        'lombok/pom.xml': module(
            'lombok', JUNIT4 + library('org.projectlombok', 'lombok', '1.18.34'), LEVEL_8
        ),
        'lombok/src/main/java/shop/Item.java': (
            f'package shop; @lombok.Data public class Item {{ private int price = {number}; }}'
        ),
        'lombok/src/test/java/shop/ItemTest.java': written(
            'Item',
            'lomboked',
            equals.format('new Box().getItem().getPrice()'),
            more='@lombok.Getter static class Box { private final Item item = new Item(); }',
        ),
        'mapper/pom.xml': module(
            'mapper',
            JUNIT4 + library('org.mapstruct', 'mapstruct', '1.5.5.Final', 'compile'),
            MAPSTRUCT_PATH,
        ),
        'mapper/src/main/java/shop/Price.java': price(number),
        'mapper/src/test/java/shop/Copier.java': """package shop;
            @org.mapstruct.Mapper public interface Copier {
                class From { public int getPrice() { return Price.of(); } }
                class To { private int price; public int getPrice() { return price; }
                    public void setPrice(int price) { this.price = price; } }
                To copy(From from); }""",
        'mapper/src/test/java/shop/CopierTest.java': written(
            'Copier',
            'mapped',
            equals.format(
                'org.mapstruct.factory.Mappers.getMapper(Copier.class)'
                '.copy(new Copier.From()).getPrice()'
            ),
        ),
        'maker/pom.xml': module('maker', '', COMPILER.format('<proc>none</proc>')),
        'maker/src/main/java/shop/Made.java': 'package shop; public @interface Made {}',
        'maker/src/main/java/shop/Maker.java': MAKER % number,
        f'maker/src/main/resources/{PROCESSORS}': 'shop.Maker',
        'made/pom.xml': module('made', JUNIT4 + sibling('maker'), PATH_IN_REACTOR),
        'made/src/test/java/shop/Sign.java': 'package shop; @Made class Sign {}',
        'made/src/test/java/shop/MadeTest.java': written(
            'Made', 'madeByASibling', equals.format('SignMade.PRICE')
        ),
        'value/pom.xml': module(
            'value', JUNIT4 + library('org.immutables', 'value', '2.10.1'), LEVEL_8
        ),
        'value/src/main/java/shop/Tag.java': (
            'package shop; @org.immutables.value.Value.Immutable public interface Tag {'
            f' default int price() {{ return {number}; }} }}'
        ),
        'value/src/test/java/shop/TagTest.java': written(
            'Tag', 'immutable', equals.format('ImmutableTag.builder().build().price()')
        ),
        'named/pom.xml': module('named', JUNIT4, LEVEL_8.replace('>8<', '>11<')),
        'named/src/main/java/module-info.java': 'module shop.named { }',
        'named/src/main/java/shop/Price.java': price(number),
        'named/src/test/java/shop/PriceTest.java': written(
            'Price', 'inAModule', equals.format('Price.of()')
        ),
        'more/pom.xml': module(
            'more', JUNIT4, f'{FILTERED_TESTS}<plugins>{LEVEL_8}{MORE_TESTS}</plugins>'
        ),
        'more/src/main/java/shop/Price.java': price(number),
        'more/src/test/resources/version.txt': '${project.version}',
        'more/src/integration-test/java/shop/MoreTest.java': written(
            'More',
            'elsewhere',
            equals.format('Price.of()') + ' assertEquals("7", new java.util.Scanner('
            'MoreTest.class.getResourceAsStream("/version.txt")).nextLine());',
        ),
        'strict/pom.xml': module('strict', JUNIT4, STRICT.replace('>8<', '>11<')),
        'strict/src/main/java/shop/Price.java': price(number),
        'strict/src/test/java/shop/StrictTest.java': written(
            'Strict', 'strictly', equals.format('Price.of()')
        ),
    }


@pytest.fixture(scope='module')
def processors(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('processors')
    return mined_once(write(folder / 'repository', [tree(1), tree(2)]), folder / 'store')


def test_every_module_with_generated_code_is_built(processors: Mined) -> None:
    assert [(pair.build_old, pair.build_new) for pair in processors.pairs] == [('built', 'built')]


@pytest.mark.parametrize(
    'name',
    ['lomboked', 'mapped', 'immutable', 'inAModule', 'elsewhere', 'strictly', 'madeByASibling'],
)
def test_test_on_generated_code_gets_the_label_update(processors: Mined, name: str) -> None:
    row = processors.method(name)
    assert (row.t_old_c_old, row.t_new_c_new, row.t_old_c_new) == (
        Outcome.PASS,
        Outcome.PASS,
        Outcome.FAIL,
    )
    assert row.label is Label.UPDATE
