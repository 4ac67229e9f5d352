"""What a month was made of when it was released: whatever is mined later, it stays so.

    STORE/months/YYYY-MM.coevo      a piece for each partition and each clone, and one with dates

It is written once, by the first release of the month, and read by all that follow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from coevo.model import codec
from coevo.model.errors import Fatal
from coevo.storage import archive
from coevo.storage.dates import RowDates
from coevo.storage.place import StoragePlace
from coevo.storage.store import Partition
from coevo.storage.walks import WalkRecord

FOLDER = 'months'

_CLONE = 'clone '


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthPart:
    """One partition.

    walk        the commits of the month and of those before; `keys` names each segment that was there
    reverified  what was run again by then: (pair_id, key, number)
    """

    partition: Partition
    walk: WalkRecord
    reverified: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CloneMoment:
    """What a clone's refs said, as (name, object id) in order, and since when they say so."""

    repo: str
    crawled_at: datetime
    refs: tuple[tuple[str, str], ...]


class CloneMoments(Mapping[str, CloneMoment]):
    """The moments of many clones by repository. They are packed, since refs are many: some 30 bytes each."""

    def __init__(self, pieces: Mapping[str, archive.ArchivePiece] | None = None) -> None:
        self._pieces = dict(pieces or {})
        self._last: CloneMoment | None = None

    def add(self, moment: CloneMoment) -> None:
        self._pieces[moment.repo] = archive.pack_piece(codec.encode_record(moment))

    def select_repos(self, repos: Collection[str]) -> CloneMoments:
        """Those of some repositories, as far as they are here."""
        return CloneMoments({repo: piece for repo, piece in self._pieces.items() if repo in repos})

    @property
    def pieces(self) -> Mapping[str, archive.ArchivePiece]:
        return self._pieces

    def __getitem__(self, repo: str) -> CloneMoment:
        piece = self._pieces[repo]
        if self._last is None or self._last.repo != repo:
            self._last = codec.decode_record(CloneMoment, piece.unpack())
        return self._last

    def __contains__(self, repo: object) -> bool:
        return repo in self._pieces

    def __iter__(self) -> Iterator[str]:
        return iter(self._pieces)

    def __len__(self) -> int:
        return len(self._pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthRecord:
    """All of a month.

    withdrawn  the numbers of the withdrawals that counted
    dates      of its rows, as they were known by then; none where an earlier coevo released it
    """

    month: str
    parts: tuple[MonthPart, ...]
    clones: CloneMoments
    withdrawn: tuple[int, ...] = ()
    dates: tuple[RowDates, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _WithdrawnNumbers:
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _DateRows:
    rows: tuple[RowDates, ...]


def load_month(place: StoragePlace, month: str) -> MonthRecord | None:
    """None where the month was not released yet; Fatal if its record is damaged."""
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
        clones=CloneMoments(
            {
                name.removeprefix(_CLONE): piece
                for name, piece in contents.pieces.items()
                if name.startswith(_CLONE)
            }
        ),
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
    )


def fix_month(place: StoragePlace, record: MonthRecord) -> bool:
    """Fix a month; False if it is fixed otherwise already."""
    names = {f'part {entry.partition.path.as_posix()}': entry for entry in record.parts}
    others = {
        'withdrawn': _WithdrawnNumbers(numbers=record.withdrawn),
        'dates': _DateRows(rows=record.dates),
    }
    pieces = {
        name: archive.pack_piece(codec.encode_record(entry))
        for name, entry in {**names, **others}.items()
    }
    clones = {f'{_CLONE}{repo}': piece for repo, piece in record.clones.pieces.items()}
    data = archive.encode_archive({**pieces, **clones})
    if place.write_if_unchanged(_name_month_file(record.month), data, None) is not None:
        return True
    file = place.read(_name_month_file(record.month))
    return file is not None and file.data == data


def forget_month(place: StoragePlace, month: str) -> None:
    """Let a month be made anew: its release came to nothing."""
    place.remove_files([_name_month_file(month)])


def list_months(place: StoragePlace) -> tuple[str, ...]:
    """All that were released, in order."""
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
