"""Removes comments from programs in Java, Go and C."""

from __future__ import annotations

import re

_SUFFIXES = ('.c', '.go', '.java')
_TOKEN = re.compile(
    rb'"""(?:\\.|[^\\])*?"""'
    rb'|"(?:\\.|[^"\\\n])*"'
    rb"|'(?:\\.|[^'\\\n])*'"
    rb'|`[^`]*`'
    rb'|//go:[^\n]*'  # a directive
    rb'|(?P<comment>//[^\n]*|/\*.*?\*/)',
    re.DOTALL,
)


def strip_comments(file_name: str, text: bytes) -> bytes:
    """Return a program without comments, and with each run of white space as one character.

    A comment leaves a blank.

    Files of other kinds are returned unchanged. White space inside literals is kept.
    """
    if not file_name.endswith(_SUFFIXES):
        return text
    pieces: list[bytes] = []
    code = b''
    end = 0
    for token in _TOKEN.finditer(text):
        code += text[end : token.start()]
        if token['comment'] is None:
            pieces += [_squeeze(code), token[0]]
            code = b''
        else:
            code += b' '
        end = token.end()
    return b''.join([*pieces, _squeeze(code + text[end:])])


def _squeeze(code: bytes) -> bytes:
    return re.sub(rb'\s+', lambda run: b'\n' if b'\n' in run[0] else b' ', code)
