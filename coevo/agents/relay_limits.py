"""How much of this machine's memory an agent's calls may take, whatever the agent sends.

All bounds are those of one relay, which serves one attempt:

    connections     32, each with a head of at most 128 KiB
    a request       8 MiB. A context window of a million tokens is 4 MB of text, and JSON escapes some of it. Of values there are
                    200,000: a thousand turns have a quarter of that.
    requests        32 MiB at once, from their first byte until the endpoint begins to answer; one is parsed at a time
    answers         64 MiB each, an hour each, 128 MiB at once

What goes beyond is answered 413, 431 or 503. Nothing waits in a queue but for the parser.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import LineTooLong
from io import BufferedIOBase

CONNECTIONS = 32
HEAD_BYTES = 64 << 10
_LINE_BYTES = (64 << 10) + 1

REQUEST_BYTES = 8 << 20
REQUEST_VALUES = 200_000
# An agent sends from this machine: what takes longer is not sent in earnest.
REQUEST_SECONDS = 60.0
REQUESTS_BYTES = 32 << 20

ANSWER_BYTES = 64 << 20
ANSWER_SECONDS = 3600.0
ANSWERS_BYTES = 128 << 20


class Allowance:
    """Bytes that may be in memory at once; safe from several threads."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._guard = threading.Lock()

    @property
    def remaining_bytes(self) -> int:
        """How many may still be taken."""
        with self._guard:
            return self._left

    def try_take(self, count: int) -> bool:
        """Whether so many are left; they are taken then, until they are given back."""
        with self._guard:
            if count > self._left:
                return False
            self._left -= count
            return True

    def give_back(self, count: int) -> None:
        with self._guard:
            self._left += count

    @contextmanager
    def borrow(self, count: int) -> Iterator[bool]:
        """Whether so many are left; they are given back in the end."""
        is_taken = self.try_take(count)
        try:
            yield is_taken
        finally:
            if is_taken:
                self.give_back(count)


class HeadReader:
    """The bytes that an agent sends, of which the lines of a head may be so many together.

    Raises: LineTooLong, which the server answers with 431.
    """

    def __init__(self, stream: BufferedIOBase) -> None:
        self._left = 0
        self.stream = stream
        self.close = stream.close

    def begin_request(self) -> None:
        """Another request follows. Its first line is the server's to judge, which reads one byte too many of it."""
        self._left = HEAD_BYTES + _LINE_BYTES

    def readline(self, size: int = -1) -> bytes:
        line = self.stream.readline(size)
        self._left -= len(line)
        if self._left < 0:
            raise LineTooLong('head')
        return line

    @property
    def closed(self) -> bool:
        return self.stream.closed
