from __future__ import annotations

import pytest

from coevo.languages.java.reading.junit import JUnitLibraries
from coevo.languages.java.reading.junit import junit_libraries
from coevo.languages.java.tools.toolchain import pins

VINTAGE = (
    'junit-vintage-engine',
    'junit-platform-launcher',
    'junit-platform-engine',
    'junit-platform-commons',
    'opentest4j',
    'apiguardian-api',
)
JUPITER = 'org.junit.jupiter:junit-jupiter-engine'
VINTAGE_ENGINE = 'org.junit.vintage:junit-vintage-engine'
LAUNCHER = 'org.junit.platform:junit-platform-launcher'


def test_an_old_junit_is_put_behind_ours() -> None:
    for jar in ('junit-4.8.2.jar', 'junit-3.8.1.jar', 'junit-dep-4.11.jar'):
        got = junit_libraries([jar, 'hamcrest-core-1.1.jar'])
        assert got == JUnitLibraries(first=('junit', 'hamcrest-core'), last=VINTAGE)


@pytest.mark.parametrize('version', ['4.12', '4.13.2', '4.13-beta-3'])
def test_a_newer_junit_4_is_the_projects_own(version: str) -> None:
    jars = [f'junit-{version}.jar']
    assert junit_libraries([*jars, 'hamcrest-2.2.jar']) == JUnitLibraries(last=VINTAGE)
    assert junit_libraries(jars) == JUnitLibraries(last=(*VINTAGE, 'hamcrest-core'))


def test_jupiter_keeps_its_version() -> None:
    assert junit_libraries(['junit-jupiter-api-5.9.3.jar']) == JUnitLibraries(
        resolve=(f'{JUPITER}:5.9.3', f'{LAUNCHER}:1.9.3')
    )
    got = junit_libraries(['junit-jupiter-api-6.0.1.jar', 'junit-jupiter-engine-6.0.1.jar'])
    assert got == JUnitLibraries(resolve=(f'{LAUNCHER}:6.0.1',))
    got = junit_libraries(['junit-jupiter-api-5.4.0-M1.jar'])
    assert got == JUnitLibraries(resolve=(f'{JUPITER}:5.4.0-M1', f'{LAUNCHER}:1.4.0-M1'))


def test_vintage_comes_with_jupiter_only_beside_junit_4() -> None:
    got = junit_libraries(['junit-jupiter-api-5.9.3.jar', 'junit-4.12.jar'])
    assert got is not None
    assert got.resolve[2:] == ('org.junit.vintage:junit-vintage-engine:5.9.3',)
    assert got.first == ()


def test_a_jupiter_older_than_the_workers_calls_is_put_behind_ours() -> None:
    got = junit_libraries(['junit-jupiter-api-5.2.0.jar', 'junit-4.8.jar'])
    assert got is not None
    assert got.first[0] == 'junit-jupiter-engine'
    assert {'junit', 'hamcrest-core', 'junit-vintage-engine'} < set(got.first)
    assert got.resolve == ()


def test_other_engines_get_the_launcher_of_their_platform() -> None:
    jars = ['jqwik-engine-1.8.5.jar', 'junit-platform-engine-1.10.2.jar']
    assert junit_libraries(jars) == JUnitLibraries(resolve=(f'{LAUNCHER}:1.10.2',))
    got = junit_libraries(['junit-vintage-engine-5.7.0.jar', 'junit-platform-engine-1.7.0.jar'])
    assert got == JUnitLibraries(resolve=(f'{LAUNCHER}:1.7.0',))
    got = junit_libraries(['junit-4.13.jar', 'junit-platform-commons-6.0.1.jar'])
    assert got == JUnitLibraries(resolve=(f'{LAUNCHER}:6.0.1', f'{VINTAGE_ENGINE}:6.0.1'))


def test_the_launcher_follows_the_platform_rather_than_jupiter() -> None:
    jars = ['junit-jupiter-api-5.9.3.jar', 'junit-platform-commons-1.10.1.jar']
    assert junit_libraries(jars) == JUnitLibraries(
        resolve=(f'{JUPITER}:5.9.3', f'{LAUNCHER}:1.10.1')
    )


def test_testng_gets_an_engine() -> None:
    platform = VINTAGE[1:]
    assert junit_libraries(['testng-7.5.jar']) == JUnitLibraries(last=('testng-engine', *platform))
    old = junit_libraries(['testng-6.8-jdk15.jar'])
    assert old == JUnitLibraries(
        first=('testng', 'jcommander', 'bsh'), last=('testng-engine', *platform)
    )
    both = junit_libraries(['testng-7.5.jar', 'junit-4.13.jar', 'hamcrest-2.2.jar'])
    assert both == JUnitLibraries(last=('junit-vintage-engine', 'testng-engine', *platform))
    jupiter = junit_libraries(['testng-7.5.jar', 'junit-jupiter-api-5.9.3.jar'])
    assert jupiter is not None
    assert jupiter.last == ('testng-engine',)


def test_without_a_framework_there_is_no_choice() -> None:
    assert junit_libraries(['spock-core-1.3.jar', 'classes']) is None


def test_every_artifact_that_can_be_chosen_is_pinned() -> None:
    known = {pin.artifact for pin in pins()}
    old = junit_libraries(['junit-jupiter-api-5.0.0.jar', 'junit-4.8.jar'])
    new = junit_libraries(['junit-4.12.jar', 'testng-6.8.jar'])
    assert old is not None
    assert new is not None
    assert {*old.first, *old.last, *new.first, *new.last} <= known
