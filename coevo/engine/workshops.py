"""Workshops over the same yards for the threads of a run, opened when something is to be run."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

from coevo.git.repository import Repository
from coevo.languages.base import Workshop
from coevo.languages.java import maven
from coevo.languages.java.tools.jdk_supply import JdkSupply
from coevo.languages.java.tools.libraries import Say
from coevo.model.errors import Transient
from coevo.model.records import Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What all workshops of a run have in common.

    jdks         those that may be used; None for all of the machine, and no other
    end_helpers  ends processes outside of sandboxes that threads may be waiting for
    """

    repository: Repository
    sandbox: str
    say: Say = lambda sentence: None
    jdks: JdkSupply | None = None
    end_helpers: Callable[[], None] = lambda: None


class Workshops:
    """A context manager; its threads have to end before it does, which `halt` hastens.

    What they write to is removed at the end: a thread that still writes would leave it behind.
    """

    def __init__(self, surroundings: Surroundings, pairs: Iterable[Pair]) -> None:
        self._surroundings = surroundings
        self._uses = Counter(rev for pair in pairs for rev in (pair.old.rev, pair.new.rev))
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._site: maven.Site | None = None
        self._yards: maven.Yards | None = None
        self._halted = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.halt()
        self._stack.close()

    def open(self) -> Workshop:
        """A workshop for one thread; Transient once the run is halted."""
        with self._lock:
            if self._halted:
                raise Transient('the run is being ended')
            if self._yards is None:
                around = self._surroundings
                self._site = maven.Site(
                    around.repository, sandbox=around.sandbox, stack=self._stack, say=around.say
                )
                self._yards = maven.Yards(self._site, around.jdks)
            return maven.PairWorkshop(self._yards)

    def forget(self, pair: Pair) -> None:
        """A pair is done: revisions that no other one needs are removed."""
        for rev in (pair.old.rev, pair.new.rev):
            self._uses[rev] -= 1
            if not self._uses[rev] and self._yards is not None:
                self._yards.forget(rev)

    def halt(self) -> None:
        """End what threads may be waiting for, and let nothing begin."""
        with self._lock:
            self._halted = True
            if self._site is not None:
                self._site.sandbox.close()
        self._surroundings.end_helpers()
