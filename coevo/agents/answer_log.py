"""The log of an attempt: requests to the model and its answers, in lines of JSON."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from coevo.storage.bounded_json import parse_json
from coevo.storage.bounded_reading import UnreadableContent

# A value takes about a hundred bytes of memory. Content with more values is kept as text.
_MOST_VALUES = 200_000

MOST_BYTES = 32 << 20
"""Most bytes of a log. Later lines are only counted; a long conversation repeats itself."""


class AnswerLog:
    """The log of one attempt; safe to use from several threads."""

    def __init__(self, file: Path) -> None:
        """Create the file of the log, or empty it if an interrupted attempt has left one."""
        self._file = file
        self._guard = threading.Lock()
        self._left, self._left_out = MOST_BYTES, 0
        file.write_bytes(b'')

    def write_line(self, what: str, content: bytes, status: int | None = None) -> None:
        """Append a request or an answer, unless the log would exceed `MOST_BYTES`.

        what    `asked` for a request, `said` for an answer
        status  the HTTP status of an answer
        """
        row = {what: _parse(content), **({} if status is None else {'status': status})}
        line = json.dumps(row, ensure_ascii=False).encode('utf-8', 'replace') + b'\n'
        with self._guard:
            if len(line) > self._left:
                self._left_out += 1
                return
            self._left -= len(line)
            with self._file.open('ab') as file:
                file.write(line)

    def close(self) -> None:
        """Append a line with the number of lines that are left out, if there are any."""
        with self._guard:
            if self._left_out:
                with self._file.open('ab') as file:
                    file.write(json.dumps({'left_out': self._left_out}).encode() + b'\n')
                self._left_out = 0


def _parse(content: bytes) -> object:
    """Return the value of JSON, and the text of anything else, such as a stream of events."""
    try:
        return parse_json(content, most_values=_MOST_VALUES)
    except UnreadableContent:
        return content.decode('utf-8', 'replace')
