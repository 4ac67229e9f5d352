"""What a language may measure of tests by their text, and by edits of the code's.

Like the capabilities of its pairs, each of these may be lacking. Who asks for one that is not offered
says so (`NOT_OFFERED`, where a row has a place for it): it is neither that nothing was found, nor that
nobody knows.
"""

from __future__ import annotations

from dataclasses import dataclass

from coevo.languages.assertions import Assertions
from coevo.languages.defects import DefectInsertion
from coevo.languages.error_classes import ErrorClassifier
from coevo.languages.mutation import SourceMutation
from coevo.languages.placebos import PlaceboInsertion
from coevo.languages.smells import SmellDetector
from coevo.languages.undoing import ChangeUndoing


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
