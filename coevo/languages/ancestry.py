"""What holds of a name or of any name above it, such as those of superclasses; in time that grows with the code.

A hostile file may declare a thousand classes of one name that each derive from that name: paths are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

Ask = Callable[[str], tuple[bool, Iterable[str]]]
"""Whether it holds of a name by itself, and the names directly above it."""


class AncestryQuery:
    """One question, asked of many names; each answer is kept."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[str, bool] = {}

    def holds_for(self, name: str) -> bool:
        if name not in self._known:
            self._known[name] = self._search(name)
        return self._known[name]

    def _search(self, name: str) -> bool:
        """What holds of a name holds of all on the way to it; where nothing does, of none that was seen."""
        below: dict[str, str | None] = {name: None}
        todo = [name]
        while todo:
            current = todo.pop()
            own, above = self._ask(current)
            if own or any(self._known.get(each) for each in above):
                way: str | None = current
                while way is not None:
                    self._known[way] = True
                    way = below[way]
                return True
            new = [each for each in above if each not in below and each not in self._known]
            below.update(dict.fromkeys(new, current))
            todo += new
        self._known.update(dict.fromkeys(below, False))
        return False
