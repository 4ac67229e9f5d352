"""Optional capabilities of languages.

A caller checks that a capability is offered before it uses it. Calling a missing one raises
`NotOfferedError` (see `make_refusal`), so that `not_offered` cannot be confused with "none found"
or "unknown".
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import StrEnum
from typing import Any, Never

NOT_OFFERED = 'not_offered'


class Capability(StrEnum):
    """An ability of the pairs of some languages, beyond what all languages offer."""

    TRACE = 'trace'  # report what a test executes: `trace`
    OBSERVE = 'observe'  # confirm a pass from outside the process: `RunConditions.observed`
    WATCH = 'watch'  # report from outside which lines it executes: `trace(watched=)`
    # compile and run with settings of another revision: `compile(borrowed=)`, `do_settings_differ`
    BORROW = 'borrow'
    # compile variants of a source file, each by itself: `check_main_sources`
    CHECK_SOURCES = 'check_sources'
    MUTATE = 'mutate'  # make and run mutants with an external tool: `mutate`
    UMPIRE = 'umpire'  # run the tests by the project's own command: `run_project`


EVERYTHING = frozenset(Capability)


class NotOfferedError(RuntimeError):
    """A programming error: a pair does not offer the capability that the caller used."""


def make_refusal(capability: Capability) -> Callable[..., Never]:
    """Return a function that raises `NotOfferedError`, to stand for a member that is not offered.

    It takes any arguments and names the capability in its message. Example, in the class of a pair:
    `trace = staticmethod(make_refusal(Capability.TRACE))`.
    """

    def refuse(*_: Any, **__: Any) -> Never:
        """Raise `NotOfferedError`, whatever the arguments."""
        raise NotOfferedError(f'{capability} is {NOT_OFFERED} by the language of this pair')

    return refuse


def list_lacking(
    wanted: Collection[Capability], offered: Collection[Capability]
) -> tuple[str, ...]:
    """Return the wanted capabilities that are not offered, sorted."""
    return tuple(sorted(str(capability) for capability in wanted if capability not in offered))
