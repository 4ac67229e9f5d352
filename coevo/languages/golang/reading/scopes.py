"""Where in a Go file a local name means what a function declared (https://go.dev/ref/spec#Declarations_and_scope)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from coevo.languages.spans import Span

_FUNCTIONS = frozenset({'function_declaration', 'method_declaration', 'func_literal'})
_BLOCKS = _FUNCTIONS | {
    *('block', 'if_statement', 'for_statement', 'expression_switch_statement'),
    *('type_switch_statement', 'select_statement', 'expression_case', 'type_case'),
    *('communication_case', 'default_case'),
}
# In these the parameters of a type are known, but not its name.
_PARAMETRIC = frozenset({'type_spec', 'type_alias'})
# A name that stands in one of these is known behind it: what it is given is not its own.
_STATEMENTS = frozenset(
    {'short_var_declaration', 'range_clause', 'receive_statement', 'var_spec', 'const_spec'}
)


# Names of parameters in these are for people alone.
_TYPES = frozenset({'function_type', 'method_elem'})


class LocalScopes:
    """The local names of one file; all are taken in before anything is asked."""

    def __init__(self) -> None:
        self._spans: dict[str, list[Span]] = {}
        self._merged: dict[str, tuple[list[int], list[int]]] = {}

    def bind_name(self, name: str, end: int, around: Sequence[tuple[str, int]]) -> None:
        """Take in a name that is declared up to a place.

        around  the kinds of the nodes that it stands in, outermost first, and where they end
        """
        start = end
        own = around[-1][0] if around else ''
        for kind, last in reversed(around):
            if kind in _TYPES:
                return
            if kind in _STATEMENTS:
                start = max(start, last)
            if kind in _BLOCKS or (kind in _PARAMETRIC and kind != own):
                self._spans.setdefault(name, []).append((start, last))
                return

    def is_local(self, name: str, at: int) -> bool:
        """Whether a name that stands at a place is a local one."""
        if name not in self._spans:
            return False
        if name not in self._merged:
            self._merged[name] = _merge_spans(self._spans[name])
        starts, ends = self._merged[name]
        index = bisect_right(starts, at) - 1
        return index >= 0 and at < ends[index]


def _merge_spans(spans: list[Span]) -> tuple[list[int], list[int]]:
    """Where stretches begin and end that cover the same, none of them touching another."""
    starts: list[int] = []
    ends: list[int] = []
    for start, end in sorted(spans):
        if ends and start <= ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    return starts, ends
