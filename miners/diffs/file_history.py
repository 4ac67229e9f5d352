"""What became of a pair's source files before it: how often, by how many and since when they changed.

The measures are those of PyDriller's process metrics (commits, contributors), which ask Git for the
diffs of every commit: see docs/decisions/reading-repositories.md. Here Git compares tree objects alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coevo.git.repository import Repository
from coevo.model.errors import Fatal
from coevo.model.records import Commit

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
