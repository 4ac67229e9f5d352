"""Safe output: third-party texts must not control the terminal, and secrets are removed from what
is kept or shown.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

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
    for secret in sorted(_list_secret_values(os.environ), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    text = _TOKENS.sub(HIDDEN, text)
    text = hide_credentials(text)
    return _HEADERS.sub(rf'\g<1>{HIDDEN}', text)


def strip_secrets_except_aws(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a process that runs foreign code.

    Keys of object stores (AWS_...) stay, other secrets are removed.
    """
    return {
        name: value
        for name, value in environment.items()
        if name.startswith('AWS_') or not _SECRET_NAMES.search(name.upper())
    }


def _list_secret_values(environment: Mapping[str, str]) -> Iterator[str]:
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


def strip_credentials_and_query(url: str) -> str:
    """Return a URL in a form that may be stored: without user, password, query or fragment."""
    head, separator, rest = url.partition('://')
    if not separator:
        return url
    return head + separator + re.split('[?#]', _LOGIN.sub('', rest, count=1), maxsplit=1)[0]


def hide_credentials(text: str) -> str:
    """Return a text in a form that may be printed: credentials in its URLs become `***`."""
    return _URL.sub(lambda found: found[1] + _hide_credentials_after_scheme(found[2]), text)


def _hide_credentials_after_scheme(rest: str) -> str:
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


# The file name in errors about coevo's own output.
STANDARD_OUTPUT = 'standard output'

# Control characters except tab and line feed; marks, embeddings, overrides and isolates of
# bidirectional text; line ends that programs do not treat as such.
_CONTROL = re.compile(
    '[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]'
)


def escape_controls(text: str) -> str:
    """Return the text with every character that could control a terminal escaped."""
    return _CONTROL.sub(lambda found: found[0].encode('unicode_escape').decode(), text)


def write_data(answer: bytes) -> None:
    """Write a result to standard output.

    On a terminal, control characters are escaped; otherwise the bytes are unchanged.
    """
    if sys.stdout.isatty():
        sys.stdout.write(answer.decode('utf-8', 'backslashreplace'))
        return
    with _name_output_in_errors():
        sys.stdout.flush()
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()


@contextmanager
def _name_output_in_errors() -> Iterator[None]:
    """Name standard output in OSErrors, which name no file for a broken pipe or a full disk."""
    try:
        yield
    except OSError as error:
        error.filename = STANDARD_OUTPUT
        raise


class GuardedStream:
    """A text stream that passes everything through `shown`; `raw` is the unguarded stream."""

    def __init__(
        self, raw: TextIO, shown: Callable[[str], str] = escape_controls, *, is_last: bool = False
    ) -> None:
        """Wrap a stream. `is_last` marks the stream for error messages: an error of its own is
        swallowed, since it could not be reported anywhere.
        """
        self.raw, self._shown, self._is_last = raw, shown, is_last

    def write(self, text: str) -> int:
        """Write a text, escaped by `shown` and where the encoding lacks a character."""
        encoding = self.raw.encoding or 'utf-8'
        known = self._shown(text).encode(encoding, 'backslashreplace').decode(encoding)
        self._write_or_silence_if_last(lambda: self.raw.write(known))
        return len(text)

    def flush(self) -> None:
        """Flush the raw stream."""
        self._write_or_silence_if_last(self.raw.flush)

    def _write_or_silence_if_last(self, write: Callable[[], object]) -> None:
        try:
            with _name_output_in_errors():
                write()
        except OSError:
            if not self._is_last:
                raise
            silence_stream(self.raw)

    def writelines(self, lines: list[str]) -> None:
        """Write several lines, escaped as by `write`."""
        self.write(''.join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


def silence_stream(stream: Any) -> None:
    """Redirect a stream that has no reader to /dev/null, so that pending output raises no error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def get_raw_stream(stream: Any) -> Any:
    """Return the unguarded stream, for a caller that escapes its texts itself."""
    return stream.raw if isinstance(stream, GuardedStream) else stream


@contextmanager
def guard_output() -> Iterator[None]:
    """Guard standard output and standard error while the context is open.

    Control characters are escaped, and in standard error secrets in URLs are hidden. A closed
    stream (`>&-`) is replaced by /dev/null.
    """
    _occupy_closed_descriptors()
    before = sys.stdout, sys.stderr
    sys.stdout = GuardedStream(before[0] or _open_null())
    sys.stderr = GuardedStream(
        before[1] or _open_null(), _escape_and_hide_credentials, is_last=True
    )
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _escape_and_hide_credentials(text: str) -> str:
    return escape_controls(hide_credentials(text))


def _open_null() -> TextIO:
    return Path(os.devnull).open('w', encoding='utf-8')  # own name: the system's


def _occupy_closed_descriptors() -> None:
    """Open /dev/null on closed standard descriptors, so that no later file gets one of them."""
    for wanted in range(3):
        try:
            os.fstat(wanted)
        except OSError:
            taken = os.open(os.devnull, os.O_RDWR)
            assert taken == wanted, 'the lowest that is free'
