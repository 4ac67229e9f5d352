"""What is printed: texts of strangers', none of which a terminal is to obey.

All that a command says goes through here. Control characters are shown as escapes, such that turn the
direction of writing too (https://trojansource.codes), and what an encoding lacks; secrets in URLs are
hidden where the words are ours.
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

# All but tab and line feed; marks, embeddings, overrides and isolates of bidirectional text; line ends
# that are none to a program.
# What trouble with our output has in the place of a file's name.
STANDARD_OUTPUT = 'standard output'

_CONTROL = re.compile(
    '[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]'
)


def escape_controls(text: str) -> str:
    """The text without what could steer a terminal."""
    return _CONTROL.sub(lambda found: found[0].encode('unicode_escape').decode(), text)


def write_data(answer: bytes) -> None:
    """An answer for a program, byte by byte; where a person reads it, as a terminal may show it."""
    if sys.stdout.isatty():
        sys.stdout.write(answer.decode('utf-8', 'backslashreplace'))
        return
    with _name_output_in_errors():
        sys.stdout.flush()
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()


@contextmanager
def _name_output_in_errors() -> Iterator[None]:
    """Let trouble say that it is the output's: the system names no file there, nor where a disk is full."""
    try:
        yield
    except OSError as error:
        error.filename = STANDARD_OUTPUT
        raise


class GuardedStream:
    """A stream of texts whose every word goes through `escape_controls`; `raw` is for what we draw ourselves."""

    def __init__(
        self, raw: TextIO, shown: Callable[[str], str] = escape_controls, *, is_last: bool = False
    ) -> None:
        """`is_last`: where trouble would be told, so that its own ends nothing."""
        self.raw, self._shown, self._is_last = raw, shown, is_last

    def write(self, text: str) -> int:
        encoding = self.raw.encoding or 'utf-8'
        known = self._shown(text).encode(encoding, 'backslashreplace').decode(encoding)
        self._try_write(lambda: self.raw.write(known))
        return len(text)

    def flush(self) -> None:
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
        self.write(''.join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


def silence_stream(stream: Any) -> None:
    """Nobody reads any more: what is still to be written ends nothing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def get_raw_stream(stream: Any) -> Any:
    """The stream itself, for what escapes its texts on its own."""
    return stream.raw if isinstance(stream, GuardedStream) else stream


@contextmanager
def guard_output() -> Iterator[None]:
    """Guard both streams; one that was closed (`>&-`) says nothing."""
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
    """Take the descriptors of closed streams, lest a file that is opened gets one of them."""
    for wanted in range(3):
        try:
            os.fstat(wanted)
        except OSError:
            taken = os.open(os.devnull, os.O_RDWR)
            assert taken == wanted, 'the lowest that is free'
