"""When a task leaks: its start state shows, new in its pair, what nearly is its answer."""

from __future__ import annotations

LEAST_LEAK = 0.6
"""Share of gold's text from which a task leaks; benchmarks/figures.md says how that was set."""


def build_no_leak_condition() -> str:
    """The condition in SQL of methods and tasks that do not; where nothing is known, none does."""
    return f'coalesce(leak, 0) < {LEAST_LEAK}'
