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
    """Return the text of a C, Go or Java program without comments, and with less white space.

    Each comment becomes a blank. Each run of white space outside literals becomes one character: a
    newline if it contains one, else a blank. Directives (`//go:`) stay. Files of other kinds, by
    their names, are returned unchanged.
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
