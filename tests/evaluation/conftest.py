from __future__ import annotations

import pytest

from tests.evaluation.shop import Shop, make_shop, open_shop
from tests.folders import made_once


@pytest.fixture(scope='session')
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return open_shop(made_once(tmp_path_factory, 'shop', make_shop))
