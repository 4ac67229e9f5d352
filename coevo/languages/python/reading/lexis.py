"""The comments and strings of Python for the lexer.

Source: https://docs.python.org/3/reference/lexical_analysis.html.
"""

from __future__ import annotations

import re

from coevo.languages.prints import LexicalRules

LEXIS = LexicalRules(
    comment=rb'[#][^\n]*+',
    string=rb'''(?:
        """(?:\\.|[^"\\]++|"(?!""))*+"""
        | \'\'\'(?:\\.|[^'\\]++|'(?!\'\'))*+\'\'\'
        | (?!""")"(?:\\.|[^"\\\n]++)*+"
        | (?!\'\'\')'(?:\\.|[^'\\\n]++)*+'
    )''',
    prefix=rb'[rR]?[bB][rR]? | [rRuU]',
    template=rb'[rR]?[fFtT][rR]?',
    test_mark=re.compile(rb'\bdef\s+(?:test|runTest)'),
    is_spelled_freely=True,
    # A test annotated with `-> None` equals one without the annotation.
    result=(b'-', b'>', b'None'),
    before_block=(b':',),
)
