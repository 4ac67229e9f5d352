from __future__ import annotations

import pytest

from coevo.languages.java.revisions.junits import JUnitLibraries, choose_junit_libraries_to_add
from coevo.languages.java.tools.toolchain import load_toolchain_pins

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


def test_old_junit_comes_after_the_one_of_coevo() -> None:
    for jar in ('junit-4.8.2.jar', 'junit-3.8.1.jar', 'junit-dep-4.11.jar'):
        got = choose_junit_libraries_to_add([jar, 'hamcrest-core-1.1.jar'])
        assert got == JUnitLibraries(first=('junit', 'hamcrest-core'), last=VINTAGE)


@pytest.mark.parametrize('version', ['4.12', '4.13.2', '4.13-beta-3'])
def test_newer_junit_4_of_the_project_is_kept(version: str) -> None:
    jars = [f'junit-{version}.jar']
    assert choose_junit_libraries_to_add([*jars, 'hamcrest-2.2.jar']) == JUnitLibraries(
        last=VINTAGE
    )
    assert choose_junit_libraries_to_add(jars) == JUnitLibraries(last=(*VINTAGE, 'hamcrest-core'))


def test_jupiter_keeps_its_version() -> None:
    assert choose_junit_libraries_to_add(['junit-jupiter-api-5.9.3.jar']) == JUnitLibraries(
        resolve=(f'{JUPITER}:5.9.3', f'{LAUNCHER}:1.9.3')
    )
    got = choose_junit_libraries_to_add(
        ['junit-jupiter-api-6.0.1.jar', 'junit-jupiter-engine-6.0.1.jar']
    )
    assert got == JUnitLibraries(resolve=(f'{LAUNCHER}:6.0.1',))
    got = choose_junit_libraries_to_add(['junit-jupiter-api-5.4.0-M1.jar'])
    assert got == JUnitLibraries(resolve=(f'{JUPITER}:5.4.0-M1', f'{LAUNCHER}:1.4.0-M1'))


def test_vintage_engine_is_added_to_jupiter_only_beside_junit_4() -> None:
    got = choose_junit_libraries_to_add(['junit-jupiter-api-5.9.3.jar', 'junit-4.12.jar'])
    assert got is not None
    assert got.resolve[2:] == ('org.junit.vintage:junit-vintage-engine:5.9.3',)
    assert got.first == ()


def test_too_old_jupiter_comes_after_the_one_of_coevo() -> None:
    got = choose_junit_libraries_to_add(['junit-jupiter-api-5.2.0.jar', 'junit-4.8.jar'])
    assert got is not None
    assert got.first[0] == 'junit-jupiter-engine'
    assert {'junit', 'hamcrest-core', 'junit-vintage-engine'} < set(got.first)
    assert got.resolve == ()


def test_other_engines_get_the_launcher_of_their_platform_version() -> None:
    jars = ['jqwik-engine-1.8.5.jar', 'junit-platform-engine-1.10.2.jar']
    assert choose_junit_libraries_to_add(jars) == JUnitLibraries(resolve=(f'{LAUNCHER}:1.10.2',))
    got = choose_junit_libraries_to_add(
        ['junit-vintage-engine-5.7.0.jar', 'junit-platform-engine-1.7.0.jar']
    )
    assert got == JUnitLibraries(resolve=(f'{LAUNCHER}:1.7.0',))
    got = choose_junit_libraries_to_add(['junit-4.13.jar', 'junit-platform-commons-6.0.1.jar'])
    assert got == JUnitLibraries(resolve=(f'{LAUNCHER}:6.0.1', f'{VINTAGE_ENGINE}:6.0.1'))


def test_the_launcher_follows_the_platform_rather_than_jupiter() -> None:
    jars = ['junit-jupiter-api-5.9.3.jar', 'junit-platform-commons-1.10.1.jar']
    assert choose_junit_libraries_to_add(jars) == JUnitLibraries(
        resolve=(f'{JUPITER}:5.9.3', f'{LAUNCHER}:1.10.1')
    )


def test_testng_gets_an_engine() -> None:
    platform = VINTAGE[1:]
    assert choose_junit_libraries_to_add(['testng-7.5.jar']) == JUnitLibraries(
        last=('testng-engine', *platform)
    )
    old = choose_junit_libraries_to_add(['testng-6.8-jdk15.jar'])
    assert old == JUnitLibraries(
        first=('testng', 'jcommander', 'bsh'), last=('testng-engine', *platform)
    )
    both = choose_junit_libraries_to_add(['testng-7.5.jar', 'junit-4.13.jar', 'hamcrest-2.2.jar'])
    assert both == JUnitLibraries(last=('junit-vintage-engine', 'testng-engine', *platform))
    jupiter = choose_junit_libraries_to_add(['testng-7.5.jar', 'junit-jupiter-api-5.9.3.jar'])
    assert jupiter is not None
    assert jupiter.last == ('testng-engine',)


def test_class_path_without_a_test_framework_gets_no_libraries() -> None:
    assert choose_junit_libraries_to_add(['spock-core-1.3.jar', 'classes']) is None


def test_every_selectable_junit_artifact_is_pinned() -> None:
    known = {pin.artifact for pin in load_toolchain_pins()}
    old = choose_junit_libraries_to_add(['junit-jupiter-api-5.0.0.jar', 'junit-4.8.jar'])
    new = choose_junit_libraries_to_add(['junit-4.12.jar', 'testng-6.8.jar'])
    assert old is not None
    assert new is not None
    assert {*old.first, *old.last, *new.first, *new.last} <= known
