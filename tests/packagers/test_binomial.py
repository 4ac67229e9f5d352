"""The bound of a share."""

from __future__ import annotations

import pytest

from packagers.card import compute_upper_bound


def test_upper_bound_of_a_share_is_exact() -> None:
    assert compute_upper_bound(0, 400) == pytest.approx(1 - 0.05 ** (1 / 400), abs=1e-6)
    assert compute_upper_bound(1, 10) == pytest.approx(0.3942, abs=1e-4)
    assert compute_upper_bound(3, 3) == 1.0


def test_upper_bound_is_computed_for_thousands_of_trials() -> None:
    """A store that runs a hundred labels again each week has as many within a year."""
    assert 0.12 < compute_upper_bound(600, 5000) < 0.13
