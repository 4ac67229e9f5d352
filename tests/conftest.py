"""What tests of several folders are given."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.daemon import docker_daemon


@pytest.fixture(scope='session')
def daemon() -> Iterator[None]:
    """A Docker daemon, started if need be; a skip that says why where there can be none."""
    with docker_daemon() as missing:
        if missing is not None:
            pytest.skip(missing)
        yield
