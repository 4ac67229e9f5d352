"""Measures of gold tests, kept beside the segments that they belong to.

STORE/measures/OWNER+NAME/LANGUAGE/WALK/PAIR.SEGMENT.NUMBER.KEY.measures

SEGMENT is the key of the segment, NUMBER counts its records from 1, and KEY says what the measures
depend on. A file is written once, atomically, and never changed; the last one of a segment counts.
A damaged file counts as missing, so that its segment is measured again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from coevo.model import codec
from coevo.model.errors import Fatal
from coevo.model.segment import MeasureRecord, Segment, join_measures
from coevo.storage import archive
from coevo.storage.place import StoragePlace, StoredFile
from coevo.storage.store import Partition, Store

FOLDER = 'measures'

_SUFFIX, _PIECE = '.measures', 'all'


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class MeasuresName:
    """The name of a file of measures; names of one segment are sorted by their number."""

    pair_id: str
    segment: str
    number: int
    key: str

    @property
    def file(self) -> str:
        """The name within the folder of the partition."""
        return f'{self.pair_id}.{self.segment}.{self.number}.{self.key}{_SUFFIX}'


def find_latest_measures(place: StoragePlace, partition: Partition) -> dict[str, MeasuresName]:
    """Return the last measures of each segment that has some, by the segment's key.

    No file is read, so that a damaged one is among them.
    """
    return {name.segment: name for name in _list_names(place, partition)}


def select_measures(
    place: StoragePlace, partition: Partition, wanted: Iterable[tuple[str, int, str]]
) -> dict[str, MeasuresName]:
    """Return certain measures by the key of their segment.

    wanted  (key of the segment, number, key) of each

    Raises: Fatal if one of them is missing.
    """
    names = {(name.segment, name.number, name.key): name for name in _list_names(place, partition)}
    selected = {}
    for segment, number, key in wanted:
        name = names.get((segment, number, key))
        if name is None:
            folder = place.describe(_name_folder(partition))
            raise Fatal(f'{folder} lacks measures {number} of the segment {segment}: put them back')
        selected[segment] = name
    return selected


def load_measures(
    place: StoragePlace, partition: Partition, name: MeasuresName
) -> MeasureRecord | None:
    """Return the record with a name; None if it is missing or damaged."""
    return _decode_record(place.read(f'{_name_folder(partition)}/{name.file}'))


def load_measured_segments(store: Store, partition: Partition) -> Iterator[Segment]:
    """Yield the current segments of a partition as a release has them, with their measures."""
    names = find_latest_measures(store.storage, partition)
    for segment in store.load_current_segments(partition):
        name = names.get(segment.key)
        record = load_measures(store.storage, partition, name) if name else None
        yield join_measures(segment, record)


def number_and_add_measures(
    place: StoragePlace, partition: Partition, record: MeasureRecord
) -> MeasureRecord:
    """Write a record as the last one of its segment, and return it with its number."""
    while True:
        last = find_latest_measures(place, partition).get(record.segment)
        numbered = replace(record, number=last.number + 1 if last else 1)
        if write_measures(place, partition, numbered):
            return numbered


def write_measures(place: StoragePlace, partition: Partition, record: MeasureRecord) -> bool:
    """Write a record under its number; return False if a file of that name exists."""
    name = MeasuresName(
        pair_id=record.pair_id, segment=record.segment, number=record.number, key=record.key
    )
    piece = archive.pack_piece(codec.encode_record(record))
    path = f'{_name_folder(partition)}/{name.file}'
    data = archive.encode_archive({_PIECE: piece})
    return place.write_if_unchanged(path, data, None) is not None


def _list_names(place: StoragePlace, partition: Partition) -> list[MeasuresName]:
    """Return the names of all measures of a partition, those of a segment by their number."""
    names = (_parse_name(entry.name) for entry in place.list_files(_name_folder(partition)))
    return sorted(name for name in names if name is not None)


def _decode_record(file: StoredFile | None) -> MeasureRecord | None:
    if file is None:
        return None
    try:
        piece = archive.decode_archive(file.data).pieces.get(_PIECE)
    except archive.DamagedArchive:
        return None
    return None if piece is None else codec.decode_record(MeasureRecord, piece.unpack())


def _parse_name(path: str) -> MeasuresName | None:
    """Return the name of a file of measures; None for any other file."""
    parts = path.rpartition('/')[2].removesuffix(_SUFFIX).split('.')
    if not path.endswith(_SUFFIX) or len(parts) != 4 or not parts[2].isdecimal():
        return None
    return MeasuresName(pair_id=parts[0], segment=parts[1], number=int(parts[2]), key=parts[3])


def _name_folder(partition: Partition) -> str:
    return f'{FOLDER}/{partition.path.as_posix()}'
