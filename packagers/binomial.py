"""An exact bound of a share, after Clopper and Pearson."""

from __future__ import annotations

import math


def compute_upper_bound(found: int, drawn: int, confidence: float = 0.95) -> float:
    """The largest share under which so few would be found with probability 1 - confidence."""
    if found >= drawn:
        return 1.0
    low, high = found / drawn, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if _probability_of_at_most(found, drawn, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _probability_of_at_most(found: int, drawn: int, share: float) -> float:
    """In logarithms: the numbers of ways to draw are beyond a float for thousands."""
    return math.fsum(
        math.exp(
            _log_combinations(drawn, k) + k * math.log(share) + (drawn - k) * math.log1p(-share)
        )
        for k in range(found + 1)
    )


def _log_combinations(drawn: int, k: int) -> float:
    return math.lgamma(drawn + 1) - math.lgamma(k + 1) - math.lgamma(drawn - k + 1)
