"""The assertions of Java tests: where they stand, and what they say.

Fulfils `coevo.languages.assertions.Assertions`.
"""

from coevo.languages.java.assertions.oracles import expects_exception, find_oracle_lines
from coevo.languages.java.assertions.texts import classify_assertion, list_assertions

__all__ = ['list_assertions', 'expects_exception', 'classify_assertion', 'find_oracle_lines']
