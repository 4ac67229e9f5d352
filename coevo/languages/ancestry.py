"""Answers whether a property holds for a name or any name above it, such as its superclasses.

The time grows linearly with the code. A hostile file may declare a thousand classes of one name
that each derive from that name, so each name is visited once, rather than each path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

Ask = Callable[[str], tuple[bool, Iterable[str]]]
"""Takes a name. Returns whether the property holds for the name itself, and the names directly
above it.
"""


class AncestryQuery:
    """A search for a property among names and all names above them, which caches its answers.

    ask  returns whether one name has the property itself, and the names directly above it
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[str, bool] = {}

    def holds_for_any_ancestor(self, name: str) -> bool:
        """Return whether the property holds for a name or for any name above it, however far."""
        if name not in self._known:
            self._known[name] = self._search(name)
        return self._known[name]

    def _search(self, name: str) -> bool:
        """Search upwards from a name, and cache an answer for each name visited.

        If the property holds somewhere above, it holds for all names on the way there. Otherwise it
        holds for none of the names visited.
        """
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
