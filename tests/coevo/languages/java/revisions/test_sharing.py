"""A revision that differs in test sources alone is not built again; any other is."""

from __future__ import annotations

from contextlib import ExitStack
from typing import NamedTuple

import pytest

from coevo.git.repository import Repository
from coevo.languages.cells import Build
from coevo.languages.java.building.session import JvmSession
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from tests.projects import junit, pom, source, write
from tests.repos import git

pytestmark = pytest.mark.jvm

STEPS = {
    'first': {
        'pom.xml': pom(),
        **source('Till', '    public static int last() { return 1; }\n'),
        **junit('TillTest', 'rings: assertEquals(1, Till.last());'),
    },
    'tests': junit('TillTest', 'rings: assertEquals(2, Till.last());'),
    'resource': {'src/test/resources/till.txt': 'one'},
    'data': {'src/test/java/shop/till.txt': 'one'},
    'code': source('Till', '    public static int last() { return 2; }\n'),
    'more': junit('OtherTest', 'rings: assertEquals(2, Till.last());'),
    'broken': source('Till', '    public static int last() { return; }\n'),
    'broken_still': junit('OtherTest', 'rings: assertEquals(3, Till.last());'),
    'mended': source('Till', '    public static int last() { return 3; }\n'),
}


class Built(NamedTuple):
    build: Build
    classes: int  # the inode of the class that was compiled, 0 where it was not
    test: str


@pytest.fixture(scope='module')
def builds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Built]:
    """Each step's build while those before it are at hand."""
    folder = write(tmp_path_factory.mktemp('shop') / 'repository', list(STEPS.values()))
    repository = Repository(folder / '.git')
    revs = git(folder, 'rev-list', '--reverse', 'HEAD').split()
    with ExitStack() as stack:
        builds = SharedBuilds(JavaRunContext(repository, sandbox='bubblewrap', stack=stack))
        session = builds.make_session()
        stack.callback(session.close)
        return {name: built(builds, rev, session) for name, rev in zip(STEPS, revs, strict=True)}


def built(builds: SharedBuilds, rev: str, session: JvmSession) -> Built:
    build, output = builds.build(rev, session), builds.get_output(rev)
    assert build.rev == rev
    (tests,) = output.list_test_source_roots('.')
    made = [path.stat().st_ino for path in output.code.rglob('Till.class')]
    assert len(made) == (build.failure is None)
    return Built(build, sum(made), (tests / 'shop/TillTest.java').read_text())


@pytest.mark.parametrize(('step', 'donor'), [('tests', 'first'), ('more', 'code')])
def test_revision_that_differs_only_in_tests_is_not_built_again(
    builds: dict[str, Built], step: str, donor: str
) -> None:
    assert builds[step].build.cpu_seconds == 0
    assert builds[step].classes == builds[donor].classes


def test_revision_with_a_shared_build_has_its_own_tests(builds: dict[str, Built]) -> None:
    assert 'assertEquals(1' in builds['first'].test
    assert 'assertEquals(2' in builds['tests'].test


def test_failed_build_is_shared_like_a_successful_build(builds: dict[str, Built]) -> None:
    failed = {name: built.build for name, built in builds.items() if built.build.failure}
    assert list(failed) == ['broken', 'broken_still']
    assert {build.built_or_first_failure for build in failed.values()} == {
        'maven-compiler-plugin:compile'
    }
    assert failed['broken'].cpu_seconds > 0
    assert failed['broken_still'].cpu_seconds == 0


@pytest.mark.parametrize('step', ['resource', 'data', 'code', 'mended'])
def test_revision_that_differs_in_other_files_is_built_again(
    builds: dict[str, Built], step: str
) -> None:
    others = {built.classes for name, built in builds.items() if name not in (step, 'more')}
    assert builds[step].build.cpu_seconds > 0
    assert builds[step].classes not in others
