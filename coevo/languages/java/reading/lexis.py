"""How comments and strings look in Java (JLS 3.7, 3.10)."""

from __future__ import annotations

import re

from coevo.languages.prints import LexicalRules

LEXIS = LexicalRules(
    comment=rb'//[^\n]*+ | /\*(?:[^*]++|\*(?!/))*+\*/',
    string=rb'''(?:
        """(?:\\.|[^"\\]++|"(?!""))*+"""
        | (?!""")"(?:\\.|[^"\\\n]++)*+"
        | '(?:\\.|[^'\\\n]++)*+'
    )''',
    # JUnit 3 and a class of TestNG take what is void.
    test_mark=re.compile(rb'\bvoid\b|@(?!Override\b)'),
)
