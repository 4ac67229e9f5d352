"""Prices of tokens, from a table that the user provides, and the cost of model calls.

coevo has no prices of its own, because makers change theirs. The table is a TOML file with a table
for each model, in US dollars per million tokens:

    ["claude-opus-4-7"]
    input = 5.0
    output = 25.0
    read = 0.5            # input from the cache; the default is `input`
    written = 6.25        # input written to the cache; the default is `input`
    written_long = 10.0   # input cached for an hour; the default is `written`
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.storage.bounded_toml import parse_toml

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
