"""Texts that are kept, without what must not be: tokens, passwords, credentials in URLs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from coevo.display import credentials
from coevo.display.credentials import HIDDEN

_SECRET_NAMES = re.compile(r'TOKEN|SECRET|PASSWORD|PASSWD|API_KEY|AUTH_STRING|CREDENTIAL')
# GitHub's prefixes: https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/
_TOKENS = re.compile(r'\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,})')
_HEADERS = re.compile(r'(?i)(authorization\W+(?:bearer|token|basic)\s+)[^\s\'"]+')
# Shorter values (`1`, `true`) are no secrets, and would hide half of a text.
_LEAST = 8


def redact(text: str) -> str:
    """The text with what looks like a secret, or is one of this process's environment, hidden."""
    for secret in sorted(_list_secrets(os.environ), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    text = _TOKENS.sub(HIDDEN, text)
    text = credentials.hide_credentials(text)
    return _HEADERS.sub(rf'\g<1>{HIDDEN}', text)


def strip_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """What a process that runs foreign code may know: an object store's keys, but no API's."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith('AWS_') or not _SECRET_NAMES.search(name.upper())
    }


def _list_secrets(environment: Mapping[str, str]) -> Iterator[str]:
    """Also each of several in one variable, with commas or white space between them."""
    for name, value in environment.items():
        if _SECRET_NAMES.search(name.upper()):
            yield from (
                part for part in (value, *re.split(r'[\s,]+', value)) if len(part) >= _LEAST
            )
