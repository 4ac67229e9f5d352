from __future__ import annotations

from dataclasses import replace

import pytest

from coevo.model.errors import Fatal
from coevo.model.profiles import load_profile
from coevo.model.profiles import profiles
from coevo.model.words import Walk


def test_the_profiles() -> None:
    assert list(profiles()) == ['default', 'quick', 'testevo']
    assert load_profile('default').walk is Walk.PARENTS
    assert load_profile('default').commits == 300
    testevo = load_profile('testevo')
    assert (testevo.walk, testevo.gap_hours, testevo.commits) == (Walk.STATES, 12, 300)


def test_an_unknown_profile_names_the_known_ones() -> None:
    with pytest.raises(Fatal, match=r"no profile 'x': use one of default, quick, testevo"):
        load_profile('x')


def test_the_fingerprint_covers_what_the_sieve_asks() -> None:
    profile = load_profile('default')
    assert replace(profile, unchanged_sample=3).fingerprint != profile.fingerprint
    assert replace(profile, gap_hours=1).fingerprint != profile.fingerprint
    assert replace(profile, traces=False).fingerprint != profile.fingerprint
    assert replace(profile, all_cells=True).fingerprint != profile.fingerprint
    assert replace(profile, commits=5, name='other').fingerprint == profile.fingerprint
