from __future__ import annotations

import pytest

from tests.evaluation.shop import Shop
from tests.evaluation.shop import open_shop


@pytest.fixture(scope='session')
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return open_shop(tmp_path_factory.mktemp('shop'))
