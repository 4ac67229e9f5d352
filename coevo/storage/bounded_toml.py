"""Parse untrusted TOML: whatever Python cannot hold is reported as text that is no TOML."""

from __future__ import annotations

import tomllib
from typing import Any


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises: ValueError if the text is not TOML, is nested too deeply or has a number with too many
    digits.
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError('it is nested too deeply') from None
