"""Counts the rounds of one attempt, keeps them on disk, and says when the money is spent.

A round is one call that a model answered. The cap is asked before each: the round that reaches it is
the last one, and may have gone beyond.
"""

from __future__ import annotations

import dataclasses
import json
import os
import threading
from pathlib import Path

from coevo.agents.prices import PriceTable, Usage


class Meter:
    """Safe from several threads.

    unmetered  rounds whose answer did not say what it used, such as streams that broke off
    """

    def __init__(self, file: Path, prices: PriceTable | None, cap: float | None) -> None:
        """`file` gets a line for each round; `cap`: US dollars, which takes prices."""
        self._prices, self._cap = prices, cap
        self._guard = threading.Lock()
        self._rounds: list[Usage] = []
        self._cost = 0.0
        self._file = file
        self.unmetered = 0

    @property
    def rounds(self) -> tuple[Usage, ...]:
        with self._guard:
            return tuple(self._rounds)

    @property
    def cost(self) -> float | None:
        """US dollars so far; None without prices."""
        return None if self._prices is None else self._cost

    @property
    def is_spent(self) -> bool:
        """Whether no further round is allowed."""
        with self._guard:
            return self._cap is not None and self._cost >= self._cap

    def count_round(self, usage: Usage | None) -> None:
        """Count a round; Fatal if nobody knows its price."""
        with self._guard:
            if usage is None:
                self.unmetered += 1
                return
            self._rounds.append(usage)
            cost = 0.0 if self._prices is None else self._prices.compute_cost(usage)
            self._cost += cost
            self._append_round(usage, None if self._prices is None else cost)

    def _append_round(self, usage: Usage, cost: float | None) -> None:
        """On disk at once: it is billed even if this attempt is killed the next moment."""
        line = json.dumps({**dataclasses.asdict(usage), 'cost_usd': cost}, sort_keys=True)
        with self._file.open('a') as file:
            file.write(f'{line}\n')
            file.flush()
            os.fsync(file.fileno())
