"""What tokens cost, by a table that the user gives: makers change their prices, we do not guess them.

A TOML file with a table for each model, in US dollars for a million tokens:

    ["claude-opus-4-7"]
    input = 5.0
    output = 25.0
    read = 0.5            # input from the cache; as `input` where it is left out
    written = 6.25        # input into the cache; as `input` where it is left out
    written_long = 10.0   # the same for an hour; as `written` where it is left out
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from coevo.model.errors import Fatal

_NEEDED = {'input', 'output'}
_KNOWN = _NEEDED | {'read', 'written', 'written_long'}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """US dollars for a million tokens."""

    input: float
    output: float
    read: float
    written: float
    written_long: float

    def compute_cost(self, usage: Usage) -> float:
        """US dollars."""
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
    """Prices by model, and the file that says so."""

    models: Mapping[str, ModelPrice]
    file: Path

    def compute_cost(self, usage: Usage) -> float:
        """US dollars; Fatal for a model that the table does not have.

        An answer names its model more precisely than a table may: the longest name counts that its
        name begins with.
        """
        names = [name for name in self.models if usage.model.startswith(name)]
        if not names:
            raise Fatal(
                f'the endpoint answered as {usage.model!r}, which {self.file} has no price for; '
                'add it there and run the same command again'
            )
        return self.models[max(names, key=len)].compute_cost(usage)


def load_prices(file: Path) -> PriceTable:
    """The table of a file; Fatal if it cannot be read, or lacks a price."""
    try:
        tables = tomllib.loads(file.read_text('utf-8'))
    except (OSError, ValueError) as error:
        raise Fatal(f'{file} is no table of prices: {error}') from None
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


# What the calls of a model used, in tokens, and what that cost.

PER_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one answer; no token is counted twice.

    read          input that the endpoint's cache held
    written       input that it put into its cache, for minutes
    written_long  the same for an hour
    """

    model: str
    input: int = 0
    read: int = 0
    written: int = 0
    written_long: int = 0
    output: int = 0

    @property
    def tokens(self) -> int:
        """All that went in, cached or not, and all that came out."""
        return self.input + self.read + self.written + self.written_long + self.output


def sum_by_model(rounds: Iterable[Usage]) -> tuple[Usage, ...]:
    """One sum for each model, by name."""
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
