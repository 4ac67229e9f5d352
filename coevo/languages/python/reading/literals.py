"""Python's literals in one spelling each: black and ruff choose quotes and letter case as they like.

Their rules: https://black.readthedocs.io/en/stable/the_black_code_style/current_style.html (strings,
numeric literals), https://docs.astral.sh/ruff/formatter/black/ (implicit concatenation).
"""

from __future__ import annotations

import re

_LITERAL = re.compile(r"""([A-Za-z]*)('''|\"{3}|'|")(.*)\2\Z""", re.DOTALL)
_ESCAPE = re.compile(r'\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)', re.DOTALL)


def split_literal(text: str) -> tuple[str, str]:
    """The prefix and the content of a string literal, quotes no longer escaped; as it is if it is none."""
    match = _LITERAL.match(text)
    if match is None:
        return '?', text
    letters = normalise_prefix(match[1])
    return letters, normalise_content(match[3], letters)


def normalise_prefix(text: str) -> str:
    """The letters before a string in one case and order; `u` says nothing."""
    return ''.join(sorted(text.lower().replace('u', '')))


def normalise_content(text: str, letters: str) -> str:
    text = text.replace('\r\n', '\n')
    return text if 'r' in letters else _ESCAPE.sub(_normalise_escape, text)


def _normalise_escape(found: re.Match[str]) -> str:
    """Digits of a code in lower case, as ruff has them; a quote as itself."""
    text = found[1]
    return text if text in ('"', "'") else f'\\{text.lower() if len(text) > 1 else text}'


def spell_string(letters: str, text: str) -> str:
    """A token for a string; raw ones without a backslash are like others."""
    is_raw = '\\' in text
    return f"{letters if is_raw else letters.replace('r', '')}'{text}'"


def normalise_number(text: str) -> str:
    return text.lower().replace('_', '')
