"""The store: the results of mining, one segment for each pair, by repository, language and walk.

    STORE/store.json                      marks a store, with its version
    STORE/private.json                    marks one whose releases are for its owner alone
    STORE/partitions/OWNER+NAME/LANGUAGE/WALK/
        walk.coevo                        the record of the walk
        state.json                        what decides whether it has work to do (`walk_states`)
        PAIR.KEY.segment                  one pair, as it was mined (a loose segment)
        segments.coevo                    all pairs of the runs that have ended
        *.corrupt                         damaged files that a miner found; they count as missing
        lock                              held by the process that mines there
    STORE/clones, STORE/cache, …          belong to other modules

It lies in a folder or under a prefix of an object store (`coevo.storage.place`). Every file is
complete or absent, so a kill loses only the current pair. Files that two runs may change at once
are written conditionally: if a file has changed since it was read, it is read and merged again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coevo.model import codec
from coevo.model.errors import Fatal
from coevo.model.reasons import Reason
from coevo.model.segment import Segment
from coevo.model.words import Walk
from coevo.storage import archive, walk_states
from coevo.storage.archive import Archive, ArchivePiece
from coevo.storage.packed_segments import (
    MinedPartition,
    PackedSegments,
    set_damaged_aside_and_get_version,
)
from coevo.storage.place import (
    HeldLock,
    PlaceEntry,
    Root,
    StoredFile,
    decode_folder_name,
    encode_folder_name,
)
from coevo.storage.places import open_place
from coevo.storage.store_stamp import (
    is_marked_private,
    is_store_already,
    write_private_mark,
    write_stamp,
)
from coevo.storage.walk_states import WalkState
from coevo.storage.walks import WalkRecord, merge_walks, sort_walk

__all__ = ['Partition', 'Store', 'WalkRecord']

_PARTITIONS = 'partitions'
_WALK, _MERGED, _LOOSE, _LOCK = 'walk.coevo', 'segments.coevo', '.segment', 'lock'
_SUMMED_UP = (_WALK, _MERGED, _LOOSE)

_RUNTIME_MISSING = f'"reason":"{Reason.RUNTIME_MISSING}"'.encode()

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Partition:
    """The unit in which a store keeps segments: a repository, a language and a walk."""

    repo: str
    language: str
    walk: Walk

    @property
    def path(self) -> Path:
        """The relative path of the partition's folder."""
        return Path(
            encode_folder_name(self.repo), encode_folder_name(self.language), self.walk
        )  # own name: one of the walks


# The undamaged pieces of a file, and its version; the version is None if there is no file.
_WholePieces = tuple[Mapping[str, ArchivePiece], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PartitionContents:
    """The contents of a partition.

    pieces  all segments by (pair_id, key), sorted
    loose   the files that hold a single segment
    merged  version of the file `segments.coevo`; None if there is none
    """

    pieces: Mapping[tuple[str, str], ArchivePiece]
    loose: Sequence[PlaceEntry]
    merged: str | None


class Store:
    """Partitions in one storage place, which the first write creates.

    `warnings` lists damaged files. Raises: Fatal if the place holds other files, or a store of
    another version.
    """

    def __init__(self, root: Root) -> None:
        self.root = root
        self.storage = open_place(root)
        self.warnings: list[str] = []
        self._holds: dict[str, HeldLock] = {}
        self._stamped = is_store_already(root, self.storage)

    def list_partitions(self) -> tuple[Partition, ...]:
        """Return all partitions that were ever written to, sorted.

        Raises: Fatal if a folder is not a partition.
        """
        return self._list_partitions_among(self.storage.list_files(_PARTITIONS))

    def _list_partitions_among(self, entries: Sequence[PlaceEntry]) -> tuple[Partition, ...]:
        names = (entry.name.split('/') for entry in entries)
        written = (parts for parts in names if len(parts) == 5 and parts[4] != _LOCK)
        try:
            return tuple(sorted({_parse_partition(*parts[1:4]) for parts in written}))
        except ValueError as error:
            raise Fatal(
                f'{self.storage.describe(_PARTITIONS)} holds a folder that is no partition ({error}): '
                'move it elsewhere'
            ) from None

    def group_partitions(self) -> Mapping[str, list[Partition]]:
        """Return all partitions by repository, sorted; a repository without any has an empty list."""
        partitions: dict[str, list[Partition]] = defaultdict(list)
        for partition in self.list_partitions():
            partitions[partition.repo].append(partition)
        return partitions

    def load_states(self) -> Mapping[Partition, WalkState]:
        """Return the states of partitions that were stored and are still valid.

        No segment is read, and no walk: one listing, and a small file for each partition. For the
        other partitions `compute_state` reads the files themselves.
        """
        entries = self.storage.list_files(_PARTITIONS)
        folders = {
            _name_partition_folder(each): each for each in self._list_partitions_among(entries)
        }
        return walk_states.load_valid_states(self.storage, folders, entries, _SUMMED_UP)

    def compute_state(self, partition: Partition) -> WalkState:
        """Return the state of a partition from its walk and segments.

        Raises: Fatal if there is no walk.
        """
        walk = self.load_walk(partition)
        return WalkState(
            engine_version=walk.repository.engine_version,
            profile=walk.repository.profile,
            is_complete=not self.list_pairs_without_current_segment(partition, walk),
            reached=walk.reached,
            pushed=walk.pushed,
        )

    def record_state(self, partition: Partition, state: WalkState | None = None) -> None:
        """Write the state of a partition, so that others need not read its walk and segments.

        state  the state, where it is known; None reads walk and segments
        """
        folder = _name_partition_folder(partition)
        sizes = walk_states.list_sizes(self.storage.list_files(folder), _SUMMED_UP)
        state = dataclasses.replace(state or self.compute_state(partition), sizes=sizes)
        self.storage.write_file(f'{folder}/{walk_states.STATE}', codec.encode_record(state))

    def advance_reached(self, partition: Partition, reached: datetime) -> None:
        """Record that a walk saw all commits up to a later time; a valid state saves reading segments.

        The caller has to hold the partition's lock.
        """
        folder = _name_partition_folder(partition)
        entries = self.storage.list_files(folder)
        states = walk_states.load_valid_states(
            self.storage, {folder: partition}, entries, _SUMMED_UP
        )
        state = states.get(partition) or self.compute_state(partition)
        walk = dataclasses.replace(self.load_walk(partition), reached=reached)
        self.merge_walk_into_stored(partition, walk)
        latest = max(filter(None, (state.reached, reached)))
        self.record_state(partition, dataclasses.replace(state, reached=latest))

    def list_repository_partitions(self, repo: str) -> tuple[Partition, ...]:
        """Return the partitions of one repository.

        Raises: Fatal if there are none.
        """
        partitions = tuple(
            partition for partition in self.list_partitions() if partition.repo == repo
        )
        if not partitions:
            raise Fatal(
                f'{self.root} holds nothing of {repo!r}: `coevo pipeline status` lists its repositories'
            )
        return partitions

    def is_private(self) -> bool:
        """Return whether releases of this store are for its owner alone."""
        return is_marked_private(self.storage)

    def mark_private(self) -> None:
        """Mark the store as private, for good."""
        self._stamp_store()
        write_private_mark(self.storage)

    @contextlib.contextmanager
    def lock_partition(self, partition: Partition) -> Iterator[None]:
        """Hold the lock of a partition during the block, so that no other process mines there.

        In an object store the lock is a lease; if it is lost, writing raises Transient.

        Raises: Fatal if another process mines there.
        """
        self._stamp_store()
        folder = _name_partition_folder(partition)
        busy = (
            f'{partition.repo} ({partition.walk}) is being mined into {self.root} by '
            'another process: wait until it ends, or use another --store'
        )
        with self.storage.lock(f'{folder}/{_LOCK}', busy) as hold:
            self._holds[folder] = hold
            try:
                yield
            finally:
                del self._holds[folder]

    def list_keys(self, partition: Partition) -> frozenset[str]:
        """Return the keys of all intact segments of a partition, be they current or not."""
        return frozenset(key for _, key in self._read_contents(partition).pieces)

    def list_mined_pairs(self, partition: Partition) -> frozenset[str]:
        """Return the ids of all pairs with an intact segment, be it current or not.

        A pair that only lacked a runtime is not mined yet.
        """
        pieces = self._read_contents(partition).pieces
        return frozenset(
            pair_id
            for (pair_id, _), piece in pieces.items()
            if _RUNTIME_MISSING not in piece.unpack()
        )

    def has_segment(self, partition: Partition, key: str) -> bool:
        """Return whether a partition has an intact segment with a key."""
        return key in self.list_keys(partition)

    def read(self, partition: Partition, key: str) -> Segment:
        """Return the segment with a key.

        Raises: KeyError if there is none.
        """
        for (_, stored_key), piece in self._read_contents(partition).pieces.items():
            if stored_key == key:
                return codec.decode_record(Segment, piece.unpack())
        raise KeyError(key)

    def write_segment_unless_intact(self, partition: Partition, segment: Segment) -> None:
        """Write a segment, unless an intact one with its key exists."""
        self._stamp_store()
        name = f'{segment.pair.pair_id}.{segment.key}'
        path = f'{_name_partition_folder(partition)}/{name}{_LOOSE}'
        data = archive.encode_archive({name: archive.pack_piece(codec.encode_record(segment))})
        if (
            not self.storage.write_if_unchanged(path, data, None)
            and name not in self._load_intact_pieces_and_version(path)[0]
        ):
            self.storage.write_file(path, data)
        hold = self._holds.get(_name_partition_folder(partition))
        if hold is not None:
            hold.check_held()

    def load_current_segments(self, partition: Partition) -> Iterator[Segment]:
        """Yield one segment for each mined pair of the walk, by pair_id.

        If a pair has several, the walk's record names the key of the current one: the one that the
        latest run asked for, or else wrote. Without a record, all pairs of the partition count.
        """
        walk, _ = self._load_versioned_walk(partition)
        yield from PackedSegments(tuple(self._select_current_pieces(partition, walk).values()))

    def load_mined_partition(
        self, partition: Partition, walk: WalkRecord | None = None
    ) -> MinedPartition:
        """Return the walk's record and its current segments, consistent with each other.

        walk  a part of the record, to get only its pairs; None is the whole record

        Miners add pairs to the record before they mine them, and never remove segments. As the
        record is read first, the segments read afterwards include all that existed for its pairs.

        Raises: Fatal if there is no record.
        """
        walk = walk or self.load_walk(partition)
        pieces = self._select_current_pieces(partition, walk)
        return MinedPartition(
            walk=walk,
            segments=PackedSegments(tuple(pieces.values())),
            unmined=tuple(sorted({pair for _, pair in walk.pairs if pair not in pieces})),
        )

    def list_unmined_pairs(self, partition: Partition) -> tuple[str, ...]:
        """Return the ids of the walk's pairs that have no segment yet."""
        walk = self.load_walk(partition)
        there = self._select_current_pieces(partition, walk)
        return tuple(sorted({p for _, p in walk.pairs if p not in there}))

    def list_pairs_without_current_segment(
        self, partition: Partition, walk: WalkRecord | None = None
    ) -> tuple[str, ...]:
        """Return the ids of the walk's pairs whose key from the latest run has no segment.

        walk  the partition's record, where it was loaded before; None loads it
        """
        walk = walk or self.load_walk(partition)
        there = self.list_keys(partition)
        named = dict(walk.keys)
        return tuple(sorted({p for _, p in walk.pairs if named.get(p) not in there}))

    def merge_walk_into_stored(self, partition: Partition, record: WalkRecord) -> None:
        """Merge the record of a walk into the stored one (`coevo.storage.walks.merge_walks`)."""
        self._stamp_store()
        written = False
        while not written:
            self._renew_lock_if_held(partition)
            old, version = self._load_versioned_walk(partition)
            new = sort_walk(record) if old is None else merge_walks(old, record)
            data = archive.encode_archive({'walk': archive.pack_piece(codec.encode_record(new))})
            path = f'{_name_partition_folder(partition)}/{_WALK}'
            written = new == old or self.storage.write_if_unchanged(path, data, version) is not None

    def load_walk(self, partition: Partition) -> WalkRecord:
        """Return the record of all walks so far.

        Raises: Fatal if there is none.
        """
        record = self.find_walk(partition)
        if record is None:
            raise Fatal(
                f'{self.root} has no record of {partition.repo} ({partition.walk}): mine it again'
            )
        return record

    def find_walk(self, partition: Partition) -> WalkRecord | None:
        """Return the record of all walks so far; None if there is none."""
        return self._load_versioned_walk(partition)[0]

    def compact_segments(self, partition: Partition) -> None:
        """Merge the loose segments into one file, then remove the loose files.

        A kill in between is harmless. The caller has to hold the partition's lock.
        """
        folder = _name_partition_folder(partition)
        contents = self._read_contents(partition)
        if not contents.loose:
            return
        self._record_newest_keys(partition, contents.loose)
        while not self._try_merge(partition, contents):
            contents = self._read_contents(partition)
        self.storage.remove_files(entry.name for entry in contents.loose)
        self.storage.remove_unfinished(folder)

    def _try_merge(self, partition: Partition, contents: _PartitionContents) -> bool:
        """Write the merged file; return False if it has changed since it was read."""
        self._renew_lock_if_held(partition)
        named = {f'{pair}.{key}': piece for (pair, key), piece in contents.pieces.items()}
        path = f'{_name_partition_folder(partition)}/{_MERGED}'
        return (
            self.storage.write_if_unchanged(path, archive.encode_archive(named), contents.merged)
            is not None
        )

    def _record_newest_keys(self, partition: Partition, loose: Sequence[PlaceEntry]) -> None:
        """Record in the walk, for each pair with loose segments, the key of the newest one.

        A pair whose recorded key is among its loose segments keeps that key.
        """
        walk, _ = self._load_versioned_walk(partition)
        if walk is None:
            return
        named = dict(walk.keys)
        written = [
            _parse_pair_and_key(entry).partition('.') for entry in sorted(loose, key=_make_age_key)
        ]
        known = {pair for pair, _, key in written if named.get(pair) == key}
        keys = {pair: key for pair, _, key in written if pair not in known}
        self.merge_walk_into_stored(partition, dataclasses.replace(walk, keys=tuple(keys.items())))

    def _stamp_store(self) -> None:
        """Mark the place as a store before the first write."""
        if not self._stamped:
            write_stamp(self.storage)
            self._stamped = True

    def _renew_lock_if_held(self, partition: Partition) -> None:
        """Renew this process's lock before it replaces a file.

        Raises: Transient if the lock is lost, since others may have written since.
        """
        hold = self._holds.get(_name_partition_folder(partition))
        if hold is not None:
            hold.confirm_held()

    def _load_versioned_walk(self, partition: Partition) -> tuple[WalkRecord | None, str | None]:
        pieces, version = self._load_intact_pieces_and_version(
            f'{_name_partition_folder(partition)}/{_WALK}'
        )
        piece = pieces.get('walk')
        return codec.decode_record(WalkRecord, piece.unpack()) if piece else None, version

    def _select_current_pieces(
        self, partition: Partition, walk: WalkRecord | None
    ) -> dict[str, ArchivePiece]:
        """Return one segment's piece for each pair by pair_id, sorted; see `load_current_segments`."""
        wanted = {pair for _, pair in walk.pairs} if walk else None
        named = dict(walk.keys) if walk else {}
        current: dict[str, ArchivePiece] = {}
        for (pair, key), piece in self._read_contents(partition).pieces.items():
            if (wanted is None or pair in wanted) and (
                pair not in current or named.get(pair) == key
            ):
                current[pair] = piece
        return current

    def _read_contents(self, partition: Partition) -> _PartitionContents:
        """Return all segments of a partition without decoding them.

        The merged file is read last: it then includes the loose segments that a finishing run
        removes meanwhile.
        """
        folder = _name_partition_folder(partition)
        loose = [entry for entry in self.storage.list_files(folder) if entry.name.endswith(_LOOSE)]
        named: dict[str, ArchivePiece] = {}
        contents = self.storage.load_files([entry.name for entry in loose])
        for entry, file in zip(loose, contents, strict=True):
            named |= self._decode_intact_pieces_and_version(entry.name, file)[0]
        merged_pieces, merged = self._load_intact_pieces_and_version(f'{folder}/{_MERGED}')
        named |= merged_pieces
        pieces = {(name.partition('.')[0], name.partition('.')[2]): p for name, p in named.items()}
        return _PartitionContents(pieces=dict(sorted(pieces.items())), loose=loose, merged=merged)

    def _load_intact_pieces_and_version(self, name: str) -> _WholePieces:
        return self._decode_intact_pieces_and_version(name, self.storage.read(name))

    def _decode_intact_pieces_and_version(
        self, name: str, found: StoredFile | None
    ) -> _WholePieces:
        """Return the intact pieces of a file and its version; the version is None without a file.

        If this process holds the partition's lock, a damaged file is set aside.
        """
        if found is None:
            return {}, None
        try:
            decoded = archive.decode_archive(found.data)
        except archive.DamagedArchive as damage:
            decoded = Archive(pieces={}, damaged=(str(damage),))
        version: str | None = found.version
        if decoded.damaged:
            shown = self.storage.describe(name)
            self._warn_once(
                f'{shown} is damaged ({", ".join(decoded.damaged)}): that is not mined yet'
            )
            if name.rpartition('/')[0] in self._holds:
                version = set_damaged_aside_and_get_version(
                    self.storage, name, found, decoded.pieces
                )
        return decoded.pieces, version

    def _warn_once(self, sentence: str) -> None:
        if sentence not in self.warnings:
            self.warnings.append(sentence)
            _log.warning(sentence)


def _name_partition_folder(partition: Partition) -> str:
    return f'{_PARTITIONS}/{partition.path.as_posix()}'


def _parse_pair_and_key(entry: PlaceEntry) -> str:
    """Return PAIR.KEY from the name of a loose segment."""
    return entry.name.rpartition('/')[2].removesuffix(_LOOSE)


def _make_age_key(entry: PlaceEntry) -> tuple[int, str]:
    return entry.modified, entry.name


def _parse_partition(repo: str, language: str, walk: str) -> Partition:
    return Partition(
        repo=decode_folder_name(repo), language=decode_folder_name(language), walk=Walk(walk)
    )
