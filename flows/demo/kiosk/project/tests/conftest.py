import pytest


@pytest.fixture
def price():
    return 5
