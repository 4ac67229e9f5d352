"""Facts about tree-sitter grammars, and the comments that belong to a declaration in their trees."""

from __future__ import annotations

from collections.abc import Iterable

from tree_sitter import Language

from coevo.languages.spans import Span, begins_line, find_code_end

# Facts about tree-sitter grammars.


def list_fixed_node_kinds(language: Language) -> frozenset[str]:
    """Return the kinds of nodes of a grammar that always have the same text: keywords, punctuation.

    Such a kind is named like its text, for example `class` or `{`.
    """
    kinds = range(language.node_kind_count)
    named = {language.node_kind_for_id(kind) for kind in kinds if language.node_kind_is_named(kind)}
    return frozenset(
        text
        for kind in kinds
        if language.node_kind_is_visible(kind)
        and (text := language.node_kind_for_id(kind)) is not None
        and text not in named
    )


# Finds the comments that belong to a declaration: above it, or at the end of its last line.


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
