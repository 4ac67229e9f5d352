"""Measure the size and complexity of the production functions that a pair changed.

PyDriller takes these measures from lizard, which reads about thirty languages. PyDriller's own
access to repositories is not used: see docs/internals/decisions/reading-repositories.md.
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

# The maximal size of a file in bytes. The longest files in real projects take lizard seconds.
LONGEST = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionMeasures:
    """Measures of the functions that a pair changed and of functions nested in them.

    They are measured at new, or at old if removed.

    lines       the sum over all functions, without blank lines and comments
    complexity  the largest cyclomatic complexity (McCabe)
    parameters  the largest number of parameters
    """

    functions: int
    lines: int
    complexity: int
    parameters: int


def measure_functions(repository: Repository, change: PairChange) -> FunctionMeasures | None:
    """Measure the changed functions; None if lizard knows none of them."""
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
    """Return the functions within the lines of a declaration; lizard measures each by itself."""
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
    """Return the functions of a file as lizard measures them.

    Empty if the file is too long or lizard does not know its language.
    """
    return tuple(_load_functions(path, content))


def _load_functions(path: str, content: bytes) -> Iterator[Method]:
    if len(content) > LONGEST or lizard_languages.get_reader_for(path) is None:
        return
    text = content.decode('utf-8', 'replace')
    for function in lizard.analyze_file.analyze_source_code(path, text).function_list:
        yield Method(function)


# The rest measures the history of a pair's source files: how often, by how many people and since
# when they changed.
# The measures are PyDriller's process metrics (commits, contributors). PyDriller asks Git for the
# diffs of every commit (see docs/internals/decisions/reading-repositories.md); here Git only compares tree
# objects.

# The maximal number of files of one Git command: a command line holds only a few megabytes.
MOST_FILES = 1000
_SECONDS_OF_DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHistory:
    """The history up to the old revision of those files of a pair that exist there.

    commits       commits that changed one of them; merges that only take over changes do not count
    contributors  the number of different mail addresses of their authors
    age_days      days from the oldest of these commits to the old revision, by committer date
    """

    commits: int
    contributors: int
    age_days: float


def compute_file_history(
    repository: Repository, old: Commit, paths: Sequence[str]
) -> FileHistory | None:
    """Return the history of some files up to the old revision.

    None if there are no files, too many, no commits, or the clone lacks objects.
    """
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
    # Git prints no date for a commit with a damaged header
    times = [int(seconds) for seconds, _, _ in commits if seconds]
    if not times:
        return None
    age = old.committer_date.timestamp() - min(times)
    return FileHistory(
        commits=len(commits),
        contributors=len({mail.strip().lower() for _, _, mail in commits}),
        age_days=round(age / _SECONDS_OF_DAY, 3),
    )
