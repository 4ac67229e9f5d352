"""The assertions of Java tests: their positions and texts.

Implements `coevo.languages.measures.Assertions`.
"""

from coevo.languages.java.assertions.calls import expects_exception, find_oracle_lines
from coevo.languages.java.assertions.texts import classify_assertion, list_assertions

__all__ = ['list_assertions', 'expects_exception', 'classify_assertion', 'find_oracle_lines']
