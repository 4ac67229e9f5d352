"""Finds the comments that belong to a declaration: above it, or at the end of its last line."""

from __future__ import annotations

from collections.abc import Iterable

from coevo.languages.spans import Span, begins_line, find_code_end


class DeclarationComments:
    """The comments of one file, by which the extent of a declaration is widened.

    source  the content of the file
    spans   start and end of each comment
    """

    def __init__(self, source: bytes, spans: Iterable[Span]) -> None:
        self._source = source
        self._starts = {end: start for start, end in spans}
        self._ends = {start: end for end, start in self._starts.items()}

    def find_start_above(self, start: int) -> int:
        """Return the offset where the comments directly above a declaration begin.

        A comment counts if it begins its line and no blank line follows it. `start` itself if there
        is none.

        start  the offset where the declaration begins
        """
        while True:
            before = find_code_end(self._source, start)
            comment = self._starts.get(before)
            if comment is None or self._source.count(b'\n', before, start) > 1:
                return start
            if not begins_line(self._source, comment):
                return start
            start = comment

    def find_end_behind(self, end: int) -> int:
        """Return the end of the comment that follows `end` on the line, or `end` if there is none.

        Only blanks and semicolons may stand between.

        end  the offset where the declaration ends
        """
        stop = self._source.find(b'\n', end)
        line = self._source[end : stop if stop >= 0 else len(self._source)]
        begin = end + len(line) - len(line.lstrip(b' \t;'))
        comment = self._ends.get(begin)
        return end if comment is None else end + len(self._source[end:comment].rstrip())
