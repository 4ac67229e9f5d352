"""Find a test file that copies the code under test: nearly its body, by normalised tokens.

Such a test compares the code with itself. Names of variables, the values of literals, comments and
layout do not matter; operators, keywords, the names of calls and the order of tokens do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from coevo.languages.prints import LexicalRules

# Tokens of a gram, the least grams of a body that tell it from other code, and the share of them
# that a copy has.
GRAM = 5
LEAST_GRAMS = 8
LEAST_SHARE = 0.8

_TOKEN = re.compile(rb'\d[\w.]*|[^\W\d]\w*|==|!=|<=|>=|&&|\|\||<<|>>|\+\+|--|[^\w\s]')
_WORD = re.compile(rb'[^\W\d]')
_KEYWORDS = frozenset(
    b'if else elif for while do switch case match return yield break continue throw raise try '
    b'except catch finally with lambda func def not and or in is new go defer select range'.split()
)
# Any code is full of these: names, literals, assignments, and lists of them.
_COMMON = frozenset((b'w', b'n', b's', *(bytes([sign]) for sign in b'.,;=:()[]{}'), b'return'))
# Stands in the place of a string.
_STRING = b' \x00 '
_ENDS = re.compile(rb'^\w*(?:"""|\'\'\'|["\'`])|(?:"""|\'\'\'|["\'`])$')

Gram = tuple[bytes, ...]


def list_body_grams(body: bytes, rules: LexicalRules) -> frozenset[Gram]:
    """Return the grams of the body of a method that tell it from other code."""
    code, _ = _split_strings(body, rules)
    return _make_grams(code)


def list_file_grams(file: bytes, rules: LexicalRules) -> frozenset[Gram]:
    """Return the grams of a file, also those within its strings.

    A string may be code that a test compiles or executes.
    """
    code, strings = _split_strings(file, rules)
    within = (_split_strings(string, rules)[0] for string in strings)
    return _make_grams(code).union(*map(_make_grams, within))


def has_copy(body: frozenset[Gram], file: frozenset[Gram]) -> bool:
    """Return whether a file has nearly all grams of a body; False for a body with few of them."""
    return len(body) >= LEAST_GRAMS and len(body & file) >= LEAST_SHARE * len(body)


def _split_strings(text: bytes, rules: LexicalRules) -> tuple[bytes, list[bytes]]:
    """Return code without comments and with a mark for each string, and the contents of these."""
    code: list[bytes] = []
    strings: list[bytes] = []
    end = 0
    for literal in rules.list_comments_and_strings(text):
        code.append(text[end : literal.start()])
        end = literal.end()
        if literal.lastgroup in ('string', 'template'):
            strings.append(_ENDS.sub(b'', literal[0]))
            code.append(_STRING)
    return b''.join((*code, text[end:])), strings


def _normalise_tokens(code: bytes) -> Iterator[bytes]:
    """Yield the tokens of code; names, numbers and strings lose their spelling."""
    tokens = [token[0] for token in _TOKEN.finditer(code)]
    for token, following in pairwise([*tokens, b'']):
        if token == _STRING.strip():
            yield b's'
        elif token[:1].isdigit():
            yield b'n'
        elif not _WORD.match(token) or token in _KEYWORDS or following == b'(':
            yield token
        else:
            yield b'w'


def _make_grams(code: bytes) -> frozenset[Gram]:
    tokens = tuple(_normalise_tokens(code))
    grams = (tokens[at : at + GRAM] for at in range(len(tokens) - GRAM + 1))
    return frozenset(gram for gram in grams if not _COMMON.issuperset(gram))
