"""Which states of a window can be the old end of a task: those whose own tests compile.

A nearer state that cannot is no reason to drop what a farther one shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from coevo.git.repository import Repository
from coevo.languages.engine import Builder
from coevo.model.records import Pair


@dataclass(frozen=True, slots=True)
class CompilableStates:
    """Each revision's module is asked once in a run, whichever pair is first to ask."""

    _known: dict[tuple[str, str], bool] = field(default_factory=dict)

    def build_compile_check(
        self, repository: Repository, pair: Pair, open_builder: Callable[[], Builder]
    ) -> Callable[[str, str], bool]:
        """Answers for states between a pair's ends; they are built as old ends of the same new."""

        def compiles(rev: str, module: str) -> bool:
            if (rev, module) not in self._known:
                nearer = replace(pair, old=repository.get_commit(rev), between=())
                self._known[rev, module] = _is_compilable(open_builder(), nearer, module)
            return self._known[rev, module]

        return compiles


def _is_compilable(builder: Builder, pair: Pair, module: str) -> bool:
    built = builder.build(pair)
    if built.old.find_trouble(module) is not None:
        return False
    return built.compile(pair.old.rev, pair.old.rev, module).unit_ok
