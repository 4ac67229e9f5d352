"""Normalise Python literals: formatters such as black and ruff change quotes and letter case.

Their rules: https://black.readthedocs.io/en/stable/the_black_code_style/current_style.html
(strings, numeric literals), https://docs.astral.sh/ruff/formatter/black/ (implicit concatenation).
"""

from __future__ import annotations

import re

_LITERAL = re.compile(r"""([A-Za-z]*)('''|\"{3}|'|")(.*)\2\Z""", re.DOTALL)
_ESCAPE = re.compile(r'\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)', re.DOTALL)


def split_literal(text: str) -> tuple[str, str]:
    """Return the normalised prefix and content of a string literal: `R'a'` gives ('r', 'a').

    Escaped quotes are unescaped. Text that is not a string literal is returned as it is, with the
    prefix `?`.
    """
    match = _LITERAL.match(text)
    if match is None:
        return '?', text
    letters = normalise_prefix(match[1])
    return letters, normalise_content(match[3], letters)


def normalise_prefix(text: str) -> str:
    """Return the prefix of a string in lower case and sorted, without `u`, which has no effect."""
    return ''.join(sorted(text.lower().replace('u', '')))


def normalise_content(text: str, letters: str) -> str:
    """Return the content of a string with line feeds as line ends and, unless raw, equal escapes.

    letters  the normalised prefix
    """
    text = text.replace('\r\n', '\n')
    return text if 'r' in letters else _ESCAPE.sub(_normalise_escape, text)


def _normalise_escape(found: re.Match[str]) -> str:
    """Return an escape in ruff's form: hexadecimal digits in lower case, quotes unescaped."""
    text = found[1]
    return text if text in ('"', "'") else f'\\{text.lower() if len(text) > 1 else text}'


def spell_string(letters: str, text: str) -> str:
    """Return the canonical token of a string; a raw one without a backslash equals a plain one.

    letters, text  as `split_literal` returns them
    """
    is_raw = '\\' in text
    return f"{letters if is_raw else letters.replace('r', '')}'{text}'"


def normalise_number(text: str) -> str:
    """Return a number in lower case without underscores."""
    return text.lower().replace('_', '')
