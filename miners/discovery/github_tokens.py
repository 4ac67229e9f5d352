"""Read tokens for GitHub's API from the environment or a file, and never show them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coevo.model.errors import Fatal

_WORD = re.compile(r'[A-Za-z0-9_.~+/=-]+')


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubToken:
    """One token; messages name it by its position among those given, counted from 1."""

    number: int
    secret: str = field(repr=False)

    def __str__(self) -> str:
        return f'token {self.number}'


def parse_tokens(
    environment: Mapping[str, str], file: Path | None = None
) -> tuple[GitHubToken, ...]:
    """Return the tokens of a file, one a line, or else those of the environment.

    $GITHUB_TOKENS has several, separated by commas or spaces; without it $GITHUB_TOKEN counts.
    Duplicates count once.

    Raises: Fatal if there is no token, or a word is none.
    """
    text = _load_token_file(file) if file is not None else _parse_environment(environment)
    words = dict.fromkeys(text.replace(',', ' ').split())
    if not words:
        raise Fatal(
            'GitHub is asked with a token only: set $GITHUB_TOKENS (several, with commas between) '
            'or give --tokens FILE with one a line'
        )
    for number, word in enumerate(words, 1):
        if not _WORD.fullmatch(word):
            raise Fatal(f'token {number} holds a character that no token of GitHub has')
    return tuple(GitHubToken(number=number, secret=word) for number, word in enumerate(words, 1))


def _parse_environment(environment: Mapping[str, str]) -> str:
    return environment.get('GITHUB_TOKENS') or environment.get('GITHUB_TOKEN') or ''


def _load_token_file(file: Path) -> str:
    try:
        lines = file.read_text(encoding='utf-8').splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Fatal(f'{file} cannot be read; give --tokens a file with one token a line') from error
    return '\n'.join(line for line in lines if not line.lstrip().startswith('#'))
