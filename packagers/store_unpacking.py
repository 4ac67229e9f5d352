"""Make a store from a pack and clones: the same segments, measures and walks, byte for byte."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from coevo.git.clones import RepositoryPool
from coevo.model import codec
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.listener import SILENT, Listener
from coevo.model.segment import MeasureRecord, Segment
from coevo.model.words import Walk
from coevo.snapshots.code_free.filling import BlobSearch, find_or_fetch_blobs, open_clone
from coevo.snapshots.code_free.recipes import (
    SourceForm,
    TextPiece,
    TextSource,
    decode_blob,
    join_pieces,
)
from coevo.snapshots.code_free.texts import MOST_HELD, is_well_formed
from coevo.storage import archive
from coevo.storage.beneath import join_beneath
from coevo.storage.measures import write_measures
from coevo.storage.place import decode_folder_name
from coevo.storage.store import Partition, Store
from coevo.storage.walks import WalkRecord, merge_walks
from packagers.packed_store import (
    DOCUMENT_FOLDERS,
    DOCUMENTS,
    SUFFIX,
    TEXT_NUMBER,
    VERSION,
    list_rows,
    list_text_spots,
    load_version,
    name_partition_file,
)

_DOCUMENT = re.compile(rf'({"|".join(DOCUMENT_FOLDERS)})(/\w[\w.+-]*)+')
_LARGEST_FILE = 1 << 28  # bytes of a file of a pack
_LARGEST_PIECE = 1 << 31  # bytes of an uncompressed piece


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionUnpacking:
    """The result for one partition.

    why  what kept files of the repository away, such as Git's words; empty if nothing did
    """

    partition: Partition
    segments: int
    unpacked: int
    why: str = ''

    @property
    def sentence(self) -> str:
        """The number of pairs that are lacking, and why, as a line for the user."""
        walk, total = self.partition.walk, self.segments
        return f'{self.partition.repo} ({walk}): {total - self.unpacked} of {total} pairs are lacking: {self.why}'


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackReport:
    """The result of unpacking a store."""

    partitions: tuple[PartitionUnpacking, ...]

    @property
    def lacking(self) -> tuple[PartitionUnpacking, ...]:
        """The partitions of which some pair could not be unpacked."""
        return tuple(each for each in self.partitions if each.unpacked < each.segments)

    @property
    def sentences(self) -> Iterator[str]:
        """Lines for the user: what is lacking and why, then what was done."""
        yield from (each.sentence for each in self.lacking)
        unpacked = sum(each.unpacked for each in self.partitions)
        yield f'{unpacked} of {sum(each.segments for each in self.partitions)} pairs are in the store'
        if self.lacking:
            yield 'The same command adds the others, once it can reach what is lacking.'


def unpack_store(
    pack: Path, store: Store, clones: Path | None, listener: Listener = SILENT
) -> UnpackReport:
    """Add the content of a pack to a store; a pair whose texts cannot be had stays unmined.

    What the store has mined since stays current.

    clones  a folder with clones, as for `list_local_clones`; what it lacks is fetched from the
            address of the repository, if that is known

    Raises: Fatal if the folder is no pack; DamagedSnapshot if it is damaged, or a clone gives
    another text than the store had.
    """
    _check_stamp(pack)
    partitions = tuple(_list_partitions(pack))
    results = []
    for done, partition in enumerate(partitions):
        listener.step(f'partitions, now {partition.repo}', done, len(partitions))
        contents = _PackedPartition(_load_archive(pack, name_partition_file(partition)), pack)
        results.append(_unpack_partition(store, partition, contents, clones))
    for name, piece in _load_archive(pack, DOCUMENTS).items():
        if not _DOCUMENT.fullmatch(name):
            raise _make_damaged_error(pack)
        store.storage.write_if_unchanged(name, _unpack_piece(piece, pack), None)
    return UnpackReport(partitions=tuple(results))


def _check_stamp(pack: Path) -> None:
    """Raise Fatal unless a folder has the stamp of a pack of this version."""
    version = load_version(pack)
    if version is None:
        raise Fatal(f'{pack} is no pack of a store: `coevo pipeline pack` writes one')
    if version != VERSION:
        raise Fatal(
            f'{pack} has version {version!r} of the form, and this coevo reads {VERSION}: update coevo'
        )


def _list_partitions(pack: Path) -> Iterator[Partition]:
    for file in sorted(pack.glob(f'*/*/*{SUFFIX}')):
        language, repo = file.parent.name, file.parent.parent.name
        try:
            yield Partition(
                repo=decode_folder_name(repo),
                language=decode_folder_name(language),
                walk=Walk(file.name.removesuffix(SUFFIX)),
            )
        except ValueError:
            raise _make_damaged_error(pack) from None


def _unpack_partition(
    store: Store, partition: Partition, contents: _PackedPartition, clones: Path | None
) -> PartitionUnpacking:
    walk = contents.load_walk()
    if walk.repository.repo != partition.repo:
        raise _make_damaged_error(contents.pack)
    sources = contents.load_sources(partition.repo)
    search = find_or_fetch_blobs(clones, partition.repo, walk.repository.url, sources)
    with store.lock_partition(partition), RepositoryPool(open_clone) as pool:
        texts = _Texts(contents, sources, search, pool)
        segments = contents.load_records('segments')
        restored = [texts.restore_record(Segment, record) for record in segments]
        measured = [
            texts.restore_record(MeasureRecord, record)
            for record in contents.load_records('measures')
        ]
        mined = store.list_mined_pairs(partition)
        stored = store.find_walk(partition)
        store.merge_walk_into_stored(
            partition, walk if stored is None else merge_walks(walk, stored)
        )
        whole = [segment for segment in restored if segment is not None]
        for segment in whole:
            if segment.pair.repo != partition.repo:
                raise _make_damaged_error(contents.pack)
            if segment.pair.pair_id not in mined:
                store.write_segment_unless_intact(partition, segment)
        store.compact_segments(partition)
        keys = store.list_keys(partition)
        for record in measured:
            if record is not None and record.segment in keys:
                write_measures(store.storage, partition, record)
    return PartitionUnpacking(
        partition=partition, segments=len(segments), unpacked=len(whole), why=search.why
    )


class _PackedPartition:
    """The pieces of a partition's file."""

    def __init__(self, pieces: Mapping[str, archive.ArchivePiece], pack: Path) -> None:
        self._pieces = pieces
        self.pack = pack

    def load_walk(self) -> WalkRecord:
        """Return the record of the walk. Raises: DamagedSnapshot."""
        try:
            return codec.decode_record(WalkRecord, self._unpack('walk'))
        except (ValueError, TypeError, KeyError):
            raise _make_damaged_error(self.pack) from None

    def load_sources(self, repo: str) -> list[TextSource]:
        """Return the files that texts are cut from. Raises: DamagedSnapshot."""
        try:
            sources = [
                TextSource(repo=repo, path=path, rev=rev, blob=blob, form=SourceForm(form))
                for path, rev, blob, form in self._load_lines('sources')
            ]
            if all(map(is_well_formed, sources)):
                return sources
        except (ValueError, TypeError):
            pass  # damaged, as below
        raise _make_damaged_error(self.pack)

    def load_recipes(self) -> list[list[TextPiece]]:
        """Return the pieces of each text. Raises: DamagedSnapshot."""
        try:
            return [
                [_decode_piece(piece) for piece in line] for line in self._load_lines('recipes')
            ]
        except (ValueError, TypeError):
            raise _make_damaged_error(self.pack) from None

    def load_records(self, name: str) -> list[dict[str, Any]]:
        """Return the lines of the piece `segments` or `measures`. Raises: DamagedSnapshot."""
        lines = self._load_lines(name)
        if not all(
            isinstance(line, dict) and isinstance(line.get('record'), dict) for line in lines
        ):
            raise _make_damaged_error(self.pack)
        return lines

    def _load_lines(self, name: str) -> list[Any]:
        try:
            return [json.loads(line) for line in self._unpack(name).splitlines()]
        except (ValueError, RecursionError):
            raise _make_damaged_error(self.pack) from None

    def _unpack(self, name: str) -> bytes:
        if name not in self._pieces:
            raise _make_damaged_error(self.pack)
        return _unpack_piece(self._pieces[name], self.pack)


class _Texts:
    """The texts of a partition, cut from clones.

    search  the clones that have the files
    """

    def __init__(
        self,
        contents: _PackedPartition,
        sources: Sequence[TextSource],
        search: BlobSearch,
        pool: RepositoryPool,
    ) -> None:
        self._pack, self._sources, self._search, self._pool = contents.pack, sources, search, pool
        self._recipes = contents.load_recipes()
        self._show_source = lru_cache(maxsize=MOST_HELD)(self._load_source)

    def restore_record(
        self, kind: type[codec.Record], packed: Mapping[str, Any]
    ) -> codec.Record | None:
        """Return the record with its texts; None if no clone has a file that it needs.

        Raises: DamagedSnapshot if its bytes are not those that were packed.
        """
        content = packed['record']
        try:
            spots = [spot for row in list_rows(content) for spot in list_text_spots(row)]
            recipes = [self._recipes[spot.text[TEXT_NUMBER]] for spot in spots]
            numbers = {p.source for pieces in recipes for p in pieces if p.source is not None}
            if any(self._sources[n].blob not in self._search.folders for n in numbers):
                return None
            for spot, pieces in zip(spots, recipes, strict=True):
                spot.holder[spot.key] = join_pieces(pieces, self._show_source)
            record = codec.decode_record(kind, json.dumps(content).encode())
            data = codec.encode_record(record)
        except (ValueError, TypeError, KeyError, IndexError):
            raise _make_damaged_error(self._pack) from None
        if hashlib.sha256(data).hexdigest() != packed.get('sha256'):
            raise _make_damaged_error(self._pack)
        return record

    def _load_source(self, number: int) -> str:
        source = self._sources[number]
        clone = self._pool.get(str(self._search.folders[source.blob]))
        return decode_blob(clone.blob(source.blob), source.form)


def _decode_piece(piece: object) -> TextPiece:
    """Return a piece of a recipe. Raises: ValueError, TypeError if it is malformed."""
    match piece:
        case str():
            return TextPiece(words=piece)
        case [int(source), int(start), int(length), *prefix] if min(source, start, length) >= 0:
            return TextPiece(source=source, start=start, length=length, prefix=str(*prefix))
    raise ValueError


def _load_archive(pack: Path, name: str) -> Mapping[str, archive.ArchivePiece]:
    try:
        with join_beneath(pack, name).path.open('rb') as file:
            data = file.read(_LARGEST_FILE + 1)
        decoded = archive.decode_archive(data)
    except (OSError, ValueError, archive.DamagedArchive):
        raise _make_damaged_error(pack) from None
    if decoded.damaged or len(data) > _LARGEST_FILE:
        raise _make_damaged_error(pack)
    return decoded.pieces


def _unpack_piece(piece: archive.ArchivePiece, pack: Path) -> bytes:
    if piece.size > _LARGEST_PIECE:
        raise _make_damaged_error(pack)
    try:
        return piece.unpack()
    except (OSError, ValueError):
        raise _make_damaged_error(pack) from None


def _make_damaged_error(pack: Path) -> DamagedSnapshot:
    return DamagedSnapshot(f'{pack} is damaged, or a clone gives other texts: get both again')
