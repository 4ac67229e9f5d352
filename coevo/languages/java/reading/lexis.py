"""Lexical rules of Java's comments and strings (JLS 3.7, 3.10)."""

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
    # JUnit 3 and TestNG classes treat `void` methods as tests, without an annotation.
    test_mark=re.compile(rb'\bvoid\b|@(?!Override\b)'),
)
