"""Who runs a test: classes of any module, the worst of which counts."""

from __future__ import annotations

import pytest

from coevo.languages.java.building.compilation import CompileReport, JavaClass
from coevo.languages.java.cells.compiled_cells import merge_worst_verdicts
from coevo.languages.verdicts import Verdict, VerdictBatch
from coevo.model.words import Label, Outcome
from tests.coevo.languages.java.maven.test_processors import LEVEL_8
from tests.coevo.languages.java.maven.test_reactors import PUBLISHED
from tests.coevo.languages.java.maven.test_shapes import JUPITER, PLACE, TEST_JAR, sibling
from tests.once import mined_once
from tests.projects import Mined, write


def known(*parents: str, abstract: bool = False, outer: str | None = None) -> JavaClass:
    return JavaClass(parents=parents, abstract=abstract, outer=outer)


CONTRACT = {
    'Contract': known(abstract=True),
    'Contract$Sums': known(outer='Contract'),
    'OneTest': known('Contract'),
}


@pytest.mark.parametrize(
    ('name', 'runners'),
    [
        ('Contract', ('OneTest',)),
        ('Contract$Sums', ('Contract$Sums', 'OneTest/Contract$Sums')),
        ('OneTest', ('OneTest',)),
        ('Absent', ()),
    ],
)
def test_methods_of_a_nested_class_are_run_by_heirs_of_the_class_around_it(
    name: str, runners: tuple[str, ...]
) -> None:
    assert CompileReport(unit_ok=True, classes=CONTRACT).find_runners(name) == runners


def test_nested_heir_of_the_class_around_a_nested_class_runs_its_methods() -> None:
    both = {'BothTest': known(), 'BothTest$Trade': known('Contract', outer='BothTest')}
    report = CompileReport(unit_ok=True, classes={**CONTRACT, **both})
    assert report.find_runners('Contract$Sums') == (
        'Contract$Sums',
        'BothTest$Trade/Contract$Sums',
        'OneTest/Contract$Sums',
    )


def test_runners_of_a_module_inherit_from_classes_of_others() -> None:
    report = CompileReport(unit_ok=True, classes={'AppTest': known('Contract')}, below=CONTRACT)
    assert report.find_runners('Contract') == ('AppTest',)
    assert report.find_runners('Contract$Sums') == ('AppTest/Contract$Sums',)


def test_runner_that_does_not_compile_is_an_error_of_the_method() -> None:
    report = CompileReport(unit_ok=False, broken_classes={'AppTest': 'cant.resolve Till'})
    assert (
        report.find_first_runner_error(('AppTest/Contract$Sums',), CONTRACT) == 'cant.resolve Till'
    )
    assert report.find_first_runner_error(('OneTest',), CONTRACT) is None


def batch(*outcomes: Outcome | None) -> VerdictBatch:
    verdicts = tuple(outcome and Verdict(outcome=outcome, cpu_seconds=1.0) for outcome in outcomes)
    return VerdictBatch(verdicts=verdicts, cpu_seconds=1.0)


def test_the_worst_verdict_of_all_modules_counts() -> None:
    lost = None
    merged = merge_worst_verdicts(
        [
            batch(Outcome.PASS, Outcome.MISSING, Outcome.PASS, lost, Outcome.PASS, Outcome.MISSING),
            batch(Outcome.FAIL, Outcome.PASS, lost, Outcome.PASS, Outcome.INFRA, Outcome.MISSING),
        ],
        6,
    )
    assert [verdict and verdict.outcome for verdict in merged.verdicts] == [
        Outcome.FAIL,
        Outcome.PASS,
        lost,
        lost,
        Outcome.INFRA,
        Outcome.MISSING,
    ]
    assert merged.cpu_seconds == 2.0


ROOT = f"""<project><modelVersion>4.0.0</modelVersion>{PLACE}<artifactId>root</artifactId>
    <packaging>pom</packaging><modules><module>core</module><module>app</module></modules>
    <dependencies>{JUPITER}</dependencies></project>"""


def module(name: str, dependencies: str, *plugins: str) -> str:
    return f"""<project><modelVersion>4.0.0</modelVersion><parent><artifactId>root</artifactId>
      {PLACE}</parent><artifactId>{name}</artifactId><dependencies>{dependencies}</dependencies>
      <build><plugins>{''.join(plugins)}</plugins></build></project>"""


def price(name: str, factor: int) -> str:
    return (
        f'package shop; public class {name} {{ public static int price(int n) {{'
        f' return {factor} * n; }} }}'
    )


def runner(name: str, base: str, factor: int) -> str:
    return (
        f'package shop; class {name}Test extends {base} {{ int price(int n) {{ return'
        f' {name}.price(n); }} int factor() {{ return {factor}; }} }}'
    )


def nested(name: str, base: str, factor: int) -> str:
    """A runner that is a nested class itself."""
    return (
        f'package shop; class {name}Test {{ @org.junit.jupiter.api.Nested class Inner extends {base}'
        f' {{ int price(int n) {{ return {name}.price(n); }} int factor() {{ return {factor}; }} }} }}'
    )


def contract(name: str, expected: str) -> str:
    return f"""package shop; import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
abstract class {name} {{
    abstract int price(int n);
    abstract int factor();
    @Test void multiplies{name}() {{ assertEquals({expected}, price(2)); }}
    @Nested class Sums {{
        @Test void adds{name}() {{ assertEquals({expected}, price(1) + price(1)); }}
    }}
}}
"""


def tree(factor: int, expected: str) -> dict[str, str | bytes | None]:
    """Only app changes: `Shared` has a runner in either module, `Lone` in app alone."""
    return {
        'pom.xml': ROOT,
        'core/pom.xml': module('core', '', LEVEL_8, PUBLISHED),
        'core/src/main/java/shop/Core.java': price('Core', 5),
        'core/src/test/java/shop/Shared.java': contract('Shared', expected),
        'core/src/test/java/shop/Lone.java': contract('Lone', expected),
        'core/src/test/java/shop/CoreTest.java': runner('Core', 'Shared', 5),
        'app/pom.xml': module('app', sibling('core', TEST_JAR), LEVEL_8),
        'app/src/main/java/shop/App.java': price('App', factor),
        'app/src/main/java/shop/Side.java': price('Side', factor),
        'app/src/test/java/shop/AppTest.java': runner('App', 'Shared', factor),
        'app/src/test/java/shop/SideTest.java': nested('Side', 'Lone', factor),
    }


@pytest.fixture(scope='module')
def found(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    folder = tmp_path_factory.mktemp('runners')
    steps = [tree(5, '10'), tree(6, '2 * factor()')]
    return mined_once(write(folder / 'repository', steps), folder / 'store')


@pytest.mark.slow
@pytest.mark.jvm
@pytest.mark.parametrize('name', ['multipliesShared', 'addsShared', 'multipliesLone', 'addsLone'])
def test_base_test_is_an_update_if_a_runner_in_another_module_breaks(
    found: Mined, name: str
) -> None:
    assert found.method(name).label is Label.UPDATE
