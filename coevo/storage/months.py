"""The inputs of a released month, which are fixed whatever is mined later, and its cohort of
repositories.

STORE/months/YYYY-MM.coevo  a piece for each partition, and one each with dates, withdrawals,
                            families of repositories and the cohort

The first release of the month writes the file; all later releases read it. Pieces `clone …`, which
earlier versions wrote with all refs of each clone, are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from coevo.model import codec
from coevo.model.errors import Fatal
from coevo.storage import archive
from coevo.storage.dates import RowDates
from coevo.storage.place import StoragePlace
from coevo.storage.store import Partition
from coevo.storage.walks import WalkRecord

# The cohort of a month: the repositories that its release has to hold, and those that it lacks.

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


# The inputs of a released month. They are fixed, whatever is mined later.

FOLDER = 'months'


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthPart:
    """One partition as it was when the month was released.

    walk        the commits of this and earlier months; `keys` names each segment that existed
    reverified  the reverifications by then: (pair_id, key, number)
    measured    the measures by then: (key of the segment, number, key)
    """

    partition: Partition
    walk: WalkRecord
    reverified: tuple[tuple[str, str, int], ...] = ()
    measured: tuple[tuple[str, int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthRecord:
    """All inputs of a month.

    withdrawn  numbers of the withdrawals that applied
    dates      dates of its rows as they were known by then; empty if an earlier coevo released the
               month
    families   the family of each of its repositories; empty if an earlier coevo released the month
    cohort     the repositories that it had to hold; None without crawls, or if an earlier coevo
               released the month
    """

    month: str
    parts: tuple[MonthPart, ...]
    withdrawn: tuple[int, ...] = ()
    dates: tuple[RowDates, ...] = ()
    families: tuple[tuple[str, str], ...] = ()
    cohort: MonthCohort | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _WithdrawnNumbers:
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _DateRows:
    rows: tuple[RowDates, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Families:
    families: tuple[tuple[str, str], ...]


def load_month(place: StoragePlace, month: str) -> MonthRecord | None:
    """Return the record of a month; None if it was not released yet.

    Raises: Fatal if its record is damaged.
    """
    file = place.read(_name_month_file(month))
    if file is None:
        return None
    try:
        contents = archive.decode_archive(file.data)
    except archive.DamagedArchive:
        contents = archive.Archive(pieces={}, damaged=('',))
    if contents.damaged:
        raise Fatal(
            f'{place.describe(_name_month_file(month))} is damaged: put it back from a copy of the store, or remove it '
            f'to make {month} of what was mined by now'
        )
    return MonthRecord(
        month=month,
        parts=tuple(_decode_pieces(MonthPart, contents, 'part ')),
        withdrawn=tuple(
            number
            for piece_record in _decode_pieces(_WithdrawnNumbers, contents, 'withdrawn')
            for number in piece_record.numbers
        ),
        dates=tuple(
            row
            for piece_record in _decode_pieces(_DateRows, contents, 'dates')
            for row in piece_record.rows
        ),
        families=tuple(
            family
            for piece_record in _decode_pieces(_Families, contents, 'families')
            for family in piece_record.families
        ),
        cohort=next(iter(_decode_pieces(MonthCohort, contents, 'cohort')), None),
    )


def write_month_once_or_compare(place: StoragePlace, record: MonthRecord) -> bool:
    """Write the record of a month, unless one exists already; it is never replaced.

    Return True if the stored record is now equal to this one, False if a different one exists.
    """
    names = {f'part {entry.partition.path.as_posix()}': entry for entry in record.parts}
    others: dict[str, object] = {
        'withdrawn': _WithdrawnNumbers(numbers=record.withdrawn),
        'dates': _DateRows(rows=record.dates),
        'families': _Families(families=record.families),
    }
    if record.cohort is not None:
        others['cohort'] = record.cohort
    pieces = {
        name: archive.pack_piece(codec.encode_record(entry))
        for name, entry in {**names, **others}.items()
    }
    data = archive.encode_archive(pieces)
    if place.write_if_unchanged(_name_month_file(record.month), data, None) is not None:
        return True
    file = place.read(_name_month_file(record.month))
    return file is not None and file.data == data


def forget_month(place: StoragePlace, month: str) -> None:
    """Remove the record of a month whose release failed, so that it can be made anew."""
    place.remove_files([_name_month_file(month)])


def list_months(place: StoragePlace) -> tuple[str, ...]:
    """Return all released months, as `YYYY-MM`, in order."""
    names = (entry.name.removeprefix(f'{FOLDER}/') for entry in place.list_files(FOLDER))
    return tuple(sorted(name.removesuffix('.coevo') for name in names if name.endswith('.coevo')))


def _decode_pieces(
    record: type[codec.Record], held: archive.Archive, kind: str
) -> Iterable[codec.Record]:
    for name, piece in sorted(held.pieces.items()):
        if name.startswith(kind):
            yield codec.decode_record(record, piece.unpack())


def _name_month_file(month: str) -> str:
    return f'{FOLDER}/{month}.coevo'
