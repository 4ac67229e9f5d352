"""What the calls of a model used, in tokens, and what that cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

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
