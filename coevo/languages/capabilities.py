"""What a language may lack, and is mined without: each caller asks before it needs it.

Where one is not offered, what would come of it is told as `make_refusal`, an answer of its own: it is not
that nothing was found, nor that nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import StrEnum
from typing import Any, Never

NOT_OFFERED = 'not_offered'


class Capability(StrEnum):
    """Named by what a pair of a language that has it can do."""

    TRACE = 'trace'  # tell what a test executes: `trace`
    OBSERVE = 'observe'  # see a pass from outside of the process: `Conditions.observed`
    WATCH = 'watch'  # and which lines it reaches: `trace(watched=)`
    BORROW = 'borrow'  # compile and run with settings of another revision: `compile(borrowed=)`, `differs`
    CHECK_SOURCES = (
        'check_sources'  # compile variants of a source, each for itself: `check_sources`
    )
    MUTATE = 'mutate'  # have another program make and run mutants: `mutate`


EVERYTHING = frozenset(Capability)


class NotOfferedError(RuntimeError):
    """A pair was asked for what its language does not offer: a mistake of who asks."""


def make_refusal(capability: Capability) -> Callable[..., Never]:
    """A method of a pair that lacks a capability."""

    def refuse(*_: Any, **__: Any) -> Never:
        raise NotOfferedError(f'{capability} is {NOT_OFFERED} by the language of this pair')

    return refuse


def list_lacking(
    wanted: Collection[Capability], offered: Collection[Capability]
) -> tuple[str, ...]:
    """What of the wanted is not offered, sorted."""
    return tuple(sorted(str(capability) for capability in wanted if capability not in offered))
