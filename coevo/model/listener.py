"""Who hears how a run goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Say = Callable[[str], None]


def ignore_message(sentence: str) -> None:
    """Nobody hears it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Three ways to be told.

    step   a step's name, how much of it is done, and of how much
    found  what the steps have found so far, in words
    say    a sentence about what takes a while
    """

    step: Callable[[str, int, int], None] = lambda name, done, total: None
    summarise: Say = ignore_message
    say: Say = ignore_message


SILENT = Listener()
