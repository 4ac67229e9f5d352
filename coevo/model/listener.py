"""Callbacks for progress reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Say = Callable[[str], None]


def ignore_message(sentence: str) -> None:
    """Do nothing with a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Callbacks that report progress.

    step       receives a step's name, the amount done and the total
    summarise  receives a summary of the findings so far
    say        receives a sentence about something that takes long
    """

    step: Callable[[str, int, int], None] = lambda name, done, total: None
    summarise: Say = ignore_message
    say: Say = ignore_message


SILENT = Listener()
