"""Workshops over the same yards for the threads of a run, opened when something is to be run."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import ExitStack
from contextlib import contextmanager

from coevo.git import Repository
from coevo.jdks import Jdk
from coevo.languages import java_maven
from coevo.languages.base import Workshop
from coevo.libraries import Say
from coevo.records import Pair


@contextmanager
def workshops(
    repository: Repository,
    sandbox: str,
    pairs: Sequence[Pair],
    say: Say = lambda sentence: None,
    jdks: Sequence[Jdk] | None = None,
) -> Iterator[tuple[Callable[[], Workshop], Callable[[Pair], None]]]:
    """A factory of workshops, and what forgets revisions that none of these pairs needs more.

    jdks  those that may be used; None for all of the machine
    """
    uses = Counter(rev for pair in pairs for rev in (pair.old.rev, pair.new.rev))
    opening = threading.Lock()
    with ExitStack() as stack:
        yards: list[java_maven.Yards] = []

        def open_workshop() -> Workshop:
            with opening:
                if not yards:
                    site = java_maven.Site(repository, sandbox=sandbox, stack=stack, say=say)
                    yards.append(java_maven.Yards(site, jdks))
            return java_maven.PairWorkshop(yards[0])

        def release(pair: Pair) -> None:
            for rev in (pair.old.rev, pair.new.rev):
                uses[rev] -= 1
                if not uses[rev] and yards:
                    yards[0].forget(rev)

        yield open_workshop, release
