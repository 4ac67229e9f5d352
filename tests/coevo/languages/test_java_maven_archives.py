"""Test JVMs run from an archive of their libraries, which is made once and changes no verdict."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.folders import cache_folder
from coevo.git import Repository
from coevo.languages.java_maven import yard as yards
from coevo.languages.java_maven.site import Site
from coevo.languages.java_maven.workshop import JavaWorkshop
from coevo.languages.java_maven.yard import Yard
from coevo.records import Outcome
from coevo.records import TestMethod
from coevo.records import short_hash
from tests.projects import junit
from tests.projects import pom
from tests.projects import source
from tests.projects import write
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


@pytest.mark.jvm
@pytest.mark.slow
def test_all_processes_run_from_an_archive_which_changes_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = short_hash(str(tmp_path))  # an archive of our own
    monkeypatch.setattr(yards, 'archive_key', lambda *parts: key)
    folder = write(tmp_path / 'repository', [STEP])
    rev = git(folder, 'rev-parse', 'HEAD').strip()
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
        stack.callback((cache_folder() / 'archives' / f'{key}.jsa').unlink)
        yard = Yard(Site(Repository(folder / '.git'), sandbox='bubblewrap', stack=stack))
        workshop = JavaWorkshop(yard)
        stack.callback(workshop.close)
        workshop.build(rev)
        compiled = workshop.compile(rev, rev, '.')
        with_it = workshop.run(compiled, methods)
        monkeypatch.setattr(yards, 'OLDEST_WITH_ARCHIVES', 1000)
        without = workshop.run(compiled, methods)
    outcomes = [v.outcome for v in without.verdicts if v is not None]
    assert outcomes == [Outcome.PASS, Outcome.FAIL, Outcome.FAIL]
    outcomes = [v.outcome for v in with_it.verdicts if v is not None]
    assert outcomes == [Outcome.PASS, Outcome.FAIL, Outcome.PASS]
    same = [replace(v, cpu_seconds=0.0) for v in without.verdicts[:2] if v is not None]
    assert same == [replace(v, cpu_seconds=0.0) for v in with_it.verdicts[:2] if v is not None]
