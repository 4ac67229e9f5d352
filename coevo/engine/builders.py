"""Builders over the same engine for the threads of a run, opened when something is to be run."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Self

from coevo.languages.base import Language
from coevo.languages.engine import Builder, Engine, RunSettings
from coevo.model.errors import Transient
from coevo.model.records import Pair


class BuilderPool:
    """A context manager; its threads have to end before it does, which `halt` hastens.

    What they write to is removed at the end: a thread that still writes would leave it behind.
    """

    def __init__(self, language: Language, run: RunSettings, pairs: Iterable[Pair]) -> None:
        self._language, self._run = language, run
        self._uses = Counter(rev for pair in pairs for rev in (pair.old.rev, pair.new.rev))
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._halted = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.halt()
        self._stack.close()

    def open_builder(self) -> Builder:
        """A builder for one thread; Transient once the run is halted."""
        with self._lock:
            if self._halted:
                raise Transient('the run is being ended')
            if self._engine is None:
                self._engine = self._language.make_engine(self._run, self._stack)
            return self._engine.make_builder()

    def forget_pair(self, pair: Pair) -> None:
        """A pair is done: revisions that no other one needs are removed."""
        for rev in (pair.old.rev, pair.new.rev):
            self._uses[rev] -= 1
            if not self._uses[rev] and self._engine is not None:
                self._engine.forget_revision(rev)

    def halt(self) -> None:
        """End what threads may be waiting for, and let nothing begin."""
        with self._lock:
            self._halted = True
            if self._engine is not None:
                self._engine.halt()
        self._run.end_helpers()
