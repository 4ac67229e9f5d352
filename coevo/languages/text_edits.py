"""Cuts pieces out of a text and inserts others, with consistent line endings and blank lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_BLANKS_BEFORE = re.compile(rb'(?:(?<=\n)[ \t]*\r?\n)+\Z')
_BLANKS_AFTER = re.compile(rb'(?:[ \t]*\r?\n)+')


@dataclass(slots=True)
class TextEdits:
    """Edits of one text, by byte offsets in it; insertions at the same offset keep their order."""

    source: bytes
    _cuts: list[tuple[int, int]] = field(default_factory=list)
    _texts: list[tuple[int, int, bytes]] = field(default_factory=list)

    @property
    def line_end(self) -> bytes:
        """The line ending that most lines of the text have."""
        crlf = self.source.count(b'\r\n')
        return b'\r\n' if crlf * 2 > self.source.count(b'\n') else b'\n'

    def cut_span(self, start: int, end: int) -> None:
        """Note that a span is to be removed, with its whole lines if nothing else stands on them.

        `apply_edits` also removes blank lines that the cut would leave doubled.
        """
        self._cuts.append(widen_to_whole_lines(self.source, start, end))

    def replace(self, start: int, end: int, text: bytes) -> None:
        """Note a text to put in place of a span; it gets the line endings of the source."""
        self._texts.append((start, end, self._convert_line_ends(text)))

    def insert(self, at: int, text: bytes) -> None:
        """Note a text to insert at an offset; it gets the line endings of the source."""
        self._texts.append((at, at, self._convert_line_ends(text)))

    def apply_edits(self) -> bytes:
        """Return the text with all noted edits; it ends with a newline only if the source does."""
        cuts = [(*self._widen_over_gap(start, end), b'') for start, end in self._merge_cuts()]
        text = self.source
        for start, end, new in sorted([*self._texts, *cuts], key=lambda e: e[:2])[::-1]:
            text = text[:start] + new + text[end:]
        return self._match_final_newline(text)

    def _convert_line_ends(self, text: bytes) -> bytes:
        return text.replace(b'\r\n', b'\n').replace(b'\n', self.line_end)

    def _merge_cuts(self) -> list[tuple[int, int]]:
        """Return the cuts in order, joined where only white space is between them.

        Cuts with an insertion between them are not joined.
        """
        merged: list[tuple[int, int]] = []
        for start, end in sorted(set(self._cuts)):
            if (
                merged
                and not self.source[merged[-1][1] : start].strip()
                and not self._is_insertion_at(start)
            ):
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return merged

    def _is_insertion_at(self, at: int) -> bool:
        return any(start == end == at for start, end, _ in self._texts)

    def _widen_over_gap(self, start: int, end: int) -> tuple[int, int]:
        """Widen a cut of whole lines so that it leaves one run of blank lines instead of two."""
        before = _BLANKS_BEFORE.search(self.source[:start])
        after = _BLANKS_AFTER.match(self.source, end)
        above = self.source[: before.start() if before else start].rstrip(b'\r\n')
        below = self.source[after.end() if after else end :].lstrip()
        if after and (before or above.endswith(b'{') or not above):
            return start, after.end()
        if before and below[:1] in (b'}', b''):
            return before.start(), end
        return start, end

    def _match_final_newline(self, text: bytes) -> bytes:
        """Return a text that ends with a newline only if the source does."""
        if self.source.endswith(b'\n'):
            return text if text.endswith(b'\n') else text + self.line_end
        return text.rstrip(b'\r\n')


def replace_span(source: bytes, start: int, end: int, text: bytes) -> bytes:
    """Return the source with `text` in place of a span; every other byte is kept."""
    return source[:start] + text + source[end:]


def remove_span(source: bytes, start: int, end: int) -> bytes:
    """Return the source without a span, and without its lines if nothing else stands on them.

    Blank lines that the cut would leave doubled are removed, too.
    """
    edits = TextEdits(source)
    edits.cut_span(start, end)
    return edits.apply_edits()


def widen_to_whole_lines(source: bytes, start: int, end: int) -> tuple[int, int]:
    """Return a span widened to whole lines, or unchanged if other text stands on them."""
    first = source.rfind(b'\n', 0, start) + 1
    stop = source.find(b'\n', end)
    last = stop + 1 if stop >= 0 else len(source)
    if source[first:start].strip() or source[end:last].strip():
        return start, end
    return first, last


def find_indentation(source: bytes, at: int) -> bytes:
    """Return the white space between a line's start and an offset; b'' if other text is there."""
    before = source[source.rfind(b'\n', 0, at) + 1 : at]
    return b'' if before.strip() else before


def find_line_end(source: bytes, at: int) -> int:
    """Return the offset where the line around an offset ends, before its line break."""
    stop = source.find(b'\n', at)
    return len(source) if stop < 0 else stop - (source[stop - 1 : stop] == b'\r')
