"""What a language may measure of tests by their text, and by edits of the code's.

Like the capabilities of its pairs, each of these may be lacking. Who asks for one that is not offered
says so (`NOT_OFFERED`, where a row has a place for it): it is neither that nothing was found, nor that
nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from coevo.languages.assertions import Assertions
from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.error_classes import ErrorClassifier
from coevo.languages.mutation import SourceMutation
from coevo.languages.placebos import PlaceboInsertion
from coevo.languages.undoing import ChangeUndoing
from coevo.model.families import Defect
from coevo.model.records import TestMethod
from coevo.model.words import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """None: not offered."""

    assertions: Assertions | None = None
    smells: SmellDetector | None = None
    mutation: SourceMutation | None = None
    undoing: ChangeUndoing | None = None
    placebos: PlaceboInsertion | None = None
    defects: DefectInsertion | None = None
    errors: ErrorClassifier | None = None

    @property
    def lacking_measures(self) -> tuple[str, ...]:
        """The names of what is not offered, sorted."""
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


# What a language that knows test smells answers of a test.


class SmellDetector(Protocol):
    """A package, or module, of a language that offers them."""

    # the names of those of a test method in its file, sorted; LookupError if the file declares no
    # such method. Without the class under test, smells of its calls are not looked for
    def find_smells(
        self, source: bytes, method: TestMethod, production: DeclaredType | None = None
    ) -> tuple[str, ...]: ...


# What a language that can break tests answers: texts of a test file with one defect each.
#
# The kinds are those of TAM-Eval's repairs, whose defects a model wrote. Ours are made by rule,
# and whether one is what it is meant to be is found out by a run.


class DefectInsertion(Protocol):
    """A module beside a language's surgery."""

    # how tests end that name or call what there is not, one of these at least: a compiler tells before
    # they are run, an interpreter while they are
    @property
    def UNRESOLVED(self) -> frozenset[Outcome]: ...

    # texts of a test file, each with a defect of a kind in one test, in the order of the tests; none
    # where there is no place for one
    def insert_defects(
        self, kind: Defect, source: bytes, tests: Sequence[Member]
    ) -> Iterator[bytes]: ...
