"""The cohort of a month: the repositories that its release has to hold, and those that it lacks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# The number of repositories that a sentence names.
_NAMED = 10


class MissingReason(StrEnum):
    """The reasons why a release lacks a repository or a part of it; a value is never renamed."""

    NOT_MINED = 'not_mined'
    NOT_REACHED = 'not_reached'
    PAIRS_UNMINED = 'pairs_unmined'


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingRepository:
    """A member of a cohort that is not completely mined until the month's end.

    detail  the day until which it is known for `not_reached`, the number of pairs for
            `pairs_unmined`; empty for `not_mined`
    """

    repo: str
    reason: MissingReason
    detail: str = ''

    @property
    def sentence(self) -> str:
        """The repository and the reason, in a few words."""
        clauses = {
            MissingReason.NOT_MINED: 'not mined yet',
            MissingReason.NOT_REACHED: f'known until {self.detail} only',
            MissingReason.PAIRS_UNMINED: f'{self.detail} of its pairs not mined yet',
        }
        return f'{self.repo} ({clauses[self.reason]})'


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftRepository:
    """A repository that was mined before and left the cohort; `reason` is a closed word."""

    repo: str
    reason: str

    @property
    def sentence(self) -> str:
        """The repository with the reason why it is no longer worked on."""
        return f'{self.repo} is no longer worked on: {self.reason.replace("_", " ")}'


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthCohort:
    """The repositories that crawls and validations knew as due at a month's end.

    members  all of them, sorted
    missing  those that are not completely mined until then, sorted
    left     mined repositories that a crawl knew by then, and that are no longer worked on
    unvalidated  number of candidates of the crawls by then that were not validated yet
    """

    month: str
    members: tuple[str, ...]
    missing: tuple[MissingRepository, ...] = ()
    left: tuple[LeftRepository, ...] = ()
    unvalidated: int = 0

    @property
    def is_complete(self) -> bool:
        """True if nothing is missing, and there is something that could be."""
        return bool(self.members) and not self.missing

    @property
    def unvalidated_sentence(self) -> str:
        """The number of candidates that were not validated yet, as a clause; empty if all were."""
        if not self.unvalidated:
            return ''
        several = 's were' if self.unvalidated > 1 else ' was'
        return f'{self.unvalidated} candidate{several} not validated yet'

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what the month does not count: repositories that left, and new candidates.

        Without a member, `sentence` says how many candidates were not validated.
        """
        unvalidated = self.unvalidated_sentence if self.members else ''
        new = (f'{unvalidated}, so that the month does not count them',) if unvalidated else ()
        return (*(left.sentence for left in self.left), *new)

    @property
    def missing_sentence(self) -> str:
        """The missing repositories, the first few by name, as a clause."""
        if not self.members:
            waiting = f' ({self.unvalidated_sentence})' if self.unvalidated else ''
            return f'no repository of the crawls until its end is eligible and valid{waiting}'
        named = ', '.join(each.sentence for each in self.missing[:_NAMED])
        more = len(self.missing) - _NAMED
        return (
            f'{len(self.missing)} of {len(self.members)} repositories are missing: {named}'
            f'{f" and {more} more" if more > 0 else ""}'
        )
