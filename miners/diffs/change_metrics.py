"""Measure the size of a pair's production change and its effect on maintainability.

PyDriller gets diffs and files that coevo has read, presented as one commit from the old to the new
revision. So PyDriller only measures and starts no Git;
docs/internals/decisions/reading-repositories.md explains the problems of PyDriller's own access to
clones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

from pydriller.domain.commit import Commit, Method, ModifiedFile
from pydriller.metrics.process.hunks_count import HunksCount
from pydriller.metrics.process.lines_count import LinesCount

from coevo.git.patches import FileDiff, load_file_diffs
from coevo.git.repository import FileChange, Repository
from coevo.model.errors import Fatal
from miners.diffs.changes import PairChange
from miners.diffs.functions import LONGEST, parse_functions

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


class _PairCommit(Commit):  # type: ignore[misc]
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
