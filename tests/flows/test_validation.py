"""Candidates proven by execution: each failure has its reason, and nothing is proven twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.cli import main
from coevo.execution import ENGINE_VERSION
from flows.validation import ValidateOptions
from flows.validation import validate
from flows.validations import Invalid
from flows.validations import Suite
from flows.validations import Validation
from flows.validations import latest_validation
from flows.validations import read_validation
from flows.validations import seconds_of
from tests.projects import NAME
from tests.projects import junit
from tests.projects import pom
from tests.projects import source
from tests.projects import write
from tests.repos import git

TILL = source('Till', '    public static int last() { return 1; }\n')
TESTS = junit(
    'TillTest',
    'rings: assertEquals(1, Till.last());',
    'fails: assertEquals(2, Till.last());',
    'skips: org.junit.Assume.assumeTrue(false);',
    'phones: java.net.InetAddress.getByName("shop.invalid");',
)
GOOD = {'pom.xml': pom(), **TILL, **TESTS}
PROPERTIES = """\
    <maven.compiler.source>8</maven.compiler.source>
    <maven.compiler.target>8</maven.compiler.target>
"""
COSTS = 'the JVM costs seconds'


def of_level(level: str | None) -> str:
    said = '' if level is None else PROPERTIES.replace('>8<', f'>{level}<')
    assert PROPERTIES in pom()
    return pom().replace(PROPERTIES, said)


def validated(repository: Path, store: Path, **more: float | str) -> Validation:
    return validate(
        replace(ValidateOptions(source=str(repository), store=store, name=NAME), **more)
    )


@pytest.mark.jvm
def test_the_latest_release_is_proven(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Some tests fail, which is no objection; the head, which nothing builds, is not asked."""
    repository = write(tmp_path / 'repository', [GOOD, {'pom.xml': 'no POM'}])
    git(repository, 'tag', 'v1.0', 'HEAD~1')
    store = tmp_path / 'store'
    command = ['validate', str(repository), '--name', NAME, '--store', str(store)]
    assert main(command) == 0
    assert (
        '(refs/tags/v1.0): valid, Java 8, 1 modules, 1 of 4 tests pass' in capsys.readouterr().out
    )
    found = latest_validation(store, NAME)
    assert found is not None
    assert found.rev == git(repository, 'rev-parse', 'v1.0')
    assert found.suite == Suite(passed=1, failed=1, error=1, skipped=1, environment=1)
    assert (found.java, found.built, found.engine_version) == (8, 1, ENGINE_VERSION)
    assert found.jdk in found.jdks_tried
    spent = seconds_of(store, found)
    assert spent is not None
    assert min(spent.build, spent.suite) > 0
    nothing_runs_again(repository, store, found)


def nothing_runs_again(repository: Path, store: Path, found: Validation) -> None:
    files = {path: path.stat() for path in (store / 'validations').rglob('*')}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('COEVO_WORK', '/nowhere')  # where a workshop would be opened
        assert validated(repository, store) == found
    assert {path: path.stat() for path in (store / 'validations').rglob('*')} == files


PARENT = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>shop</groupId><artifactId>parent</artifactId><version>1</version>
  <packaging>pom</packaging>
  <modules><module>good</module><module>bad</module></modules>
</project>
"""


def module(name: str, files: Mapping[str, str]) -> dict[str, str]:
    own = {**files, 'pom.xml': pom().replace('<artifactId>shop<', f'<artifactId>{name}<')}
    return {f'{name}/{path}': text for path, text in own.items()}


BROKEN = source('Bag', '    public static int none() { return ""; }\n')
CASES: dict[Invalid, tuple[str, Mapping[str, str]]] = {
    Invalid.NO_POM: ('', {'build.gradle': '', 'old/pom.xml': pom()}),
    Invalid.JAVA_TOO_OLD: ('Java 6', {**GOOD, 'pom.xml': of_level('1.6')}),
    Invalid.DOES_NOT_BUILD: (
        'bad: maven-compiler-plugin:compile',
        {'pom.xml': PARENT, **module('good', {**TILL, **TESTS}), **module('bad', BROKEN)},
    ),
    Invalid.NO_TESTS: ('', {'pom.xml': pom(), **TILL, **module('beside', TESTS)}),
    Invalid.TESTS_DO_NOT_COMPILE: (
        '.',
        {**GOOD, **junit('BagTest', 'none: int none = "";')},
    ),
    Invalid.NO_TEST_RUNS: (
        '',
        {'pom.xml': pom(), **junit('TillTest', 'skips: org.junit.Assume.assumeTrue(false);')},
    ),
    Invalid.NO_TEST_PASSES: ('', {'pom.xml': pom(), **junit('TillTest', 'fails: fail();')}),
}


@pytest.mark.jvm
@pytest.mark.parametrize('reason', CASES)
def test_what_is_invalid_has_a_reason(reason: Invalid, tmp_path: Path) -> None:
    detail, files = CASES[reason]
    repository = write(tmp_path / 'repository', [files])
    found = validated(repository, tmp_path / 'store')
    assert (found.reason, found.detail) == (reason, detail)
    assert found.ref == 'refs/heads/main'
    assert read_validation(tmp_path / 'store', NAME, found.rev) == found
