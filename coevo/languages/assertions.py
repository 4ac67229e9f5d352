"""Interface for finding and classifying the assertions of tests."""

from __future__ import annotations

from typing import Protocol

from coevo.model.records import TestMethod


class Assertions(Protocol):
    """The functions that find and classify the assertions of a language's tests."""

    def list_assertions(self, source: str) -> tuple[str, ...]:
        """Return the assertions of a test method in order, as texts.

        The texts do not depend on layout or assertion messages. `source` is the text of the method
        alone.
        """

    def classify_assertion(self, text: str) -> str:
        """Return the kind of check that an assertion makes, such as `assertEquals`.

        The values in it do not matter.

        text  the assertion as `list_assertions` returns it
        """

    def find_oracle_lines(self, source: bytes) -> frozenset[int]:
        """Return the 1-based lines of a file that can make a test fail.

        Calls of helpers count if their names look like assertions.
        """

    def expects_exception(self, source: bytes, method: TestMethod) -> bool:
        """Return whether a test declares how it must end, such as by a certain exception.

        Reaching that end is then its assertion.

        Raises:
            LookupError: the file does not declare the method.
        """
