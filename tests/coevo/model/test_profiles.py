from __future__ import annotations

from dataclasses import replace

import pytest

from coevo.model.errors import Fatal
from coevo.model.profiles import load_profile, load_profiles
from coevo.model.words import Walk


def test_the_shipped_profiles_have_their_settings() -> None:
    assert list(load_profiles()) == ['default', 'quick', 'whole', 'main-line', 'testevo']
    assert load_profile('default').walk is Walk.PARENTS
    assert load_profile('default').commits == 300
    testevo = load_profile('testevo')
    assert (testevo.walk, testevo.gap_hours, testevo.commits) == (Walk.STATES, 12, 300)


def test_default_and_main_line_alone_have_a_gate() -> None:
    gated = {name for name, profile in load_profiles().items() if profile.gate is not None}
    assert gated == {'default', 'main-line'}


def test_an_unknown_profile_is_refused_with_the_known_names() -> None:
    with pytest.raises(
        Fatal, match=r"no profile 'x': use one of default, quick, whole, main-line, testevo"
    ):
        load_profile('x')


def test_the_fingerprint_covers_selection_thresholds_but_not_commits_or_name() -> None:
    profile = load_profile('default')
    assert replace(profile, unchanged_sample=3).fingerprint != profile.fingerprint
    assert replace(profile, gate_share=None).fingerprint != profile.fingerprint
    assert replace(profile, gap_hours=1).fingerprint != profile.fingerprint
    assert replace(profile, traces=False).fingerprint != profile.fingerprint
    assert replace(profile, all_cells=True).fingerprint != profile.fingerprint
    assert replace(profile, commits=5, name='other').fingerprint == profile.fingerprint
    assert replace(profile, measure_runs=5).fingerprint == profile.fingerprint


def test_main_line_differs_from_default_in_its_walk_alone() -> None:
    default, main_line = load_profile('default'), load_profile('main-line')
    assert main_line.walk is Walk.FIRST_PARENT
    assert main_line.fingerprint == default.fingerprint
