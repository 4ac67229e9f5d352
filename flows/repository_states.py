"""The states of a repository in a store."""

from __future__ import annotations

from enum import StrEnum


class RepositoryState(StrEnum):
    """The states of a repository, in the order in which they are listed."""

    FAILED = 'failed'
    RUNNING = 'running'
    DUE = 'due'
    WAITING = 'waiting'
    UNANSWERED = 'unanswered'
    DONE = 'done'
    INVALID = 'invalid'
    WITHDRAWN = 'withdrawn'
    GONE = 'gone'
    DROPPED = 'dropped'

    @property
    def sentence(self) -> str:
        """The meaning of the state, as a clause."""
        return _SENTENCES[self]


_SENTENCES = {
    RepositoryState.FAILED: 'due, and its last run failed',
    RepositoryState.RUNNING: 'a process works on it',
    RepositoryState.DUE: 'to be mined',
    RepositoryState.WAITING: 'to be validated',
    RepositoryState.UNANSWERED: 'GitHub did not answer; the next crawl asks again',
    RepositoryState.DONE: 'all its pairs are mined',
    RepositoryState.INVALID: 'its latest validation found a reason against it',
    RepositoryState.WITHDRAWN: 'taken back by those who maintain the data',
    RepositoryState.GONE: 'deleted, private, blocked or disabled',
    RepositoryState.DROPPED: 'no candidate of any profile',
}
