from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.mining_runs import of_java


@pytest.fixture(scope='module')
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return of_java(tmp_path_factory.mktemp('shop'))
