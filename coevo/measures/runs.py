"""How many runs a measure may take: decided before the first of them, never by a clock.

A budget of seconds would give a slow machine other figures than a fast one.
"""

from __future__ import annotations

from collections.abc import Mapping


def choose_affordable(runs: Mapping[str, int], most: int | None) -> frozenset[str]:
    """Those of several ids that are run, each whole, by the number of runs that each takes.

    They are taken in the order of their ids, which is random, as long as they fit; one that does
    not fit is passed over. None for `most` is no limit.
    """
    left = sum(runs.values()) if most is None else most
    chosen = set()
    for name, needed in sorted(runs.items()):
        if needed <= left:
            chosen.add(name)
            left -= needed
    return frozenset(chosen)
