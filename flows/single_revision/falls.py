"""By how much a test file is worth less at its start than it is."""

from __future__ import annotations

from coevo.model.families import SuiteAdequacy


def compute_falls(gold: SuiteAdequacy | None, start: SuiteAdequacy) -> list[float]:
    """By how many points coverage of lines, and the share of mutants that are killed, fall."""
    if gold is None:
        return []
    pairs = (
        ((gold.covered_lines, gold.lines), (start.covered_lines, start.lines)),
        ((gold.killed, gold.mutants), (start.killed, start.mutants)),
    )
    points = [
        (_compute_percentage(*gold_ratio), _compute_percentage(*other))
        for gold_ratio, other in pairs
    ]
    return [a - b for a, b in points if a is not None and b is not None]


def _compute_percentage(part: int | None, whole: int | None) -> float | None:
    return 100 * part / whole if part is not None and whole else None
