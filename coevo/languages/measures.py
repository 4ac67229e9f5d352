"""Optional measures of tests, taken from their text or from edits of the code.

A language may lack any of them. A caller that needs a missing one reports `NOT_OFFERED` (in a row,
if a column allows it), so that it cannot be confused with "none found" or "unknown".

Defects are of the kinds of TAM-Eval's repair tasks. There a model wrote them; here rules make them,
and a run checks that each has the intended effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.error_classes import ErrorClassifier
from coevo.languages.mutation import SourceMutation
from coevo.languages.undoing import ChangeUndoing, PlaceboInsertion
from coevo.model.families import Defect
from coevo.model.records import TestMethod
from coevo.model.words import Outcome


class Assertions(Protocol):
    """The functions that find and classify the assertions of a language's tests."""

    def list_assertions(self, source: str) -> tuple[str, ...]:
        """Return the assertions of a test method in order, as texts.

        The texts do not depend on layout or assertion messages. `source` is the text of the method
        alone.
        """

    def extract_assertion_name(self, text: str) -> str:
        """Return the kind of check that an assertion makes, such as `assertEquals`.

        The values in it do not matter.

        text  the assertion as `list_assertions` returns it
        """

    def find_oracle_lines(self, source: bytes) -> frozenset[int]:
        """Return the 1-based lines of a file that can make a test fail.

        Calls of helpers count if their names look like assertions.
        """

    def declares_expected_exception(self, source: bytes, method: TestMethod) -> bool:
        """Return whether a test declares how it must end, such as by a certain exception.

        Reaching that end is then its assertion.

        Raises:
            LookupError: the file does not declare the method.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The measures of a language; None if one is not offered."""

    assertions: Assertions | None = None
    smells: SmellDetector | None = None
    mutation: SourceMutation | None = None
    undoing: ChangeUndoing | None = None
    placebos: PlaceboInsertion | None = None
    defects: DefectInsertion | None = None
    errors: ErrorClassifier | None = None

    @property
    def lacking_measures(self) -> tuple[str, ...]:
        """The field names of the measures that the language does not offer, sorted."""
        offered = {
            'assertions': self.assertions,
            'defects': self.defects,
            'errors': self.errors,
            'mutation': self.mutation,
            'placebos': self.placebos,
            'smells': self.smells,
            'undoing': self.undoing,
        }
        return tuple(name for name, what in offered.items() if what is None)


class SmellDetector(Protocol):
    """A package or module of a language that detects test smells."""

    def find_smells(
        self, source: bytes, method: TestMethod, production: DeclaredType | None = None
    ) -> tuple[str, ...]:
        """Return the names of the smells of a test method in its file, sorted.

        Without the class under test (`production`), smells that concern calls of it are not
        detected.

        Raises:
            LookupError: the file declares no such method.
        """


class DefectInsertion(Protocol):
    """A module beside a language's surgery that puts defects into test files on purpose."""

    @property
    def UNKNOWN_NAME_OUTCOMES(self) -> frozenset[Outcome]:
        """The outcomes caused by an unknown name, at least one of which must occur.

        A compiler reports it before the tests run, an interpreter while they run.
        """

    def insert_defects(
        self, kind: Defect, source: bytes, tests: Sequence[Member]
    ) -> Iterator[bytes]:
        """Yield versions of a test file, each with one defect of a kind, in the order of its tests.

        Yields nothing if there is no suitable place. Whether a defect has its effect is not
        checked.
        """
