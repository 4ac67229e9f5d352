"""Safe output: third-party texts must not control the terminal.

All output of a command passes through this module. It escapes control characters, including those
that change the direction of writing (https://trojansource.codes), and characters that the encoding
lacks. Secrets in URLs are hidden in what coevo itself writes to standard error.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from coevo.display import redaction

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
        self._try_write(lambda: self.raw.write(known))
        return len(text)

    def flush(self) -> None:
        """Flush the raw stream."""
        self._try_write(self.raw.flush)

    def _try_write(self, write: Callable[[], object]) -> None:
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
    sys.stderr = GuardedStream(before[1] or _open_null(), _escape_and_hide, is_last=True)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _escape_and_hide(text: str) -> str:
    return escape_controls(redaction.hide_credentials(text))


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
