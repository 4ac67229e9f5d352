"""Test JVMs run from an archive of their libraries, which is made once and changes no verdict."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.java.building import settings
from coevo.languages.java.building.session import JvmAnswer, JvmSession
from coevo.languages.java.revisions import shared_builds
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from tests.coevo.languages.place import built_alone
from tests.projects import junit, pom, source, write
from tests.repos import git

STEP = {
    'pom.xml': pom(),
    **source('Till', '    public static int last() { return 1; }\n'),
    **junit(
        'TillTest',
        'rings: assertEquals(1, Till.last());',
        'jams: assertEquals(2, Till.last());',
        'shares: String n = java.lang.management.ManagementFactory.getRuntimeMXBean()'
        '.getInputArguments().toString(); assertTrue(n, n.contains("SharedArchiveFile"));',
    ),
}


def _answers(builds: SharedBuilds, option: str) -> bool:
    """Whether the builder starts with an option: `-Xshare:on` lets no JVM do without its archive."""
    job = builds.make_builder_job()
    argv = tuple(option if word == '-Xshare:auto' else word for word in job.argv)
    assert option in argv
    session = JvmSession(builds.sandbox, lambda: replace(job, argv=argv), seconds=60)
    try:
        return isinstance(
            session.ask(
                settings.make_resolve_request(()), builds.locate_folder_creating_parents('nothing')
            ),
            JvmAnswer,
        )
    finally:
        session.close()


@pytest.mark.jvm
@pytest.mark.slow
def test_class_archive_serves_all_processes_and_changes_no_verdict(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_builds, 'find_cache_folder', lambda: folder)  # archives of our own
    repository = write(tmp_path / 'repository', [STEP])
    rev = git(repository, 'rev-parse', 'HEAD').strip()
    methods = [
        TestMethod(
            module='.',
            test_file='src/test/java/shop/TillTest.java',
            test_class='shop.TillTest',
            test_method=name,
            parameters=(),
        )
        for name in ('rings', 'jams', 'shares')
    ]
    with ExitStack() as stack:
        run = JavaRunContext(Repository(repository / '.git'), sandbox='bubblewrap', stack=stack)
        builds = SharedBuilds(run)
        built = built_alone(run.repository, builds, rev)
        stack.callback(built.worker.close)
        compiled = built.compile(rev, rev, '.')
        with_it = built.run(compiled, methods)
        assert len(list(folder.glob('archives/*.jsa'))) == 2, "the builder's and that of the tests"
        assert _answers(builds, '-Xshare:on')
        monkeypatch.setattr(shared_builds, 'OLDEST_WITH_ARCHIVES', 1000)
        without = built.run(compiled, methods)
    outcomes = [v.outcome for v in without.verdicts if v is not None]
    assert outcomes == [Outcome.PASS, Outcome.FAIL, Outcome.FAIL]
    outcomes = [v.outcome for v in with_it.verdicts if v is not None]
    assert outcomes == [Outcome.PASS, Outcome.FAIL, Outcome.PASS]
    same = [replace(v, cpu_seconds=0.0) for v in without.verdicts[:2] if v is not None]
    assert same == [replace(v, cpu_seconds=0.0) for v in with_it.verdicts[:2] if v is not None]
