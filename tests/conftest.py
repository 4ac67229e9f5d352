"""What tests of several folders are given."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from coevo.languages.java.tools.gradles import LIMIT as GRADLES
from coevo.languages.java.tools.jdks import LIMIT, find_jdks
from coevo.sandboxes.sandbox import Sandbox, open_sandbox
from coevo.storage.place import Url
from tests.daemon import docker_daemon
from tests.folders import open_folder
from tests.languages.table import known_toy

# Tests bring no JDK but where they say so: what is here has to do.
os.environ.setdefault(LIMIT, os.pathsep.join(sorted({str(jdk.feature) for jdk in find_jdks()})))

# Nor do they see a Gradle of the machine: what Gradle builds is for some of them a project of nobody's.
os.environ.setdefault(GRADLES, 'none')

# What takes longest is begun first, the longest of all ahead, lest a worker be left alone with it at the end.
LONGEST = (
    'flows/test_demo',
    'flows/test_faults',
    'evaluation/test_adequacy',
    'coevo/snapshots/test_verification',
    'evaluation/test_evaluation',
    'evaluation/test_baselines',
    'flows/test_interrupts',
    'flows/test_resume',
    'flows/test_batch',
    'flows/test_study',
    'flows/test_hostile',
    'languages/test_conformance',
    'languages/test_classes',
    'languages/test_mining',
    'languages/test_several_languages',
    'coevo/languages/python/test_attacks',
    'coevo/languages/python/test_observer',
    'coevo/languages/python/test_runs',
    'manual/test_recipes',
    'coevo/display/test_terminal',
    'coevo/starts/test_siblings',
    'evaluation/test_source_cheats',
    'evaluation/test_neighbours',
    'evaluation/test_pit',
    'coevo/languages/java/tools/test_toolchain',
    'agents/test_attempts',
    'coevo/languages/java/refactorings/test_miner',
    'packagers/test_publishing',
    'packagers/test_release',
    'packagers/test_republishing',
    'attacks/test_forgery',
    'coevo/snapshots/test_snapshot',
    'coevo/languages/java/maven/test_processors',
    'coevo/languages/java/maven/test_shapes',
    'coevo/languages/java/tools/test_jvm_worker',
    'coevo/languages/java/tools/test_jvm_compile',
)
PLACES = {f'tests/{name}.py': place for place, name in enumerate(LONGEST)}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without searching for garbage: modules and items stay, in each of the workers."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        atexit.register(gc.unfreeze)  # or libraries in C complain of objects that leak


@pytest.hookimpl(tryfirst=True)  # before `-m` deselects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_unsampled_cases_as_slow(items)
    items.sort(key=lambda item: PLACES.get(item.nodeid.partition('::')[0], len(PLACES)))


def mark_unsampled_cases_as_slow(items: list[pytest.Item]) -> None:
    """Leave `count` cases of each test marked `sampled(count)` to `make test`, and mark the others as slow.

    The cases that stay are spread evenly over the table, the first one included.
    """
    cases: dict[tuple[str, int], list[pytest.Item]] = {}
    for item in items:
        marker = item.get_closest_marker('sampled')
        if marker is not None:
            function = item.nodeid.partition('[')[0]
            cases.setdefault((function, marker.args[0]), []).append(item)
    for (_, count), cases_of_test in cases.items():
        kept = {number * len(cases_of_test) // count for number in range(count)}
        for number, item in enumerate(cases_of_test):
            if number not in kept:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope='module')
def toy() -> Iterator[None]:
    """The toy is known while a module's tests run."""
    with known_toy():
        yield


@pytest.fixture(scope='session')
def daemon() -> Iterator[None]:
    """A Docker daemon, started if need be; a skip that says why where there can be none."""
    with docker_daemon() as missing:
        if missing is not None:
            pytest.skip(missing)
        yield


@pytest.fixture(scope='module')
def back_end() -> str:
    """Of the sandbox; a module that tries several has a fixture of this name with parameters."""
    return 'bubblewrap'


@pytest.fixture(scope='module')
def sandbox(back_end: str, request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    if back_end == 'docker':
        request.getfixturevalue('daemon')
    with closing(open_sandbox(back_end)) as opened:
        yield opened


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as opened:
        yield opened


@pytest.fixture(scope='session')
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of pairs 1 and 2, to be read."""
    from tests import snapshots

    return snapshots.make(tmp_path_factory.mktemp('made'), 1, 2)


@pytest.fixture
def snapshot(made: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copytree(made, tmp_path / 'snapshot'))


@pytest.fixture(scope='session')
def object_store() -> Iterator[str]:
    """The endpoint of an S3 server on loopback."""
    from tests import buckets

    with buckets.serving() as endpoint:
        yield endpoint


@pytest.fixture
def bucket(object_store: str, monkeypatch: pytest.MonkeyPatch) -> Url:
    """A prefix where nothing lies yet; the environment says how to get there."""
    from tests import buckets

    buckets.connect(object_store, monkeypatch)
    return buckets.new_bucket()
