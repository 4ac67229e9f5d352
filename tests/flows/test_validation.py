"""Candidates proven by execution: each failure has its reason, and nothing is proven twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.languages.cells import Build
from coevo.languages.table import get_engine_version, suggest_split
from coevo.storage.place import Url
from coevo.storage.places import open_place
from flows.validation import (
    ValidateOptions,
    add_build_findings,
    find_suite_objection,
    validate_repository,
)
from flows.validations import (
    InvalidReason,
    SuiteCounts,
    Validation,
    ValidationSeconds,
    load_cpu_seconds,
    load_latest_validation,
    load_validation,
    write_validation,
)
from tests.projects import NAME, junit, pom, source, write
from tests.repos import git, init

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
    return validate_repository(
        replace(ValidateOptions(source=str(repository), store=store, name=NAME), **more)
    )


@pytest.mark.jvm
def test_the_latest_release_is_validated_by_running_its_tests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Some tests fail, which is no objection; the head, which nothing builds, is not asked."""
    repository = write(tmp_path / 'repository', [GOOD, {'pom.xml': 'no POM'}])
    git(repository, 'tag', 'v1.0', 'HEAD~1')
    store = tmp_path / 'store'
    command = ['pipeline', 'validate', str(repository), '--name', NAME, '--store', str(store)]
    assert main(command) == 0
    assert '(refs/tags/v1.0): valid, Java 8, 1 module, 1 of 4 tests pass' in capsys.readouterr().out
    found = load_latest_validation(store, NAME)
    assert found is not None
    assert found.rev == git(repository, 'rev-parse', 'v1.0')
    assert found.suite == SuiteCounts(passed=1, failed=1, error=1, skipped=1, environment=1)
    assert (found.level, found.built, found.engine_version) == (8, 1, get_engine_version('java'))
    assert found.runtime in found.runtimes_tried
    spent = load_cpu_seconds(store, found)
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
CASES: dict[InvalidReason, tuple[str, Mapping[str, str]]] = {
    InvalidReason.NO_BUILD_FILE: (
        f'There are build files in old; {suggest_split("old")}',
        {'build.gradle': '', 'old/pom.xml': pom()},
    ),
    InvalidReason.LEVEL_TOO_OLD: ('Java 6', {**GOOD, 'pom.xml': of_level('1.6')}),
    InvalidReason.DOES_NOT_BUILD: (
        'bad: maven-compiler-plugin:compile',
        {'pom.xml': PARENT, **module('good', {**TILL, **TESTS}), **module('bad', BROKEN)},
    ),
    InvalidReason.NO_TESTS: ('', {'pom.xml': pom(), **TILL, **module('beside', TESTS)}),
    InvalidReason.TESTS_DO_NOT_COMPILE: (
        '.',
        {**GOOD, **junit('BagTest', 'none: int none = "";')},
    ),
}


@pytest.mark.jvm
@pytest.mark.parametrize('reason', CASES)
def test_an_invalid_repository_has_a_reason(reason: InvalidReason, tmp_path: Path) -> None:
    detail, files = CASES[reason]
    repository = write(tmp_path / 'repository', [files])
    found = validated(repository, tmp_path / 'store')
    assert (found.reason, found.detail) == (reason, detail)
    assert found.ref == 'refs/heads/main'
    assert load_validation(tmp_path / 'store', NAME, found.rev) == found


@pytest.mark.parametrize(
    ('suite', 'in_time', 'reason'),
    [
        (
            SuiteCounts(passed=1, failed=5, error=2, timeout=1, compile_error=1, skipped=9),
            True,
            None,
        ),
        (SuiteCounts(passed=1, not_run=2), True, InvalidReason.SUITE_BREAKS_OFF),
        (SuiteCounts(passed=1, not_run=2), False, InvalidReason.SUITE_TOO_SLOW),
        (SuiteCounts(passed=1), False, None),
        (SuiteCounts(skipped=3, missing=1, compile_error=1), True, InvalidReason.NO_TEST_RUNS),
        (SuiteCounts(failed=1, skipped=1), True, InvalidReason.NO_TEST_PASSES),
        (SuiteCounts(error=2, environment=2), True, InvalidReason.NO_TEST_PASSES),
    ],
)
def test_test_counts_decide_whether_a_test_suite_is_valid(
    suite: SuiteCounts, in_time: bool, reason: InvalidReason | None
) -> None:
    assert find_suite_objection(suite, in_time=in_time) is reason


BLANK = Validation(
    repo=NAME,
    rev='0' * 40,
    ref='refs/heads/main',
    committed=None,
    sandbox='bubblewrap',
    engine_version=get_engine_version('java'),
)
BUILT: dict[str, str | None] = {'a': None, 'b': None}


@pytest.mark.parametrize(
    ('outdated', 'failure', 'modules', 'found'),
    [
        (None, None, BUILT, (None, '')),
        ('Java 7', None, BUILT, (InvalidReason.LEVEL_TOO_OLD, 'Java 7')),
        ('Java 5', 'UnresolvableModelException', {}, (InvalidReason.LEVEL_TOO_OLD, 'Java 5')),
        (
            *(None, 'UnresolvableModelException', {}),
            (InvalidReason.DOES_NOT_BUILD, 'UnresolvableModelException'),
        ),
        (
            *(None, None, {'a': 'skipped', 'b': 'maven-antrun-plugin:run', 'c': None}),
            (InvalidReason.DOES_NOT_BUILD, 'b: maven-antrun-plugin:run'),
        ),
    ],
)
def test_build_findings_decide_whether_a_build_is_valid(
    outdated: str | None,
    failure: str | None,
    modules: Mapping[str, str | None],
    found: tuple[InvalidReason | None, str],
) -> None:
    build = Build(rev=BLANK.rev, failure=failure, modules=modules, runtime='17')
    proven = add_build_findings(BLANK, build, outdated)
    assert (proven.reason, proven.detail) == found
    assert proven.built == sum(why is None for why in modules.values())


def test_a_validation_by_another_engine_version_is_done_again(tmp_path: Path) -> None:
    repository = write(tmp_path / 'repository', [{'build.gradle': ''}])
    store = tmp_path / 'store'
    found = validated(repository, store)
    older = replace(found, reason=InvalidReason.NO_TESTS, engine_version='older')
    write_validation(store, older, ValidationSeconds(build=1.0, suite=0.0))
    assert load_latest_validation(store, NAME) == older
    assert validated(repository, store) == found == load_latest_validation(store, NAME)


def test_the_most_recently_requested_validation_is_the_latest(tmp_path: Path) -> None:
    repository = write(tmp_path / 'repository', [{'build.gradle': ''}, {'build.gradle': 'new'}])
    store = tmp_path / 'store'
    assert load_latest_validation(store, NAME) is None
    head = validated(repository, store)
    git(repository, 'tag', '1.0', 'HEAD~1')
    older = validated(repository, store)
    assert (older.ref, load_latest_validation(store, NAME)) == ('refs/tags/1.0', older)
    assert validated(repository, store, ref='main') == head


def test_validations_are_kept_in_the_place_of_the_store(bucket: Url, tmp_path: Path) -> None:
    repository = write(tmp_path / 'repository', [{'build.gradle': ''}])
    found = validate_repository(
        ValidateOptions(source=str(repository), store=bucket, name=NAME, local=tmp_path / 'local')
    )
    assert load_latest_validation(bucket, NAME) == found
    names = {entry.name for entry in open_place(bucket).list_files('validations')}
    assert names == {
        f'validations/local+shop/{name}'
        for name in ('latest.json', f'{found.rev}.json', f'{found.rev}.seconds.json')
    }


def test_a_repository_that_cannot_be_validated_does_not_stop_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = str(write(tmp_path / 'repository', [{'build.gradle': ''}]))
    store = ['--store', str(tmp_path / 'store')]
    init(tmp_path / 'empty')
    assert main(['pipeline', 'validate', str(tmp_path / 'empty'), repository, *store]) == 2
    told = capsys.readouterr()
    assert 'no commit' in told.err
    assert 'invalid, no_build_file: There is no build file at the root.' in told.out
    assert main(['pipeline', 'validate', repository, *store]) == 1
    assert main(['pipeline', 'validate', repository, repository, *store, '--name', NAME]) == 2
    assert '--name' in capsys.readouterr().err
    (tmp_path / 'other').mkdir()
    (tmp_path / 'other' / 'notes.txt').write_text('mine')
    assert main(['pipeline', 'validate', repository, '--store', str(tmp_path / 'other')]) == 2
    assert 'is no store of coevo' in capsys.readouterr().err
