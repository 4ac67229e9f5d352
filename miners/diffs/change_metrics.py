"""Measure the size of a pair's production change, and the functions that it changed.

PyDriller gets diffs and files that coevo has read, presented as one commit from the old to the new
revision. So PyDriller only measures and starts no Git;
docs/internals/decisions/reading-repositories.md explains the problems of PyDriller's own access to
clones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace

import lizard
import lizard_languages
from pydriller.domain.commit import Commit as PyDrillerCommit, Method, ModifiedFile
from pydriller.metrics.process.hunks_count import HunksCount
from pydriller.metrics.process.lines_count import LinesCount

from coevo.git.patches import FileDiff, load_file_diffs
from coevo.git.repository import FileChange, Repository
from coevo.languages.table import get_reading
from coevo.model.dependencies import Revised
from coevo.model.errors import Fatal
from coevo.model.records import Commit, Pair
from miners.diffs.changes import PairChange
from miners.diffs.sources import SourceChange

# Measure the size and complexity of the production functions that a pair changed.
#
# PyDriller takes these measures from lizard, which reads about thirty languages. PyDriller's own
# access to repositories is not used: see docs/internals/decisions/reading-repositories.md.

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


# Measure the size of a pair's production change and its effect on maintainability.

# Limits for one pair. lizard reads about 2 MB in a CPU second.
MOST_FILES, MOST_BYTES = 200, 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeMetrics:
    """The change metrics of a pair over the production files in which it changes a declaration.

    All changed lines of these files count.

    hunks  runs of lines that differ
    dmm_   the Delta Maintainability Model by length, complexity and parameters of functions: the
           share of the change, in lines of functions, that lowers risk; from 0 to 1. None if no
           function changed in length, or lizard knows none of the functions
    """

    lines_added: int
    lines_removed: int
    hunks: int
    dmm_size: float | None
    dmm_complexity: float | None
    dmm_interfacing: float | None


def compute_change_metrics(repository: Repository, change: PairChange) -> ChangeMetrics | None:
    """Measure a pair's change of production files.

    Return None if no declaration changed, there are too many files, one is too long, or the clone
    lacks an object.
    """
    files = _list_changed_production_files(change)
    if not 0 < len(files) <= MOST_FILES:
        return None
    pair = change.pair
    try:
        contents = {
            oid: repository.blob(oid)
            for file in files
            for oid in (file.old_oid, file.new_oid)
            if oid
        }
        sizes = [len(content) for content in contents.values()]
        if max(sizes) > LONGEST or sum(sizes) > MOST_BYTES:
            return None
        paths = [file.path for file in files]
        diffs = load_file_diffs(repository, pair.old.rev, pair.new.rev, paths)
    except Fatal:
        return None
    names = {oid: file.path for file in files for oid in (file.old_oid, file.new_oid) if oid}
    return _measure_commit(
        _PairCommit(
            [
                # PyDriller identifies files by path, but a file that becomes a link differs twice.
                _PairFile(f'{number}/{names[diff.new_oid or diff.old_oid or ""]}', diff, contents)
                for number, diff in enumerate(diffs)
            ]
        )
    )


def _list_changed_production_files(change: PairChange) -> list[FileChange]:
    types = [
        end for source in change.sources for end in (source.old, source.new) if end is not None
    ]
    paths = {located.path for located in types}
    return [file for file in change.files if file.path in paths]


def _measure_commit(commit: _PairCommit) -> ChangeMetrics:
    lines, hunks = _PairLines(commit), _PairHunks(commit)
    return ChangeMetrics(
        lines_added=sum(lines.count_added().values()),
        lines_removed=sum(lines.count_removed().values()),
        hunks=sum(hunks.count().values()),
        dmm_size=_round(commit.dmm_unit_size),
        dmm_complexity=_round(commit.dmm_unit_complexity),
        dmm_interfacing=_round(commit.dmm_unit_interfacing),
    )


def _round(share: float | None) -> float | None:
    return None if share is None else round(share, 6)


# -- what PyDriller takes for a repository ---------------------------------------------------------


class _PairFile(ModifiedFile):  # type: ignore[misc]
    """A file whose two contents are already read; lizard measures its functions."""

    def __init__(self, path: str, diff: FileDiff, contents: Mapping[str, bytes]) -> None:
        super().__init__(
            # The attributes that PyDriller reads from GitPython's description of a changed file.
            SimpleNamespace(
                a_path=path,
                b_path=path,
                diff=diff.hunks,
                new_file=diff.old_oid is None,
                deleted_file=diff.new_oid is None,
                renamed_file=False,
                a_blob=None,
                b_blob=None,
            )
        )
        self._path, self._diff, self._contents = path, diff, contents

    @property
    def methods(self) -> list[Method]:
        """The functions of the new file."""
        return self._parse(self._diff.new_oid)

    @property
    def methods_before(self) -> list[Method]:
        """The functions of the old file."""
        return self._parse(self._diff.old_oid)

    def _parse(self, oid: str | None) -> list[Method]:
        return list(parse_functions(self._path, self._contents[oid])) if oid else []


class _PairCommit(PyDrillerCommit):  # type: ignore[misc]
    """A pair presented as one commit, which is also the whole history."""

    def __init__(self, files: Sequence[_PairFile]) -> None:
        super().__init__(None, None)
        self._files = list(files)

    @property
    def modified_files(self) -> list[_PairFile]:
        """The files of the pair that differ."""
        return self._files

    def traverse_commits(self) -> Iterator[_PairCommit]:
        """Yield this commit, as PyDriller's walk over a repository does."""
        yield self


class _PairLines(LinesCount):  # type: ignore[misc]
    def __init__(self, history: _PairCommit) -> None:
        self.repo_miner = history
        self._initialize()


class _PairHunks(HunksCount):  # type: ignore[misc]
    def __init__(self, history: _PairCommit) -> None:
        self.repo_miner = history
