"""The assertions of Java tests: their positions and texts.

Implements `coevo.languages.measures.Assertions`.
"""

from coevo.languages.java.assertions.calls import declares_expected_exception, find_oracle_lines
from coevo.languages.java.assertions.texts import extract_assertion_name, list_assertions

__all__ = [
    'list_assertions',
    'declares_expected_exception',
    'extract_assertion_name',
    'find_oracle_lines',
]
