"""What the prompt of a task says in the words of its language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptWords:
    """Put into the texts of `coevo.prompts`.

    framework     what tests are written with, such as JUnit
    new_test      how a new test is marked as one, a sentence or nothing
    new_file      what a new test file starts with
    running       how the tests are compiled and run, a text for each step
    side_effects  what may change files that nobody wanted to change
    """

    framework: str
    new_test: str
    new_file: str
    running: tuple[str, ...]
    side_effects: str
