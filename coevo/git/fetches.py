"""Fetch chosen commits from the address of a repository, and say what kept some of them away."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.git.process import run_git
from coevo.model.column import Choice

# A fetch that brings exactly what its refspecs name and changes nothing else.
FETCH = ('fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance')

# Characters of Git's own words that a sentence quotes.
_MOST_QUOTED = 200


class FetchTrouble(Choice):
    """A reason why commits of a repository could not be fetched."""

    NO_ADDRESS = 'no_address', 'it has no address to clone from; name a clone (--clones)'
    NO_NETWORK = 'no_network', 'its host was not reached; run again with a network'
    GONE = 'gone', 'its host has no such repository (any more); name a clone (--clones)'
    REFUSED = 'refused', 'its host refused, or asks for a user: it may be private or gone'
    LACKS_COMMIT = 'lacks_commit', 'its host has not all of these commits (any more)'
    FAILED = 'failed', 'the fetch failed; run again'


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchFailure:
    """The trouble of a fetch.

    git_said  Git's first line with an error, else its last line, without control characters
    """

    trouble: FetchTrouble
    git_said: str = ''

    def __str__(self) -> str:
        quoted = f' (Git said: {self.git_said})' if self.git_said else ''
        return f'{self.trouble.clause}{quoted}'


# The first of these signs that occurs in Git's output decides.
_SIGNS = (
    (
        FetchTrouble.LACKS_COMMIT,
        r'not our ref|unadvertised object|remote ref|does not support shallow',
    ),
    (FetchTrouble.GONE, r'not found|does not exist|error: 404|error: 410'),
    (
        FetchTrouble.REFUSED,
        r'could not read Username|Authentication failed|error: 40[13]|(?:Permission|Access) denied',
    ),
    (
        FetchTrouble.NO_NETWORK,
        r'Could not resolve|Failed to connect|refused|timed out|reset|unreachable|unable to access',
    ),
)


def fetch_commits(
    git_dir: Path, url: str, revs: Sequence[str], environment: dict[str, str]
) -> FetchFailure | None:
    """Fetch commits into a clone: only these if the server permits that, otherwise all refs.

    If the server lacks one of the commits, they are requested again in halves, so that the others
    are fetched nevertheless. Return the failure that kept some of them away; None if there was
    none.
    """
    failure = _fetch_in_halves(git_dir, url, revs, environment)
    if failure is None or failure.trouble is not FetchTrouble.LACKS_COMMIT:
        return failure
    _run_fetch(git_dir, environment, '--update-shallow', url, '+refs/*:refs/*')
    return failure if find_missing_commits(git_dir, revs) else None


def find_missing_commits(git_dir: Path, revs: Sequence[str]) -> list[str]:
    """Return the commits that a clone lacks, or whose tree it lacks, in their order."""
    queries = ''.join(f'{rev}^{{tree}}\n' for rev in revs)
    answers = run_git(git_dir, 'cat-file', '--batch-check', stdin=queries.encode()).splitlines()
    return [rev for rev, line in zip(revs, answers, strict=True) if line.endswith(b' missing')]


def _fetch_in_halves(
    git_dir: Path, url: str, revs: Sequence[str], environment: dict[str, str]
) -> FetchFailure | None:
    failure = _run_fetch(git_dir, environment, '--depth=1', url, *revs)
    if failure is None or failure.trouble is not FetchTrouble.LACKS_COMMIT or len(revs) == 1:
        return failure
    middle = len(revs) // 2
    halves = (
        _fetch_in_halves(git_dir, url, half, environment) for half in (revs[:middle], revs[middle:])
    )
    return next((each for each in [*halves] if each is not None), None)


def _run_fetch(git_dir: Path, environment: dict[str, str], *arguments: str) -> FetchFailure | None:
    done = subprocess.run(
        ['git', f'--git-dir={git_dir}', *FETCH, *arguments],
        capture_output=True,
        check=False,
        env=environment,
    )
    return None if done.returncode == 0 else explain_failure(done.stderr)


def explain_failure(stderr: bytes) -> FetchFailure:
    """Return the trouble that Git's error output shows; FAILED if no known phrase is in it."""
    text = stderr.decode('utf-8', 'replace')
    lines = [line for line in text.splitlines() if line.strip()] or ['']
    fatal = next((line for line in lines if line.startswith(('fatal:', 'error:'))), lines[-1])
    trouble = next(
        (trouble for trouble, sign in _SIGNS if re.search(sign, text)), FetchTrouble.FAILED
    )
    message = ''.join(sign if sign.isprintable() else ' ' for sign in fatal)[:_MOST_QUOTED]
    return FetchFailure(trouble=trouble, git_said=message.strip())
