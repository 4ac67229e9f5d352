"""What a language that knows assertions answers of a test: which there are, and where."""

from __future__ import annotations

from typing import Protocol

from coevo.model.records import TestMethod


class Assertions(Protocol):
    """A package, or module, of a language that offers them."""

    # those of a test method in order, as texts that layout and messages do not touch; source is the
    # method alone
    def list_assertions(self, source: str) -> tuple[str, ...]: ...

    # what such a text asserts, whatever the values
    def classify_assertion(self, text: str) -> str: ...

    # the 1-based lines of all that may fail a test in a file, helpers that are named so included
    def find_oracle_lines(self, source: bytes) -> frozenset[int]: ...

    # whether a test says how it has to be left: its end is its assertion; LookupError if the file
    # does not declare it
    def expects_exception(self, source: bytes, method: TestMethod) -> bool: ...
