"""Which Gradle of a machine builds a revision, and with which JDKs."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.java import gradle
from coevo.languages.java.building.report import JdkDemand
from coevo.languages.java.gradle import choose_gradle, find_gradle_demand
from coevo.languages.java.tools.gradles import Gradle, find_gradles
from tests.projects import write

ALL = tuple(
    Gradle(home=Path('/gradle', version), version=version)
    for version in ('6.9', '7.4.2', '7.6.4', '8.5', '8.10')
)


def laid_out(home: Path, jar: str) -> Path:
    for file in (home / 'lib' / jar, home / 'bin' / 'gradle'):
        file.parent.mkdir(parents=True)
        file.touch()
    return home


def test_gradles_of_the_environment_and_of_used_wrappers_are_found(tmp_path: Path) -> None:
    named = laid_out(tmp_path / 'named', 'gradle-core-api-8.5.jar')
    wrapped = tmp_path / 'user' / 'wrapper' / 'dists' / 'gradle-6.9-bin' / 'x1' / 'gradle-6.9'
    laid_out(wrapped, 'gradle-core-6.9.jar')
    (tmp_path / 'user' / 'wrapper' / 'dists' / 'gradle-7.0-bin' / 'x2').mkdir(parents=True)
    environment = {
        'GRADLE_HOME': str(named),
        'GRADLE_USER_HOME': str(tmp_path / 'user'),
        'PATH': str(tmp_path),
    }
    found = [one for one in find_gradles(environment) if one.home.is_relative_to(tmp_path)]
    assert found == [Gradle(home=wrapped, version='6.9'), Gradle(home=named, version='8.5')]
    (only,) = find_gradles({**environment, 'COEVO_GRADLES': '8.5:9.9'})
    assert only.version == '8.5'
    assert find_gradles({**environment, 'COEVO_GRADLES': 'none'}) == ()


@pytest.mark.parametrize(
    ('wanted', 'chosen'),
    [
        ('7.4.2', '7.4.2'),  # the very one
        ('7.5', '7.6.4'),  # else a newer one
        ('8.9', '8.10'),  # by numbers
        ('8.14', '8.10'),  # else the nearest older one
        ('5.6', None),  # scripts break with first numbers
        ('9.0-rc-1', None),
        (None, '8.10'),
    ],
)
def test_gradle_version_of_the_wrapper_decides_the_choice(
    wanted: str | None, chosen: str | None
) -> None:
    found = choose_gradle(ALL, wanted)
    assert (found.version if found else None) == chosen


def test_no_gradle_is_chosen_from_none() -> None:
    assert choose_gradle((), None) is None


WRAPPER = 'distributionUrl=https\\://example.org/distributions/gradle-{}-bin.zip\n'


@pytest.mark.parametrize(
    ('script', 'wrapper', 'demand'),
    [
        ('', '8.5', JdkDemand(lowest=8, highest=21)),
        ('', '6.9', JdkDemand(lowest=8, highest=15)),
        ('', '5.0', JdkDemand()),
        ("sourceCompatibility = '1.8'", '8.5', JdkDemand(lowest=8, highest=21)),
        ('sourceCompatibility = JavaVersion.VERSION_11', '8.5', JdkDemand(lowest=11, highest=21)),
        ('targetCompatibility JavaVersion.VERSION_1_8', '8.5', JdkDemand(lowest=8, highest=21)),
        ('options.release.set(17)', '8.5', JdkDemand(lowest=17, highest=21)),
        ('options.release = 9', '8.5', JdkDemand(lowest=9, highest=21)),
        ('of = JavaLanguageVersion.of(17)', '8.5', JdkDemand(lowest=17, highest=17)),
    ],
)
def test_jdk_demand_is_within_the_jdks_that_gradle_supports(
    tmp_path: Path, script: str, wrapper: str, demand: JdkDemand
) -> None:
    files = {
        'build.gradle': script,
        'gradle/wrapper/gradle-wrapper.properties': WRAPPER.format(wrapper),
    }
    repository = Repository(write(tmp_path / 'repository', [files]) / '.git')
    assert gradle.has_gradle_script(repository, 'HEAD')
    assert find_gradle_demand(repository, 'HEAD', ALL) == demand


def test_revision_without_a_wrapper_demands_no_gradle_version(tmp_path: Path) -> None:
    repository = Repository(write(tmp_path / 'repository', [{'settings.gradle.kts': ''}]) / '.git')
    assert gradle.find_wrapper_version(repository, 'HEAD') is None
    assert find_gradle_demand(repository, 'HEAD', ALL) == JdkDemand(lowest=8, highest=23)
