"""Test processes see the libraries that they are told of, and no shared folder of the host."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from coevo.languages.java.processes.packed_trees import make_mounts_of_files
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.storage.disk import find_cache_folder
from tests.coevo.languages.place import Place, opened
from tests.projects import junit, pom, source

STEP = {
    'pom.xml': pom(),
    **source('Till', '    public static int last() { return 1; }\n'),
    **junit(
        'TillTest',
        'rings: assertEquals(1, Till.last());',
        'looks: java.util.Set<String> seen = new java.util.TreeSet<>();'
        ' for (String top : "/repo /tools /archives".split(" ")) {'
        ' java.nio.file.Path place = java.nio.file.Paths.get(top);'
        ' if (java.nio.file.Files.exists(place)) { java.nio.file.Files.walk(place)'
        '.filter(java.nio.file.Files::isRegularFile)'
        '.forEach(one -> seen.add(String.valueOf(one))); } }'
        ' assertTrue(seen.contains("/tools/programs/worker.jar"));'
        ' seen.removeAll(java.util.Arrays.asList('
        'System.getProperty("java.class.path").split(":")));'
        ' String options = String.valueOf('  # name the archive of classes, where there is one
        'java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments());'
        ' seen.removeIf(options::contains);'
        ' assertEquals("[]", String.valueOf(seen));',
        'mounts: String seen = new String(java.nio.file.Files.readAllBytes('
        'java.nio.file.Paths.get("/proc/self/mountinfo")));'
        ' assertTrue(seen.contains(" /tools "));'
        f' for (String one : "maven tools archives".split(" ")) {{'
        f' assertFalse(seen.contains("/{find_cache_folder().name}/" + one)); }}',
    ),
}
BACK_ENDS = ['bubblewrap', 'none', pytest.param('docker', marks=pytest.mark.docker)]


@pytest.fixture(scope='module', params=BACK_ENDS)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    if request.param == 'docker':
        request.getfixturevalue('daemon')
    folder = tmp_path_factory.mktemp('shelves')
    with opened(folder, [STEP], sandbox=request.param) as found:
        yield found


def told(place: Place, name: str) -> tuple[Outcome, str]:
    method = TestMethod(
        module='.',
        test_file='src/test/java/shop/TillTest.java',
        test_class='shop.TillTest',
        test_method=name,
    )
    compiled = place.built.compile(place.rev, place.rev, '.')
    (verdict,) = place.built.run(compiled, [method]).verdicts
    assert verdict is not None
    return verdict.outcome, verdict.message


@pytest.mark.sampled(1)
@pytest.mark.jvm
def test_test_process_sees_only_its_own_libraries(place: Place) -> None:
    assert told(place, 'rings') == (Outcome.PASS, '')
    if place.builds.sandbox.name == 'none':
        return  # all of the host is seen
    assert told(place, 'looks') == (Outcome.PASS, '')


@pytest.mark.jvm
def test_mounts_do_not_reveal_the_library_folders_of_the_host(place: Place) -> None:
    if place.builds.sandbox.name == 'none':
        return
    assert told(place, 'mounts') == (Outcome.PASS, '')


def test_shelf_keeps_size_and_time_of_files_and_leaves_out_links(tmp_path: Path) -> None:
    jar, missing, link = (tmp_path / name for name in ('a.jar', 'b.jar', 'c.jar'))
    jar.write_bytes(b'content')
    link.symlink_to(jar)
    files = {'/repo/p/a.jar': jar, '/repo/b.jar': missing, '/repo/c.jar': link, '/tools/w.jar': jar}
    shelves = tmp_path / 'shelves'
    mounts = list(make_mounts_of_files(shelves, files))
    assert [mount.target for mount in mounts] == ['/repo', '/tools']
    assert [path.name for path in sorted(mounts[0].source.rglob('*'))] == ['p', 'a.jar']
    state = (mounts[0].source / 'p/a.jar').stat()
    assert (state.st_size, state.st_mtime_ns) == (7, jar.stat().st_mtime_ns)
    assert list(make_mounts_of_files(shelves, files)) == mounts
    assert list(make_mounts_of_files(shelves, {})) == []
    assert len(list(shelves.iterdir())) == 1
