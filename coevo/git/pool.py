"""A pool of repositories that keeps only a few of them open; each is opened when it is needed.

An open repository costs three descriptors, a process and a cache of its objects. Callers that use
many repositories process them one after another, and get each one anew for its turn.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Self, TypeVar

from coevo.git.repository import Repository

Value = TypeVar('Value')

# Sequential work needs one open repository. The others save reopening for occasional looks at
# forks.
MOST_OPEN = 4


class RepositoryPool:
    """Repositories by name, for one thread. Opening one beyond the limit closes the least recently
    used.

    open_  returns a context that keeps the repository with a name open
    most   limit of open repositories
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
        """Return a repository for immediate use: a later call with other names may close it."""
        if name not in self._opened:
            while len(self._stacks) >= self._most:
                self._close_oldest()
            with ExitStack() as stack:
                self._opened[name] = stack.enter_context(self._open(name))
                self._stacks[name] = stack.pop_all()
        self._stacks.move_to_end(name)
        return self._opened[name]

    def map_names(self, names: Iterable[str]) -> LazyMapping[Repository]:
        """Return a lazy mapping from some names to their repositories."""
        return LazyMapping(names, self.get)

    def _close_oldest(self) -> None:
        name, stack = self._stacks.popitem(last=False)
        with stack:
            # Close it explicitly: caches of the languages use repositories as keys and may still
            # refer to it.
            self._opened.pop(name).close()


class LazyMapping(Mapping[str, Value]):
    """A mapping over sorted names that gets each value on access."""

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
