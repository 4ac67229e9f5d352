from __future__ import annotations

import pytest

from coevo.errors import Fatal
from coevo.profiles import load
from coevo.profiles import profiles
from coevo.records import Walk


def test_the_profiles() -> None:
    assert list(profiles()) == ['default', 'testevo']
    assert load('default').walk is Walk.PARENTS
    assert load('default').commits is None
    testevo = load('testevo')
    assert (testevo.walk, testevo.gap_hours, testevo.commits) == (Walk.STATES, 12, 300)


def test_an_unknown_profile_names_the_known_ones() -> None:
    with pytest.raises(Fatal, match=r"no profile 'x': use one of default, testevo"):
        load('x')
