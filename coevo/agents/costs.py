"""Costs of attempts: prices of tokens, and limits during an attempt."""

from __future__ import annotations

import dataclasses
import json
import os
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.storage.bounded_reading import parse_toml

# Prices of tokens, from a table that the user provides, and the cost of model calls.
#
# coevo has no prices of its own, because makers change theirs. The table is a TOML file with a
# table for each model, in US dollars per million tokens:
#
#     ["claude-opus-4-7"]
#     input = 5.0
#     output = 25.0
#     read = 0.5            # input from the cache; the default is `input`
#     written = 6.25        # input written to the cache; the default is `input`
#     written_long = 10.0   # input cached for an hour; the default is `written`

_NEEDED = {'input', 'output'}
_KNOWN = _NEEDED | {'read', 'written', 'written_long'}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """Prices of a model in US dollars per million tokens."""

    input: float
    output: float
    read: float
    written: float
    written_long: float

    def compute_cost(self, usage: Usage) -> float:
        """Return the cost of an answer in US dollars."""
        dollars = (
            usage.input * self.input
            + usage.read * self.read
            + usage.written * self.written
            + usage.written_long * self.written_long
            + usage.output * self.output
        )
        return dollars / PER_MILLION


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices by model, and the file they are from."""

    models: Mapping[str, ModelPrice]
    file: Path

    def compute_cost(self, usage: Usage) -> float:
        """Return the cost of an answer in US dollars.

        An answer may name its model more precisely than the table does, so the longest name in the
        table that is a prefix of the answer's name is used.

        Raises: Fatal if the table has no such name.
        """
        names = [name for name in self.models if usage.model.startswith(name)]
        if not names:
            raise Fatal(
                f'the endpoint answered as {usage.model!r}, which {self.file} has no price '
                'for; add a price there and run the same command again'
            )
        return self.models[max(names, key=len)].compute_cost(usage)


def load_prices(file: Path) -> PriceTable:
    """Return the price table of a file.

    Raises: Fatal if it cannot be read, or a price is missing.
    """
    try:
        tables = parse_toml(file.read_text('utf-8'))
    except (OSError, ValueError) as error:
        raise Fatal(f'{file} is not a table of prices: {error}') from None
    return PriceTable(
        {model: _parse_price(model, table, file) for model, table in tables.items()}, file
    )


def _parse_price(model: str, table: object, file: Path) -> ModelPrice:
    if (
        not isinstance(table, dict)
        or not _NEEDED <= table.keys() <= _KNOWN
        or not all(_is_price(value) for value in table.values())
    ):
        raise Fatal(
            f'{file}: {model} needs `input` and `output`, and may have `read`, `written` and '
            '`written_long`, each in US dollars for a million tokens'
        )
    given: dict[str, float] = {'read': table['input'], 'written': table['input'], **table}
    return ModelPrice(**{'written_long': given['written'], **given})


def _is_price(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


PER_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one answer, or a sum; each token is counted once.

    read          input from the endpoint's cache
    written       input that the endpoint wrote to its cache for some minutes
    written_long  input that the endpoint wrote to its cache for an hour
    """

    model: str
    input: int = 0
    read: int = 0
    written: int = 0
    written_long: int = 0
    output: int = 0

    @property
    def tokens(self) -> int:
        """All input tokens, cached or not, and all output tokens."""
        return self.input + self.read + self.written + self.written_long + self.output


def sum_by_model(rounds: Iterable[Usage]) -> tuple[Usage, ...]:
    """Return one sum for each model, sorted by name."""
    models: dict[str, list[Usage]] = defaultdict(list)
    for usage in rounds:
        models[usage.model].append(usage)
    return tuple(_sum_usage(model, of_it) for model, of_it in sorted(models.items()))


def _sum_usage(model: str, rounds: list[Usage]) -> Usage:
    return Usage(
        model=model,
        input=sum(usage.input for usage in rounds),
        read=sum(usage.read for usage in rounds),
        written=sum(usage.written for usage in rounds),
        written_long=sum(usage.written_long for usage in rounds),
        output=sum(usage.output for usage in rounds),
    )


# Count the rounds of one attempt, record them on disk, and tell when its cost limit is reached.
#
# A round is one call that a model answered. The limit is checked before each round, so that the
# last round may exceed it.


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
            self._write_round_to_disk(usage, None if self._prices is None else cost)

    def _write_round_to_disk(self, usage: Usage, cost: float | None) -> None:
        """Write a round to disk at once, so that it is recorded even if the attempt is killed."""
        line = json.dumps({**dataclasses.asdict(usage), 'cost_usd': cost}, sort_keys=True)
        with self._file.open('a') as file:
            file.write(f'{line}\n')
            file.flush()
            os.fsync(file.fileno())
