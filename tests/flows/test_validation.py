"""Candidates proven by execution: each failure has its reason, and nothing is proven twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.languages.builds import Build
from coevo.languages.table import engine_version
from coevo.storage.place import Url
from coevo.storage.places import place_of
from flows.validation import ValidateOptions
from flows.validation import judged
from flows.validation import of_build
from flows.validation import validate
from flows.validations import Invalid
from flows.validations import Seconds
from flows.validations import Suite
from flows.validations import Validation
from flows.validations import keep_validation
from flows.validations import latest_validation
from flows.validations import read_validation
from flows.validations import seconds_of
from tests.projects import NAME
from tests.projects import junit
from tests.projects import pom
from tests.projects import source
from tests.projects import write
from tests.repos import git
from tests.repos import init

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
    assert '(refs/tags/v1.0): valid, Java 8, 1 module, 1 of 4 tests pass' in capsys.readouterr().out
    found = latest_validation(store, NAME)
    assert found is not None
    assert found.rev == git(repository, 'rev-parse', 'v1.0')
    assert found.suite == Suite(passed=1, failed=1, error=1, skipped=1, environment=1)
    assert (found.level, found.built, found.engine_version) == (8, 1, engine_version('java'))
    assert found.runtime in found.runtimes_tried
    spent = seconds_of(store, found)
    assert spent is not None
    assert min(spent.build, spent.suite) > 0
    nothing_runs_again(repository, store, found)


def nothing_runs_again(repository: Path, store: Path, found: Validation) -> None:
    files = _written(store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('COEVO_WORK', '/nowhere')  # where a builder would be opened
        assert validated(repository, store) == found
    assert _written(store) == files


def _written(store: Path) -> dict[Path, tuple[int, int, int]]:
    """What was written when; to be read leaves another date on some file systems."""
    stats = {path: path.stat() for path in (store / 'validations').rglob('*')}
    return {path: (one.st_ino, one.st_size, one.st_mtime_ns) for path, one in stats.items()}


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
    Invalid.NO_BUILD_FILE: ('', {'build.gradle': '', 'old/pom.xml': pom()}),
    Invalid.LEVEL_TOO_OLD: ('Java 6', {**GOOD, 'pom.xml': of_level('1.6')}),
    Invalid.DOES_NOT_BUILD: (
        'bad: maven-compiler-plugin:compile',
        {'pom.xml': PARENT, **module('good', {**TILL, **TESTS}), **module('bad', BROKEN)},
    ),
    Invalid.NO_TESTS: ('', {'pom.xml': pom(), **TILL, **module('beside', TESTS)}),
    Invalid.TESTS_DO_NOT_COMPILE: (
        '.',
        {**GOOD, **junit('BagTest', 'none: int none = "";')},
    ),
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


@pytest.mark.parametrize(
    ('suite', 'in_time', 'reason'),
    [
        (Suite(passed=1, failed=5, error=2, timeout=1, compile_error=1, skipped=9), True, None),
        (Suite(passed=1, not_run=2), True, Invalid.SUITE_BREAKS_OFF),
        (Suite(passed=1, not_run=2), False, Invalid.SUITE_TOO_SLOW),
        (Suite(passed=1), False, None),
        (Suite(skipped=3, missing=1, compile_error=1), True, Invalid.NO_TEST_RUNS),
        (Suite(failed=1, skipped=1), True, Invalid.NO_TEST_PASSES),
        (Suite(error=2, environment=2), True, Invalid.NO_TEST_PASSES),
    ],
)
def test_a_suite_is_judged(suite: Suite, in_time: bool, reason: Invalid | None) -> None:
    assert judged(suite, in_time=in_time) is reason


BLANK = Validation(
    repo=NAME,
    rev='0' * 40,
    ref='refs/heads/main',
    committed=None,
    sandbox='bubblewrap',
    engine_version=engine_version('java'),
)
BUILT: dict[str, str | None] = {'a': None, 'b': None}


@pytest.mark.parametrize(
    ('outdated', 'failure', 'modules', 'found'),
    [
        (None, None, BUILT, (None, '')),
        ('Java 7', None, BUILT, (Invalid.LEVEL_TOO_OLD, 'Java 7')),
        ('Java 5', 'UnresolvableModelException', {}, (Invalid.LEVEL_TOO_OLD, 'Java 5')),
        (
            *(None, 'UnresolvableModelException', {}),
            (Invalid.DOES_NOT_BUILD, 'UnresolvableModelException'),
        ),
        (
            *(None, None, {'a': 'skipped', 'b': 'maven-antrun-plugin:run', 'c': None}),
            (Invalid.DOES_NOT_BUILD, 'b: maven-antrun-plugin:run'),
        ),
    ],
)
def test_a_build_is_judged(
    outdated: str | None,
    failure: str | None,
    modules: Mapping[str, str | None],
    found: tuple[Invalid | None, str],
) -> None:
    build = Build(rev=BLANK.rev, failure=failure, modules=modules, runtime='17')
    proven = of_build(BLANK, build, outdated)
    assert (proven.reason, proven.detail) == found
    assert proven.built == sum(why is None for why in modules.values())


def test_what_another_engine_found_is_asked_again(tmp_path: Path) -> None:
    repository = write(tmp_path / 'repository', [{'build.gradle': ''}])
    store = tmp_path / 'store'
    found = validated(repository, store)
    older = replace(found, reason=Invalid.NO_TESTS, engine_version=found.engine_version - 1)
    keep_validation(store, older, Seconds(build=1.0, suite=0.0))
    assert latest_validation(store, NAME) == older
    assert validated(repository, store) == found == latest_validation(store, NAME)


def test_the_one_that_was_asked_about_last_is_the_latest(tmp_path: Path) -> None:
    repository = write(tmp_path / 'repository', [{'build.gradle': ''}, {'build.gradle': 'new'}])
    store = tmp_path / 'store'
    assert latest_validation(store, NAME) is None
    head = validated(repository, store)
    git(repository, 'tag', '1.0', 'HEAD~1')
    older = validated(repository, store)
    assert (older.ref, latest_validation(store, NAME)) == ('refs/tags/1.0', older)
    assert validated(repository, store, ref='main') == head


def test_findings_lie_where_the_store_lies(bucket: Url, tmp_path: Path) -> None:
    repository = write(tmp_path / 'repository', [{'build.gradle': ''}])
    found = validate(
        ValidateOptions(source=str(repository), store=bucket, name=NAME, local=tmp_path / 'local')
    )
    assert latest_validation(bucket, NAME) == found
    names = {entry.name for entry in place_of(bucket).entries('validations')}
    assert names == {
        f'validations/local+shop/{name}'
        for name in ('latest.json', f'{found.rev}.json', f'{found.rev}.seconds.json')
    }


def test_one_that_cannot_be_asked_does_not_keep_others_from_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = str(write(tmp_path / 'repository', [{'build.gradle': ''}]))
    store = ['--store', str(tmp_path / 'store')]
    init(tmp_path / 'empty')
    assert main(['validate', str(tmp_path / 'empty'), repository, *store]) == 2
    told = capsys.readouterr()
    assert 'no commit' in told.err
    assert 'invalid, no_build_file: There is no build file at the root.' in told.out
    assert main(['validate', repository, *store]) == 1
    assert main(['validate', repository, repository, *store, '--name', NAME]) == 2
    assert '--name' in capsys.readouterr().err
    (tmp_path / 'other').mkdir()
    (tmp_path / 'other' / 'notes.txt').write_text('mine')
    assert main(['validate', repository, '--store', str(tmp_path / 'other')]) == 2
    assert 'is no store of coevo' in capsys.readouterr().err
