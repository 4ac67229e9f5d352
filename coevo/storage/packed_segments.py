"""The segments of a partition as they are read: packed, decoded one at a time, damaged ones set aside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coevo.model import codec
from coevo.model.segment import Segment
from coevo.storage import archive
from coevo.storage.archive import ArchivePiece
from coevo.storage.place import StoragePlace, StoredFile
from coevo.storage.walks import WalkRecord

# A track that is not null, in the form in which `codec` writes it. Texts have their quotes escaped.
_TRACK = b'"track":"'


@dataclass(frozen=True, slots=True)
class PackedSegments:
    """Segments that are kept packed; each iteration unpacks them anew, one at a time."""

    pieces: Sequence[ArchivePiece]

    def __iter__(self) -> Iterator[Segment]:
        return (codec.decode_record(Segment, piece.unpack()) for piece in self.pieces)

    def iterate_with_tracks(self) -> Iterator[Segment]:
        """Yield the segments that may have a method with a track; the others are not decoded."""
        for piece in self.pieces:
            data = piece.unpack()
            if _TRACK in data:
                yield codec.decode_record(Segment, data)

    def iterate_with_reason(self, reason: str) -> Iterator[Segment]:
        """Yield the segments with a drop for this reason; most others are not decoded."""
        for piece in self.pieces:
            data = piece.unpack()
            if f'"{reason}"'.encode() in data:
                segment = codec.decode_record(Segment, data)
                if any(drop.reason == reason for drop in segment.drops):
                    yield segment


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedPartition:
    """A partition at one moment, even while another process mines.

    segments  one for each mined pair of the walk, by pair_id
    unmined   ids of its other pairs
    """

    walk: WalkRecord
    segments: PackedSegments
    unmined: tuple[str, ...]


def set_damaged_aside_and_get_version(
    place: StoragePlace, name: str, found: StoredFile, whole: Mapping[str, ArchivePiece]
) -> str | None:
    """Keep a copy of a damaged file for a person, and replace the file by its intact pieces.

    Return the new version; None if no piece is intact.
    """
    place.write_file(f'{name}.corrupt', found.data)
    if whole:
        return (
            place.write_if_unchanged(name, archive.encode_archive(whole), found.version)
            or found.version
        )
    place.remove_files([name])
    return None
