"""How large a pair's change of production files is, and whether it made them easier to maintain: PyDriller's metrics.

PyDriller is given diffs and files that coevo has read, as one commit from the old to the new revision. So it measures,
and starts no Git: what it would do with a clone is written in docs/decisions/reading-repositories.md.
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

# Of one pair. lizard reads some 2 MB in a CPU second.
MOST_FILES, MOST_BYTES = 200, 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeMetrics:
    """The columns of a pair, of the production files in which a pair changes a declaration, all lines counted.

    hunks  runs of lines that differ
    dmm_   the Delta Maintainability Model by length, complexity and parameters of functions: the share of the
           change, in lines of functions, that lowers risk; from 0 to 1. None if no function changed in length, or
           none that lizard knows
    """

    lines_added: int
    lines_removed: int
    hunks: int
    dmm_size: float | None
    dmm_complexity: float | None
    dmm_interfacing: float | None


def compute_change_metrics(repository: Repository, change: PairChange) -> ChangeMetrics | None:
    """Measure a pair's change; None where no such file differs, there are too many, one is too long, or a clone does not tell."""
    files = _list_files(change)
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
                # PyDriller tells files apart by their paths; a file that becomes a link differs twice.
                _PairFile(f'{number}/{names[diff.new_oid or diff.old_oid or ""]}', diff, contents)
                for number, diff in enumerate(diffs)
            ]
        )
    )


def _list_files(change: PairChange) -> list[FileChange]:
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
    """A file whose ends are read already; its functions are those that lizard is let measure."""

    def __init__(self, path: str, diff: FileDiff, contents: Mapping[str, bytes]) -> None:
        super().__init__(
            # What PyDriller asks of GitPython about a file that differs.
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
        return self._parse(self._diff.new_oid)

    @property
    def methods_before(self) -> list[Method]:
        return self._parse(self._diff.old_oid)

    def _parse(self, oid: str | None) -> list[Method]:
        return list(parse_functions(self._path, self._contents[oid])) if oid else []


class _PairCommit(Commit):  # type: ignore[misc]
    """A pair as one commit, and as the whole of a history."""

    def __init__(self, files: Sequence[_PairFile]) -> None:
        super().__init__(None, None)
        self._files = list(files)

    @property
    def modified_files(self) -> list[_PairFile]:
        return self._files

    def traverse_commits(self) -> Iterator[_PairCommit]:
        yield self


class _PairLines(LinesCount):  # type: ignore[misc]
    def __init__(self, history: _PairCommit) -> None:
        self.repo_miner = history
        self._initialize()


class _PairHunks(HunksCount):  # type: ignore[misc]
    def __init__(self, history: _PairCommit) -> None:
        self.repo_miner = history
