"""How large and complex the production functions are that a pair changed: PyDriller's measures.

PyDriller has them of lizard, which reads some thirty languages. Its own reading of repositories is not
used: see docs/decisions/reading-repositories.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import lizard
import lizard_languages
from pydriller.domain.commit import Method

from coevo.git.repository import Repository
from coevo.languages.table import get_reading
from coevo.model.dependencies import Revised
from coevo.model.records import Pair
from miners.diffs.changes import PairChange
from miners.diffs.sources import SourceChange

# Of a file, in bytes. The longest that people keep take lizard seconds.
LONGEST = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionMeasures:
    """Of the functions that a pair changed, and of those in them, at new, or at old where removed.

    lines       of all together, without blank ones and comments
    complexity  the largest, by McCabe
    parameters  the most
    """

    functions: int
    lines: int
    complexity: int
    parameters: int


def measure_functions(repository: Repository, change: PairChange) -> FunctionMeasures | None:
    """Of the functions that lizard knows; None where it knows none."""
    functions = [
        function
        for source_change in change.sources
        if source_change.member is not None
        for function in _measure_declaration(repository, change.pair, source_change)
    ]
    if not functions:
        return None
    return FunctionMeasures(
        functions=len(functions),
        lines=sum(function.nloc for function in functions),
        complexity=max(function.complexity for function in functions),
        parameters=max(len(function.parameters) for function in functions),
    )


def _measure_declaration(repository: Repository, pair: Pair, change: SourceChange) -> list[Method]:
    """The functions in the lines of a declaration, of which lizard measures each by itself."""
    end = pair.old if change.revised is Revised.REMOVED else pair.new
    content = (
        get_reading(pair.language).open_tree(repository, end.rev).read_content(change.located.path)
    )
    first, last = change.lines
    return [
        function
        for function in parse_functions(change.located.path, content)
        if first <= function.start_line <= last
    ]


@lru_cache(maxsize=64)
def parse_functions(path: str, content: bytes) -> tuple[Method, ...]:
    """Return the functions of a file; none of a file that is too long, or of a language that lizard does not know."""
    return tuple(_load_functions(path, content))


def _load_functions(path: str, content: bytes) -> Iterator[Method]:
    if len(content) > LONGEST or lizard_languages.get_reader_for(path) is None:
        return
    text = content.decode('utf-8', 'replace')
    for function in lizard.analyze_file.analyze_source_code(path, text).function_list:
        yield Method(function)
