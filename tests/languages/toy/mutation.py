"""Mutants of toys: each number one more."""

from __future__ import annotations

import re
from collections.abc import Collection

from coevo.languages.mutation import Mutant


def is_installed() -> bool:
    return True


def make_mutants(source: bytes, lines: Collection[int]) -> tuple[Mutant, ...]:
    return tuple(
        Mutant(
            line=number,
            original=text,
            mutated=re.sub(r'\d+$', lambda found: str(int(found[0]) + 1), text),
        )
        for number, text in enumerate(source.decode().splitlines(), start=1)
        if number in lines and re.search(r'\d+$', text)
    )
