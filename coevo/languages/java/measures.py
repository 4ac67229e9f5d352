"""The measures of tests that Java offers, with any build tool."""

from __future__ import annotations

from coevo.languages.java import assertions, compile_errors, smells
from coevo.languages.java.reading.tokens import JAVA
from coevo.languages.java.surgery import defects, placebos, undo
from coevo.languages.measures import Measures
from coevo.languages.universal_mutator import UniversalMutator

MEASURES = Measures(
    assertions=assertions,
    smells=smells,
    mutation=UniversalMutator(suffix='.java', grammar=JAVA),
    undoing=undo,
    placebos=placebos,
    defects=defects,
    errors=compile_errors,
)
