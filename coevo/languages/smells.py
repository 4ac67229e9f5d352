"""What a language that knows test smells answers of a test."""

from __future__ import annotations

from typing import Protocol

from coevo.languages.declarations import DeclaredType
from coevo.model.records import TestMethod


class SmellDetector(Protocol):
    """A package, or module, of a language that offers them."""

    # the names of those of a test method in its file, sorted; LookupError if the file declares no
    # such method. Without the class under test, smells of its calls are not looked for
    def find_smells(
        self, source: bytes, method: TestMethod, production: DeclaredType | None = None
    ) -> tuple[str, ...]: ...
