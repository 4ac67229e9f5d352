"""How large and complex the production functions are that a pair changed: PyDriller's measures.

PyDriller has them of lizard, which reads some thirty languages. Its own reading of repositories is not
used: see docs/decisions/reading-repositories.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import lizard
import lizard_languages
from pydriller.domain.commit import Method

from coevo.git.repository import Repository
from coevo.languages.table import get_reading
from coevo.model.dependencies import Revised
from coevo.model.errors import Fatal
from coevo.model.records import Commit, Pair
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


# What became of a pair's source files before it: how often, by how many and since when they
# changed.
#
# The measures are those of PyDriller's process metrics (commits, contributors), which ask Git for
# the diffs of every commit: see docs/decisions/reading-repositories.md. Here Git compares tree
# objects alone.

# Files of one question: a command line takes no more than some megabytes.
MOST_FILES = 1000
_SECONDS_OF_DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHistory:
    """Up to the old revision of a pair, of those of its files that stand there.

    commits       that changed one of them; a merge that only takes over changes is none
    contributors  different mail addresses of their authors
    age_days      from the oldest of these commits to the old revision, by committer date
    """

    commits: int
    contributors: int
    age_days: float


def compute_file_history(
    repository: Repository, old: Commit, paths: Sequence[str]
) -> FileHistory | None:
    """None where there are no files, too many, or a clone that lacks what it takes to tell."""
    if not paths or len(paths) > MOST_FILES or old.committer_date is None:
        return None
    try:
        listing = repository.run_command(
            *('--literal-pathspecs', 'log', '--no-renames', '-z', '--format=%ct %ae'),
            *(old.rev, '--', *paths),
        )
    except Fatal:
        return None
    commits = [line.partition(b' ') for line in listing.split(b'\0') if line]
    # of a commit whose header is damaged Git tells no date
    times = [int(seconds) for seconds, _, _ in commits if seconds]
    if not times:
        return None
    age = old.committer_date.timestamp() - min(times)
    return FileHistory(
        commits=len(commits),
        contributors=len({mail.strip().lower() for _, _, mail in commits}),
        age_days=round(age / _SECONDS_OF_DAY, 3),
    )
