"""Removal of secrets from texts that are kept or shown: tokens, passwords, credentials in URLs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

_SECRET_NAMES = re.compile(r'TOKEN|SECRET|PASSWORD|PASSWD|API_KEY|AUTH_STRING|CREDENTIAL')
# GitHub's prefixes: https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/
_TOKENS = re.compile(r'\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,})')
_HEADERS = re.compile(r'(?i)(authorization\W+(?:bearer|token|basic)\s+)[^\s\'"]+')
# Shorter values (`1`, `true`) are not secrets, and hiding them would make texts unreadable.
_LEAST = 8


def redact(text: str) -> str:
    """Return the text with secrets hidden: values of this process's environment, known token
    formats, credentials in URLs and authorisation headers.
    """
    for secret in sorted(_list_secrets(os.environ), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    text = _TOKENS.sub(HIDDEN, text)
    text = hide_credentials(text)
    return _HEADERS.sub(rf'\g<1>{HIDDEN}', text)


def strip_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a process that runs foreign code.

    Keys of object stores (AWS_...) stay, other secrets are removed.
    """
    return {
        name: value
        for name, value in environment.items()
        if name.startswith('AWS_') or not _SECRET_NAMES.search(name.upper())
    }


def _list_secrets(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of secret variables, and their parts between commas or white space."""
    for name, value in environment.items():
        if _SECRET_NAMES.search(name.upper()):
            yield from (
                part for part in (value, *re.split(r'[\s,]+', value)) if len(part) >= _LEAST
            )


# The rest of this module hides credentials in URLs: a user and password before the host, or tokens
# in the query. They are never printed, stored, or used in a name.

HIDDEN = '***'

# A URL in a text, without the punctuation behind it.
_URL = re.compile(r"""\b([A-Za-z][A-Za-z0-9+.-]*://)([^\s'"<>]+?)(?=[.,:;)\]}]*(?:[\s'"<>]|$))""")
# A password may contain an @ and, if unquoted, a slash. Then the text where a port would stand is
# not a number.
_LOGIN = re.compile(r'\A(?:[^/?#]*@|[^/?#@:]*:(?!\d*(?:[/?#]|\Z))\S*@)')
_VALUE = re.compile(r'(^|&)([^=&]*=)?[^&]*')


def strip_credentials(url: str) -> str:
    """Return a URL in a form that may be stored: without user, password, query or fragment."""
    head, separator, rest = url.partition('://')
    if not separator:
        return url
    return head + separator + re.split('[?#]', _LOGIN.sub('', rest, count=1), maxsplit=1)[0]


def hide_credentials(text: str) -> str:
    """Return a text in a form that may be printed: credentials in its URLs become `***`."""
    return _URL.sub(lambda found: found[1] + _hide_in_rest(found[2]), text)


def _hide_in_rest(rest: str) -> str:
    login = _LOGIN.match(rest)
    address = f'{HIDDEN}@{rest[login.end() :]}' if login else rest
    parts = re.split('([?#])', address)
    masked_parts = [
        _VALUE.sub(_mask_value, part) if at and at % 2 == 0 else part
        for at, part in enumerate(parts)
    ]
    return ''.join(masked_parts)


def _mask_value(found: re.Match[str]) -> str:
    return f'{found[1]}{found[2] or ""}{HIDDEN}' if found[0].lstrip('&') else found[0]
