"""The assertions of Java tests: where they stand, and what they say.

Fulfils `coevo.languages.assertions.Assertions`.
"""

from coevo.languages.java.assertions.oracles import expects_its_end
from coevo.languages.java.assertions.oracles import oracle_lines
from coevo.languages.java.assertions.texts import assertions_of
from coevo.languages.java.assertions.texts import kind_of

__all__ = ['assertions_of', 'expects_its_end', 'kind_of', 'oracle_lines']
