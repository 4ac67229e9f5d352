"""What tests of several folders are given."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.place import Url
from tests.daemon import docker_daemon

# What takes longest is begun first, lest a worker be left alone with it at the end.
LONGEST = (
    'flows/test_demo',
    'flows/test_hostile',
    'flows/test_interrupts',
    'coevo/test_jvm_worker',
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(tuple(f'tests/{n}.' for n in LONGEST)))


@pytest.fixture(scope='session')
def daemon() -> Iterator[None]:
    """A Docker daemon, started if need be; a skip that says why where there can be none."""
    with docker_daemon() as missing:
        if missing is not None:
            pytest.skip(missing)
        yield


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
