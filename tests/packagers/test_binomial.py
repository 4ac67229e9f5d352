"""The bound of a share."""

from __future__ import annotations

import pytest

from packagers.binomial import upper_bound


def test_the_bound_of_a_share_is_exact() -> None:
    assert upper_bound(0, 400) == pytest.approx(1 - 0.05 ** (1 / 400), abs=1e-6)
    assert upper_bound(1, 10) == pytest.approx(0.3942, abs=1e-4)
    assert upper_bound(3, 3) == 1.0


def test_thousands_have_a_bound() -> None:
    """A store that runs a hundred labels again each week has as many within a year."""
    assert 0.12 < upper_bound(600, 5000) < 0.13
