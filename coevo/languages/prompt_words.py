"""The parts of a task's prompt that depend on the language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptWords:
    """Texts that are inserted into the prompts of `coevo.prompts`.

    framework     the test framework, such as JUnit
    new_test      how to mark a new test as a test: a sentence; '' if nothing need be said
    new_file      how a new test file starts
    running       how to compile and run the tests, a text for each step
    side_effects  the tools that may change files unintentionally
    """

    framework: str
    new_test: str
    new_file: str
    running: tuple[str, ...]
    side_effects: str
