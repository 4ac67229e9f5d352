"""The store: what mining gave, one segment for each pair, kept by repository, language and walk.

    STORE/store.json                      what it is, and its version
    STORE/partitions/OWNER+NAME/LANGUAGE/WALK/
        walk.coevo                        the walk's own record
        PAIR.KEY.segment                  one pair, as it was mined
        segments.coevo                    all pairs of the runs that ended
        *.corrupt                         what a miner found damaged; it counts as missing
        lock                              who mines there now
    STORE/clones, STORE/cache, …          not this module's

It lies in a folder or under a prefix of an object store (`coevo.storage.place`). Every file is there as a
whole or not at all: a kill costs the pair in hand. What two runs may change at once is changed by
exchange: a file that is no longer what it was when it was read is read again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.model import codec
from coevo.model.errors import Fatal
from coevo.model.segment import Segment
from coevo.model.words import Walk
from coevo.storage import archive
from coevo.storage.archive import Archive
from coevo.storage.archive import ArchivePiece
from coevo.storage.place import Found
from coevo.storage.place import Hold
from coevo.storage.place import Place
from coevo.storage.place import PlaceEntry
from coevo.storage.place import Root
from coevo.storage.place import folder_name
from coevo.storage.place import named
from coevo.storage.places import place_of
from coevo.storage.walks import WalkRecord
from coevo.storage.walks import arrange
from coevo.storage.walks import merge

__all__ = ['Mined', 'Partition', 'Store', 'WalkRecord']

STORE_VERSION = 1

# Of other parts, which may be there before anything was mined.
_NEIGHBOURS = {
    'clones',
    'cache',
    'crawls',
    'validations',
    'reverifications',
    'claims',
    'failures',
    'months',
    'dates',
    'withdrawals',
}
_STAMP, _PARTITIONS = 'store.json', 'partitions'
_WALK, _MERGED, _LOOSE, _LOCK = 'walk.coevo', 'segments.coevo', '.segment', 'lock'

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Partition:
    repo: str
    language: str
    walk: Walk

    @property
    def path(self) -> Path:
        return Path(
            folder_name(self.repo), folder_name(self.language), self.walk
        )  # own name: one of the walks


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """The undamaged pieces of a file, and its version; None if there is no file."""

    pieces: Mapping[str, ArchivePiece]
    version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contents:
    """The pieces of a partition by pair and key, sorted; what of them stood alone, and the rest."""

    pieces: Mapping[tuple[str, str], ArchivePiece]
    loose: Sequence[PlaceEntry]
    merged: str | None


@dataclass(frozen=True, slots=True)
class PackedSegments:
    """Segments of which one at a time is unpacked, each time that they are asked for."""

    pieces: Sequence[ArchivePiece]

    def __iter__(self) -> Iterator[Segment]:
        return (codec.decode(Segment, piece.unpack()) for piece in self.pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """A partition at one moment, whoever mines meanwhile.

    segments  one for each pair of the walk that was mined, by pair_id
    unmined   the ids of its other pairs
    """

    walk: WalkRecord
    segments: PackedSegments
    unmined: tuple[str, ...]


class Store:
    """Partitions in one place. It is made by the first writing; `warnings` tells of damage."""

    def __init__(self, root: Root) -> None:
        self.root = root
        self.place = place_of(root)
        self.warnings: list[str] = []
        self._holds: dict[str, Hold] = {}
        self._stamped = _check(root, self.place)

    def partitions(self) -> tuple[Partition, ...]:
        """All that were ever written to, sorted."""
        names = (entry.name.split('/') for entry in self.place.entries(_PARTITIONS))
        written = (parts for parts in names if len(parts) == 5 and parts[4] != _LOCK)
        try:
            return tuple(sorted({_partition(*parts[1:4]) for parts in written}))
        except ValueError as error:
            raise Fatal(
                f'{self.place.shown(_PARTITIONS)} holds a folder that is no partition ({error}): '
                'move it elsewhere'
            ) from None

    def of_repository(self, repo: str) -> tuple[Partition, ...]:
        """Those of one repository; Fatal if there are none."""
        found = tuple(one for one in self.partitions() if one.repo == repo)
        if not found:
            raise Fatal(
                f'{self.root} holds nothing of {repo!r}: `coevo status` lists its repositories'
            )
        return found

    @contextlib.contextmanager
    def lock(self, partition: Partition) -> Iterator[None]:
        """Keep other miners away from a partition; Fatal if one is at work there.

        In an object store this is a lease: where it is lost, writing is Transient.
        """
        self._stamp()
        folder = _folder(partition)
        busy = (
            f'{partition.repo} ({partition.walk}) is being mined into {self.root} by '
            'another process: wait until it ends, or use another --store'
        )
        with self.place.lock(f'{folder}/{_LOCK}', busy) as hold:
            self._holds[folder] = hold
            try:
                yield
            finally:
                del self._holds[folder]

    def keys(self, partition: Partition) -> frozenset[str]:
        """The keys of all segments that are there and whole."""
        return frozenset(key for _, key in self._contents(partition).pieces)

    def has(self, partition: Partition, key: str) -> bool:
        return key in self.keys(partition)

    def read(self, partition: Partition, key: str) -> Segment:
        """The segment with that key; KeyError if there is none."""
        for (_, found), piece in self._contents(partition).pieces.items():
            if found == key:
                return codec.decode(Segment, piece.unpack())
        raise KeyError(key)

    def write(self, partition: Partition, segment: Segment) -> None:
        """Keep a segment; one that is there already under its key stays as it is."""
        self._stamp()
        name = f'{segment.pair.pair_id}.{segment.key}'
        path = f'{_folder(partition)}/{name}{_LOOSE}'
        data = archive.encode({name: archive.pack(codec.encode(segment))})
        if not self.place.exchange(path, data, None) and name not in self._whole(path).pieces:
            self.place.write(path, data)
        hold = self._holds.get(_folder(partition))
        if hold is not None:
            hold.check()

    def segments(self, partition: Partition) -> Iterator[Segment]:
        """One segment for each pair of the walk that was mined, by pair_id.

        Of several, that under the key which the walk's record names: the one that the latest run
        asked for, or else wrote. Without such a record, all pairs that are there.
        """
        walk, _ = self._walk(partition)
        yield from PackedSegments(tuple(self._current(partition, walk).values()))

    def mined(self, partition: Partition, walk: WalkRecord | None = None) -> Mined:
        """The walk's record and all its segments, which belong together; Fatal if there was no walk.

        `walk` is a part of that record, to have no more than that.

        A run adds pairs to the record before it mines them, and takes no segment away: so of the
        pairs of a record that is read first each has its segment in what is read then, or had none.
        """
        walk = walk or self.walk(partition)
        pieces = self._current(partition, walk)
        return Mined(
            walk=walk,
            segments=PackedSegments(tuple(pieces.values())),
            unmined=tuple(sorted({pair for _, pair in walk.pairs if pair not in pieces})),
        )

    def unmined(self, partition: Partition) -> tuple[str, ...]:
        """The ids of the walk's pairs that have no segment yet."""
        walk = self.walk(partition)
        there = self._current(partition, walk)
        return tuple(sorted({p for _, p in walk.pairs if p not in there}))

    def pending(self, partition: Partition) -> tuple[str, ...]:
        """The ids of the walk's pairs whose segment, as the latest run asked for it, is not there."""
        walk, there = self.walk(partition), self.keys(partition)
        named = dict(walk.keys)
        return tuple(sorted({p for _, p in walk.pairs if named.get(p) not in there}))

    def write_walk(self, partition: Partition, record: WalkRecord) -> None:
        """Add what a walk saw to what earlier ones saw (`coevo.storage.walks.merge`)."""
        self._stamp()
        written = False
        while not written:
            self._confirm(partition)
            old, version = self._walk(partition)
            new = arrange(record) if old is None else merge(old, record)
            data = archive.encode({'walk': archive.pack(codec.encode(new))})
            path = f'{_folder(partition)}/{_WALK}'
            written = new == old or self.place.exchange(path, data, version) is not None

    def walk(self, partition: Partition) -> WalkRecord:
        """What walks have seen so far; Fatal if there was none."""
        found = self.walked(partition)
        if found is None:
            raise Fatal(
                f'{self.root} has no record of {partition.repo} ({partition.walk}): mine it again'
            )
        return found

    def walked(self, partition: Partition) -> WalkRecord | None:
        """The same; None if there was none."""
        return self._walk(partition)[0]

    def compact(self, partition: Partition) -> None:
        """Merge the loose segments into one file, then remove them. A kill in between is harmless.

        Call it under the partition's lock.
        """
        folder = _folder(partition)
        contents = self._contents(partition)
        if not contents.loose:
            return
        self._name_newest(partition, contents.loose)
        while not self._merge(partition, contents):
            contents = self._contents(partition)
        self.place.remove(entry.name for entry in contents.loose)
        self.place.sweep(folder)

    def _merge(self, partition: Partition, contents: _Contents) -> bool:
        """False if the merged file has changed since it was read."""
        self._confirm(partition)
        named = {f'{pair}.{key}': piece for (pair, key), piece in contents.pieces.items()}
        path = f'{_folder(partition)}/{_MERGED}'
        return self.place.exchange(path, archive.encode(named), contents.merged) is not None

    def _name_newest(self, partition: Partition, loose: Sequence[PlaceEntry]) -> None:
        """Let the segments of the run that ends count, where its walk did not say so itself."""
        walk, _ = self._walk(partition)
        if walk is None:
            return
        named = dict(walk.keys)
        written = [_identity(entry).partition('.') for entry in sorted(loose, key=_age)]
        known = {pair for pair, _, key in written if named.get(pair) == key}
        keys = {pair: key for pair, _, key in written if pair not in known}
        self.write_walk(partition, dataclasses.replace(walk, keys=tuple(keys.items())))

    def _stamp(self) -> None:
        """Make it a store, if this is the first writing."""
        if not self._stamped:
            data = f'{json.dumps({"coevo-store": STORE_VERSION})}\n'.encode()
            self.place.exchange(_STAMP, data, None)
            self._stamped = True

    def _confirm(self, partition: Partition) -> None:
        """Stop a miner here that has lost its lock before it replaces what others may have made."""
        hold = self._holds.get(_folder(partition))
        if hold is not None:
            hold.confirm()

    def _walk(self, partition: Partition) -> tuple[WalkRecord | None, str | None]:
        found = self._whole(f'{_folder(partition)}/{_WALK}')
        piece = found.pieces.get('walk')
        return codec.decode(WalkRecord, piece.unpack()) if piece else None, found.version

    def _current(self, partition: Partition, walk: WalkRecord | None) -> dict[str, ArchivePiece]:
        """By pair_id, sorted."""
        wanted = {pair for _, pair in walk.pairs} if walk else None
        named = dict(walk.keys) if walk else {}
        found: dict[str, ArchivePiece] = {}
        for (pair, key), piece in self._contents(partition).pieces.items():
            if (wanted is None or pair in wanted) and (pair not in found or named.get(pair) == key):
                found[pair] = piece
        return found

    def _contents(self, partition: Partition) -> _Contents:
        """All segments wherever they stand; none is decoded.

        The merged file is read last: what a run that ends meanwhile removes is in it by then.
        """
        folder = _folder(partition)
        loose = [entry for entry in self.place.entries(folder) if entry.name.endswith(_LOOSE)]
        named: dict[str, ArchivePiece] = {}
        contents = self.place.read_all([entry.name for entry in loose])
        for entry, found in zip(loose, contents, strict=True):
            named |= self._checked(entry.name, found).pieces
        merged = self._whole(f'{folder}/{_MERGED}')
        named |= merged.pieces
        pieces = {(name.partition('.')[0], name.partition('.')[2]): p for name, p in named.items()}
        return _Contents(pieces=dict(sorted(pieces.items())), loose=loose, merged=merged.version)

    def _whole(self, name: str) -> _Whole:
        return self._checked(name, self.place.read(name))

    def _checked(self, name: str, found: Found | None) -> _Whole:
        """What of a file is whole. A damaged one is set aside if it is ours to change."""
        if found is None:
            return _Whole(pieces={}, version=None)
        try:
            held = archive.decode(found.data)
        except archive.DamagedArchive as damage:
            held = Archive(pieces={}, damaged=(str(damage),))
        version: str | None = found.version
        if held.damaged:
            shown = self.place.shown(name)
            self._warn(f'{shown} is damaged ({", ".join(held.damaged)}): that is not mined yet')
            if name.rpartition('/')[0] in self._holds:
                version = _set_aside(self.place, name, found, held.pieces)
        return _Whole(pieces=held.pieces, version=version)

    def _warn(self, sentence: str) -> None:
        if sentence not in self.warnings:
            self.warnings.append(sentence)
            _log.warning(sentence)


def _set_aside(
    place: Place, name: str, found: Found, whole: Mapping[str, ArchivePiece]
) -> str | None:
    """Keep a damaged file for a person to look at, and what of it is whole in its place."""
    place.write(f'{name}.corrupt', found.data)
    if whole:
        return place.exchange(name, archive.encode(whole), found.version) or found.version
    place.remove([name])
    return None


def _folder(partition: Partition) -> str:
    return f'{_PARTITIONS}/{partition.path.as_posix()}'


def _identity(entry: PlaceEntry) -> str:
    """The pair and key in a loose segment's name."""
    return entry.name.rpartition('/')[2].removesuffix(_LOOSE)


def _age(entry: PlaceEntry) -> tuple[int, str]:
    return entry.modified, entry.name


def _check(root: Root, place: Place) -> bool:
    """Whether it is a store; Fatal unless this version can read it, or it may become one."""
    if isinstance(root, Path) and root.exists() and not root.is_dir():
        raise Fatal(f'{root} is not a folder: give --store one that is a store, or none yet')
    stamp = place.read(_STAMP)
    if stamp is None:
        if place.tops() - _NEIGHBOURS:
            raise Fatal(f'{root} holds other files and is no store of coevo: use another --store')
        return False
    version = _version(place.shown(_STAMP), stamp.data)
    if version > STORE_VERSION:
        raise Fatal(f'{root} was written by a newer coevo (store version {version}): update coevo')
    return True


def _version(shown: str, stamp: bytes) -> int:
    try:
        return int(json.loads(stamp)['coevo-store'])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise Fatal(f'{shown} is not the stamp of a store of coevo: use another --store') from None


def _partition(repo: str, language: str, walk: str) -> Partition:
    return Partition(repo=named(repo), language=named(language), walk=Walk(walk))
