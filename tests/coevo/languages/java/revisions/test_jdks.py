"""Which JDK a pair is built and run with."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.java.building.report import JdkDemand
from coevo.languages.java.engine import choose_jdks_to_try, find_named_jdk_releases
from coevo.languages.java.maven.pom_demand import parse_pom_demand
from coevo.languages.java.tools.jdks import LIMIT, Jdk, find_jdks
from coevo.model.words import Label
from tests.once import mined_once
from tests.projects import junit, pom, source, write

ALL = tuple(Jdk(home=Path(f'/jdk/{n}'), version=f'{n}.0.1') for n in (25, 8, 17, 11, 21))


def jdks(*features: int) -> tuple[Jdk, ...]:
    return tuple(jdk for jdk in ALL if jdk.feature in features)


@pytest.mark.parametrize(
    ('year', 'demand', 'there', 'order'),
    [
        (2014, JdkDemand(lowest=6), (8, 11, 17, 21, 25), [8, 11, 17]),
        (2020, JdkDemand(lowest=8), (8, 11, 17, 21, 25), [11, 8, 17]),
        (2023, JdkDemand(lowest=8), (8, 11, 17, 21, 25), [17, 11, 8]),
        (2025, JdkDemand(lowest=8), (8, 11, 17, 21, 25), [21, 17, 8]),
        (2023, JdkDemand(), (8, 11, 17, 21, 25), [17, 11, 21]),
        (2023, JdkDemand(lowest=21), (8, 11, 17, 21, 25), [21, 25]),
        (2023, JdkDemand(highest=11), (8, 11, 17, 21, 25), [11, 8]),
        (2014, JdkDemand(), (17,), [17]),
        (2025, JdkDemand(lowest=8), (17, 25), [17, 25]),
        (2025, JdkDemand(lowest=21), (17, 25), [25]),
        (2014, JdkDemand(), (17, 25), [17, 25]),
        (2014, JdkDemand(lowest=8, highest=8), (17, 25), [17, 25]),
        (2024, JdkDemand(lowest=21), (17,), [17]),
        (2024, JdkDemand(), (), []),
        (2020, JdkDemand(named=frozenset({8})), (8, 11, 17, 21, 25), [8, 11, 17]),
        (2020, JdkDemand(named=frozenset({7})), (8, 11, 17), [8, 11, 17]),
        (2024, JdkDemand(named=frozenset({8, 11})), (8, 11, 17, 21), [11, 8, 17]),
        (2016, JdkDemand(named=frozenset({11, 17})), (8, 11, 17), [11, 8, 17]),
        (2024, JdkDemand(lowest=17, named=frozenset({8, 14})), (8, 11, 17, 21), [17, 21]),
    ],
)
def test_jdks_are_ranked_by_the_demand_and_the_date_of_the_revision(
    year: int, demand: JdkDemand, there: tuple[int, ...], order: list[int]
) -> None:
    made = datetime(year, 6, 1, tzinfo=UTC)
    assert [jdk.feature for jdk in choose_jdks_to_try(demand, made, jdks(*there))] == order


def test_jdk_17_ranks_first_for_a_revision_without_a_date() -> None:
    assert choose_jdks_to_try(JdkDemand(), None, ALL)[0].feature == 17


@pytest.mark.parametrize(
    ('text', 'demand'),
    [
        ('<properties><maven.compiler.source>1.8</maven.compiler.source></properties>', (8, None)),
        ('<properties><java.version>17</java.version></properties>', (17, None)),
        ('<properties><jdk>11</jdk></properties>', (11, None)),
        ('<properties><junit.version>5</junit.version></properties>', (None, None)),
        (
            (
                '<properties><level>11</level></properties><build><plugins><plugin>'
                '<artifactId>maven-compiler-plugin</artifactId>'
                '<configuration><release>${level}</release></configuration></plugin></plugins></build>'
            ),
            (11, None),
        ),
        (
            (
                '<build><plugins><plugin><artifactId>maven-enforcer-plugin</artifactId><configuration>'
                '<rules><requireJavaVersion><version>[11,18)</version></requireJavaVersion></rules>'
                '</configuration></plugin></plugins></build>'
            ),
            (11, 17),
        ),
        ('<properties><java.version>latest', (None, None)),
    ],
)
def test_jdk_demand_is_read_from_a_pom(text: str, demand: tuple[int | None, int | None]) -> None:
    closed = text if text.endswith('latest') else f'<project xmlns="maven">{text}</project>'
    found = parse_pom_demand(closed.encode())
    assert (found.lowest, found.highest) == demand


@pytest.mark.parametrize(
    ('path', 'text', 'named'),
    [
        ('.travis.yml', 'language: java\njdk:\n  - oraclejdk7\n  - openjdk11\n', {7, 11}),
        ('.travis.yml', 'language: java\nsudo: false\nscript: mvn -B test\n', set()),
        ('.github/workflows/ci.yml', '    - with:\n        java-version: 1.8\n', {8}),
        ('.github/workflows/ci.yml', "      java: [ '8', 11, 17.0.3 ]\n", {8, 11, 17}),
        ('.github/workflows/ci.yml', '  java:\n  - 8\n  - 21-ea\n  other: 9\n', {8, 21}),
        ('.github/workflows/ci.yml', 'java-version: ${{ matrix.java }}\nnode: 14\n', set()),
        ('.github/workflows/ci.txt', 'java: 8\n', set()),
        ('.gitlab-ci.yml', 'image: maven:3.6-jdk-8-slim\n', {8}),
        ('.java-version', '11.0\n', {11}),
        ('.sdkmanrc', 'java=8.0.292.hs-adpt\ngradle=7.4\n', {8}),
        ('.tool-versions', 'nodejs 18.1\njava adoptopenjdk-11.0.16+8\n', {11}),
        ('sub/.java-version', '11\n', set()),
        ('.travis.yml', b'jdk: \xff openjdk8', {8}),
    ],
)
def test_jdk_versions_are_read_from_ci_and_version_manager_files(
    path: str, text: str | bytes, named: set[int], tmp_path: Path
) -> None:
    repository = write(tmp_path / 'demo', [{path: text}])
    found = Repository(repository / '.git')
    assert find_named_jdk_releases(found, found.resolve('HEAD')) == named


def asking_for_17(build: str = '') -> str:
    return pom(build).replace('>8<', '>17<')


def refusing(option: str) -> str:
    """A POM whose tests are to run with an option of the JVM."""
    return asking_for_17(f"""<build><plugins><plugin><groupId>org.apache.maven.plugins</groupId>
      <artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version><configuration>
      <argLine>{option}</argLine></configuration></plugin></plugins></build>""")


REFUSED_BY_25 = '-Djava.security.manager=allow'
SAYS = 'says: assertEquals({}, Till.number());'
FAILS = 'says: assertTrue("{}", Runtime.version().feature() > 17);'
UNREAD = 'says: assertEquals({}, java.util.List.of(Till.number()).reversed().get(0).intValue());'


@pytest.mark.slow
@pytest.mark.jvm
@pytest.mark.skipif(
    not {17, 25} <= {jdk.feature for jdk in find_jdks()}, reason='needs JDK 17 and 25'
)
@pytest.mark.parametrize(
    ('pom_text', 'test', 'jdk', 'tried'),
    [
        pytest.param(asking_for_17(), FAILS, 17, [17], id='a failure is a verdict'),
        pytest.param(
            refusing(REFUSED_BY_25), SAYS, 17, [25, 17], id='no start', marks=pytest.mark.slow
        ),
        pytest.param(
            refusing('-Xmx1k'), SAYS, 25, [25, 17], id='none starts', marks=pytest.mark.slow
        ),
        pytest.param(
            asking_for_17(), UNREAD, 25, [17, 25], id='no test compiles', marks=pytest.mark.slow
        ),
    ],
)
def test_next_jdk_is_tried_if_no_test_gives_a_result(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pom_text: str,
    test: str,
    jdk: int,
    tried: list[int],
) -> None:
    monkeypatch.setenv(LIMIT, '17:25')
    steps = [
        {
            'pom.xml': pom_text,
            '.java-version': str(tried[0]),
            **source('Till', f'    public static int number() {{ return {number}; }}\n'),
            **junit('TillTest', test.format(number)),
        }
        for number in (1, 2)
    ]
    found = mined_once(write(tmp_path / 'repository', steps), tmp_path / 'store')
    (pair,) = found.pairs
    assert (pair.build_old, pair.build_new) == ('built', 'built')
    assert str(pair.runtime).partition('.')[0] == str(jdk)
    assert [int(version.partition('.')[0]) for version in pair.runtimes_tried] == tried


NEWER = '    public static int last() {{ return java.util.List.of({}).reversed().get(0); }}\n'


@pytest.mark.slow
@pytest.mark.jvm
@pytest.mark.skipif(
    not any(jdk.feature >= 21 for jdk in find_jdks())
    or not any(jdk.feature == 17 for jdk in find_jdks()),
    reason='needs a JDK 17 and one from 21 on',
)
def test_next_jdk_is_tried_until_both_revisions_build(tmp_path: Path) -> None:
    """The POM asks for 17, but the code for a method that 21 brought."""
    seventeen = pom().replace('>8<', '>17<')
    steps = [
        {
            'pom.xml': seventeen,
            **source('Till', NEWER.format(number)),
            **junit('TillTest', f'ends: assertEquals({number}, Till.last());'),
        }
        for number in (1, 2)
    ]
    found = mined_once(write(tmp_path / 'repository', steps), tmp_path / 'store')
    (pair,) = found.pairs
    assert (pair.build_old, pair.build_new) == ('built', 'built')
    assert pair.runtime is not None
    assert int(pair.runtime.partition('.')[0]) >= 21
    assert next(version.partition('.')[0] for version in pair.runtimes_tried) == '17'
    assert pair.runtimes_tried[-1] == pair.runtime
    assert [row.label for row in found.methods] == [Label.UPDATE]
