"""What Gradle itself tells of a build of two projects, and what is mined of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.cells import Build
from coevo.languages.java.building.report import JavaModule
from coevo.languages.java.revisions.failures import GRADLE_MISSING
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.languages.java.tools.gradles import LIMIT
from coevo.model.pair_rows import Environment
from coevo.model.profiles import load_profile
from coevo.model.words import Label
from tests.gradle_distribution import FORKED, VERSION, gradle_home
from tests.projects import Mined, junit, mined, source, write
from tests.repos import git

# What Central has of Gradle is 165 MB, and each build a JVM of its own.
pytestmark = [pytest.mark.jvm, pytest.mark.slow]

ROOT = f"""
subprojects {{
    apply plugin: 'java-library'
    sourceCompatibility = '11'
    repositories {{ mavenLocal(); mavenCentral(); maven {{ url = 'https://nowhere.invalid/m2' }} }}
    dependencies {{
        testImplementation 'junit:junit:4.13.2'
        testCompileOnly 'org.jspecify:jspecify:1.0.0'
    }}
    test {{
        systemProperty 'shop.name', 'till'
        jvmArgs '-Xmx200m'
        environment 'SHOP', 'open'
    }}
}}
{FORKED}
"""
LOCAL = "dependencies { implementation project(':base'); implementation files('libs/empty.jar') }"


EMPTY_JAR = b'PK\x05\x06' + bytes(18)


def of(project: str, files: dict[str, str]) -> dict[str, str]:
    return {f'{project}/{path}': text for path, text in files.items()}


FIRST: dict[str, str | bytes] = {
    'settings.gradle': "rootProject.name = 'shop'\ninclude 'base', 'core'\n",
    'build.gradle': ROOT,
    'LICENSE': 'MIT License\n',
    'core/build.gradle': LOCAL,
    'core/libs/empty.jar': EMPTY_JAR,
    'base/src/main/resources/shop/name.txt': 'till\n',
    'base/src/test/resources/shop/test.txt': 'test\n',
    **of('base', source('Till', '    public static int last() { return 1; }\n')),
    **of('base', junit('TillTest', 'rings: assertEquals(1, Till.last());')),
    **of('core', source('Desk', '    public static int sum() { return Till.last() + 1; }\n')),
}
# `base` has no script of its own, `core` sees its classes and resources.
SECOND = {
    **of(
        'base',
        source(
            'Till',
            '    public static int last() { return 2; }\n'
            '    public static int next(int n) { return n + 1; }\n',
        ),
    ),
    **of(
        'base',
        junit(
            'TillTest',
            'rings: assertEquals(2, Till.last());',
            'goesOn: assertEquals(5, Till.next(4));',
        ),
    ),
    **of(
        'core',
        junit(
            'DeskTest',
            'sums: assertEquals(3, Desk.sum());',
            'reads: assertNotNull(Till.class.getResource("/shop/name.txt"));'
            ' assertEquals("till", System.getProperty("shop.name"));'
            ' assertEquals("open", System.getenv("SHOP"));',
        ),
    ),
}
WRAPPER = 'gradle/wrapper/gradle-wrapper.properties'
STEPS: dict[str, Mapping[str, str | bytes]] = {
    'first': FIRST,
    'second': SECOND,
    'changing': {'build.gradle': ROOT.replace('junit:4.13.2', 'junit:4.+')},
    'gone': {'build.gradle': ROOT.replace('junit:4.13.2', 'nothing-of-the-kind:1')},
    'plugin': {'build.gradle': f"plugins {{ id 'shop.nobody' version '1' }}\n{ROOT}"},
    'script': {'build.gradle': 'this is no script'},
    'broken': {'build.gradle': ROOT, **of('core', source('Desk', '    int sum() { return; }\n'))},
    'of another': {WRAPPER: 'distributionUrl=https\\://x.org/gradle-2.1-bin.zip\n'},
}


# Of each step; the environment is that of `core`.
Builds = Mapping[str, tuple[Build, Mapping[str, JavaModule], Environment | None]]


@pytest.fixture(scope='module', autouse=True)
def gradle() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('GRADLE_HOME', str(gradle_home()))
        patch.setenv(LIMIT, VERSION)
        yield


@pytest.fixture(scope='module')
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp('shop') / 'repository', list(STEPS.values()))


@pytest.fixture(scope='module')
def builds(repository: Path) -> Builds:
    """Each step's build, what was told of its projects, and the environment of `core`."""
    revs = git(repository, 'rev-list', '--reverse', 'HEAD').split()
    found = {}
    with ExitStack() as stack:
        run = JavaRunContext(Repository(repository / '.git'), sandbox='bubblewrap', stack=stack)
        shared = SharedBuilds(run)
        session = shared.make_session()
        stack.callback(session.close)
        for name, rev in zip(STEPS, revs, strict=True):
            build = shared.build(rev, session)
            modules = dict(shared.get_output(rev).modules)
            found[name] = (build, modules, shared.contents.describe_environment(rev, 'core'))
    return found


def test_gradle_build_reports_class_path_and_test_settings_of_a_project(
    builds: Builds,
) -> None:
    build, modules, environment = builds['second']
    assert build.modules == {'base': None, 'core': None}
    assert (build.builder, build.level) == (f'gradle {VERSION}', 11)
    core = modules['core']
    assert [(one.sibling, one.path, one.file, one.scope) for one in core.class_path] == [
        (None, None, 'core/libs/empty.jar', 'compile'),
        ('base', None, None, 'compile'),
        (None, 'junit/junit/4.13.2/junit-4.13.2.jar', None, 'test'),
        (None, 'org/hamcrest/hamcrest-core/1.3/hamcrest-core-1.3.jar', None, 'test'),
        (None, 'org/jspecify/jspecify/1.0.0/jspecify-1.0.0.jar', None, 'provided'),
    ]
    # What tests are compiled with alone is not there when they run.
    assert [core.surefire.excludes_entry(one) for one in core.class_path] == [False] * 4 + [True]
    assert core.surefire.arg_line == '-Xmx200m'
    assert core.surefire.properties == {'shop.name': 'till'}
    assert core.surefire.environment == {'SHOP': 'open'}
    assert (core.compiler['source'], core.compiler['proc']) == ('11', 'none')
    assert environment is not None
    assert environment.build_tool == f'gradle {VERSION}'
    assert 'junit:junit:4.13.2' in {one.coordinates for one in environment.libraries}


@pytest.mark.parametrize(
    ('step', 'failure'),
    [
        ('changing', 'unpinned_dependency'),
        ('gone', 'library_missing'),
        ('plugin', 'UnknownPluginException'),
        ('script', 'MissingPropertyException'),
        ('of another', GRADLE_MISSING),
    ],
)
def test_failed_gradle_build_reports_its_reason(
    builds: Builds,
    step: str,
    failure: str,
) -> None:
    assert builds[step][0].failure == failure


def test_project_that_does_not_compile_leaves_other_projects_built(
    builds: Builds,
) -> None:
    build, _, _ = builds['broken']
    assert build.failure is None
    assert build.modules == {'base': None, 'core': 'compileJava'}


@pytest.fixture(scope='module')
def shop(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Mined:
    short = tmp_path_factory.mktemp('short') / 'repository'
    git(repository, 'clone', '--quiet', str(repository), str(short))
    git(short, 'reset', '--quiet', '--hard', 'HEAD~6')
    return mined(short, tmp_path_factory.mktemp('store'), profile=load_profile('whole'))


def test_pairs_of_a_gradle_build_get_labels(shop: Mined) -> None:
    assert {row.test_method: row.label for row in shop.methods} == {
        'rings': Label.UPDATE,
        'goesOn': Label.GENERATION,
        'sums': Label.GENERATION,
        'reads': Label.REDUNDANT,
    }
    assert shop.method('sums').module == 'core'
