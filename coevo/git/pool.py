"""Many repositories of which few are open: each is opened when it is asked for.

An open repository costs three descriptors, a process and what it remembers of its objects. Whoever
goes through many takes them one after another, and asks for each anew when it is its turn.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Self, TypeVar

from coevo.git.repository import Repository

Value = TypeVar('Value')

# Work that is in order needs one; the rest spares what asks for a fork now and then.
MOST_OPEN = 4


class RepositoryPool:
    """Repositories by name, for one thread; the least recently used is closed for another one.

    open_  a repository by its name, as long as its context lasts
    most   how many are open at once
    """

    def __init__(
        self,
        open_: Callable[[str], AbstractContextManager[Repository]],
        most: int = MOST_OPEN,
    ) -> None:
        self._open, self._most = open_, most
        self._stacks: OrderedDict[str, ExitStack] = OrderedDict()
        self._opened: dict[str, Repository] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        while self._stacks:
            self._close_oldest()

    def get(self, name: str) -> Repository:
        """The repository, for a short time: a later call for others may close it."""
        if name not in self._opened:
            while len(self._stacks) >= self._most:
                self._close_oldest()
            with ExitStack() as stack:
                self._opened[name] = stack.enter_context(self._open(name))
                self._stacks[name] = stack.pop_all()
        self._stacks.move_to_end(name)
        return self._opened[name]

    def map_names(self, names: Iterable[str]) -> LazyMapping[Repository]:
        """Some of them as a mapping."""
        return LazyMapping(names, self.get)

    def _close_oldest(self) -> None:
        name, stack = self._stacks.popitem(last=False)
        with stack:
            # Others may know it still: what languages remember of trees has their repositories for keys.
            self._opened.pop(name).close()


class LazyMapping(Mapping[str, Value]):
    """Values by name, in the order of names, each got when it is asked for."""

    def __init__(self, names: Iterable[str], get: Callable[[str], Value]) -> None:
        self._names = dict.fromkeys(sorted(names))
        self._get = get

    def __getitem__(self, name: str) -> Value:
        if name not in self._names:
            raise KeyError(name)
        return self._get(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
