"""The syntax of comments and strings in Go (https://go.dev/ref/spec#Lexical_elements)."""

from __future__ import annotations

import re

from coevo.languages.prints import LexicalRules

LEXIS = LexicalRules(
    comment=rb'//[^\n]*+ | /\*(?:[^*]++|\*(?!/))*+\*/',
    string=rb"""(?: "(?:\\.|[^"\\\n]++)*+" | `[^`]*+` | '(?:\\.|[^'\\\n]++)*+' )""",
    test_mark=re.compile(rb'\bfunc\s+(?:Test|Fuzz|Example)'),
)
