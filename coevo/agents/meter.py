"""Count the rounds of one attempt, record them on disk, and tell when its cost limit is reached.

A round is one call that a model answered. The limit is checked before each round, so that the last
round may exceed it.
"""

from __future__ import annotations

import dataclasses
import json
import os
import threading
from pathlib import Path

from coevo.agents.prices import PriceTable, Usage


class Meter:
    """The rounds of one attempt; safe to use from several threads.

    unmetered  rounds whose answer gave no usage, such as streams that broke off
    """

    def __init__(self, file: Path, prices: PriceTable | None, cap: float | None) -> None:
        """Create a meter that appends a line to `file` for each round.

        cap  limit in US dollars, which needs prices; None is no limit
        """
        self._prices, self._cap = prices, cap
        self._guard = threading.Lock()
        self._rounds: list[Usage] = []
        self._cost = 0.0
        self._file = file
        self.unmetered = 0

    @property
    def rounds(self) -> tuple[Usage, ...]:
        """The usage of each round so far."""
        with self._guard:
            return tuple(self._rounds)

    @property
    def cost(self) -> float | None:
        """The cost so far in US dollars; None without prices."""
        return None if self._prices is None else self._cost

    @property
    def is_spent(self) -> bool:
        """True if the cost limit is reached, so that no further round is allowed."""
        with self._guard:
            return self._cap is not None and self._cost >= self._cap

    def count_round(self, usage: Usage | None) -> None:
        """Count a round; None means that its answer gave no usage.

        Raises: Fatal if it has no price.
        """
        with self._guard:
            if usage is None:
                self.unmetered += 1
                return
            self._rounds.append(usage)
            cost = 0.0 if self._prices is None else self._prices.compute_cost(usage)
            self._cost += cost
            self._append_round(usage, None if self._prices is None else cost)

    def _append_round(self, usage: Usage, cost: float | None) -> None:
        """Write a round to disk at once, so that it is recorded even if the attempt is killed."""
        line = json.dumps({**dataclasses.asdict(usage), 'cost_usd': cost}, sort_keys=True)
        with self._file.open('a') as file:
            file.write(f'{line}\n')
            file.flush()
            os.fsync(file.fileno())
