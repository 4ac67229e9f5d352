"""The store: what mining gave, one segment for each pair, kept by repository, language and walk.

    STORE/store.json                      what it is, and its version
    STORE/partitions/OWNER+NAME/LANGUAGE/WALK/
        walk.coevo                        the walk's own record
        PAIR.KEY.segment                  one pair, as it was mined
        segments.coevo                    all pairs of the runs that ended
        *.corrupt                         what a miner found damaged; it counts as missing
    STORE/clones, STORE/cache             not this module's

Every file is written beside its place, synced and renamed: a kill costs the pair in hand.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import logging
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote
from urllib.parse import unquote

from coevo import archive
from coevo import codec
from coevo import durable
from coevo.archive import Archive
from coevo.archive import Piece
from coevo.errors import Fatal
from coevo.records import Walk
from coevo.tables import Segment
from coevo.walks import WalkRecord
from coevo.walks import arrange
from coevo.walks import merge

__all__ = ['Partition', 'Store', 'WalkRecord']

STORE_VERSION = 1

# Folders of other parts, which may be there before anything was mined.
_NEIGHBOURS = {'clones', 'cache', 'validations', 'reverifications'}
_WALK, _MERGED, _LOOSE = 'walk.coevo', 'segments.coevo', '.segment'

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Partition:
    repo: str
    language: str
    walk: Walk

    @property
    def path(self) -> Path:
        """Its folder; a name that no file could have is quoted as in a URL."""
        name = '+'.join(quote(part, safe='') for part in self.repo.split('/'))
        return Path(name, quote(self.language, safe=''), self.walk)


class Store:
    """A folder of partitions. It is made by the first writing; `warnings` tells of damage."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.warnings: list[str] = []
        self._locked: set[Path] = set()
        _check(root)

    def partitions(self) -> tuple[Partition, ...]:
        """All that were ever written to, sorted."""
        found = (self.root / 'partitions').glob('*/*/*/')
        return tuple(sorted(_partition(folder) for folder in found))

    @contextlib.contextmanager
    def lock(self, partition: Partition) -> Iterator[None]:
        """Keep other miners away from a partition; Fatal if one is at work there."""
        folder = self._made(partition)
        with (folder / 'lock').open('ab') as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Fatal(
                    f'{partition.repo} ({partition.walk}) is being mined into {self.root} by '
                    'another process: wait until it ends, or use another --store'
                ) from None
            self._locked.add(folder)
            try:
                yield
            finally:
                self._locked.remove(folder)

    def keys(self, partition: Partition) -> frozenset[str]:
        """The keys of all segments that are there and whole."""
        return frozenset(key for _, key in self._pieces(partition))

    def has(self, partition: Partition, key: str) -> bool:
        return key in self.keys(partition)

    def read(self, partition: Partition, key: str) -> Segment:
        """The segment with that key; KeyError if there is none."""
        for (_, found), piece in self._pieces(partition).items():
            if found == key:
                return codec.decode(Segment, piece.unpack())
        raise KeyError(key)

    def write(self, partition: Partition, segment: Segment) -> None:
        """Keep a segment; one that is there already under its key stays as it is."""
        name = f'{segment.pair.pair_id}.{segment.key}'
        path = self._made(partition) / f'{name}{_LOOSE}'
        if name not in self._whole(path):
            archive.write(path, {name: archive.pack(codec.encode(segment))})

    def segments(self, partition: Partition) -> Iterator[Segment]:
        """One segment for each pair of the walk that was mined, by pair_id.

        Of several, that under the key which the walk's record names: the one that the latest run
        asked for, or else wrote. Without such a record, all pairs that are there.
        """
        for piece in self._current(partition).values():
            yield codec.decode(Segment, piece.unpack())

    def unmined(self, partition: Partition) -> tuple[str, ...]:
        """The ids of the walk's pairs that have no segment yet."""
        there = self._current(partition)
        return tuple(sorted({p for _, p in self.walk(partition).pairs if p not in there}))

    def write_walk(self, partition: Partition, record: WalkRecord) -> None:
        """Add what a walk saw to what earlier ones saw (`coevo.walks.merge`)."""
        old = self._walk(partition)
        new = arrange(record) if old is None else merge(old, record)
        if new != old:
            piece = archive.pack(codec.encode(new))
            archive.write(self._made(partition) / _WALK, {'walk': piece})

    def walk(self, partition: Partition) -> WalkRecord:
        """What walks have seen so far; Fatal if there was none."""
        found = self._walk(partition)
        if found is None:
            raise Fatal(
                f'{self.root} has no record of {partition.repo} ({partition.walk}): mine it again'
            )
        return found

    def compact(self, partition: Partition) -> None:
        """Merge the loose segments into one file, then remove them. A kill in between is harmless.

        Call it under the partition's lock.
        """
        folder = self.root / 'partitions' / partition.path
        loose = sorted(folder.glob(f'*{_LOOSE}'))
        if not loose:
            return
        self._name_newest(partition, loose)
        pieces = self._pieces(partition)
        archive.write(
            folder / _MERGED, {f'{pair}.{key}': piece for (pair, key), piece in pieces.items()}
        )
        for path in (*loose, *folder.glob(f'*{durable.UNFINISHED}*')):
            path.unlink(missing_ok=True)

    def _name_newest(self, partition: Partition, loose: Sequence[Path]) -> None:
        """Let the segments of the run that ends count, where its walk did not say so itself."""
        walk = self._walk(partition)
        if walk is None:
            return
        named = dict(walk.keys)
        written = [path.name.removesuffix(_LOOSE).partition('.') for path in _by_age(loose)]
        known = {pair for pair, _, key in written if named.get(pair) == key}
        keys = {pair: key for pair, _, key in written if pair not in known}
        self.write_walk(partition, dataclasses.replace(walk, keys=tuple(keys.items())))

    def _made(self, partition: Partition) -> Path:
        """The partition's folder, made together with the store if it is the first one."""
        stamp = self.root / 'store.json'
        if not stamp.exists():
            durable.write(stamp, [f'{json.dumps({"coevo-store": STORE_VERSION})}\n'.encode()])
        folder = self.root / 'partitions' / partition.path
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _walk(self, partition: Partition) -> WalkRecord | None:
        path = self.root / 'partitions' / partition.path / _WALK
        found = self._whole(path)
        return codec.decode(WalkRecord, found['walk'].unpack()) if 'walk' in found else None

    def _current(self, partition: Partition) -> dict[str, Piece]:
        """By pair_id, sorted."""
        walk = self._walk(partition)
        wanted = {pair for _, pair in walk.pairs} if walk else None
        named = dict(walk.keys) if walk else {}
        found: dict[str, Piece] = {}
        for (pair, key), piece in self._pieces(partition).items():
            if (wanted is None or pair in wanted) and (pair not in found or named.get(pair) == key):
                found[pair] = piece
        return found

    def _pieces(self, partition: Partition) -> dict[tuple[str, str], Piece]:
        """All segments by pair and key, sorted, wherever they stand; none is decoded."""
        folder = self.root / 'partitions' / partition.path
        named: dict[str, Piece] = {}
        for path in (*sorted(folder.glob(f'*{_LOOSE}')), folder / _MERGED):
            named |= self._whole(path)
        pieces = {(name.partition('.')[0], name.partition('.')[2]): p for name, p in named.items()}
        return dict(sorted(pieces.items()))

    def _whole(self, path: Path) -> dict[str, Piece]:
        """The undamaged pieces of a file, none if there is no file."""
        try:
            found = archive.read(path)
        except FileNotFoundError:
            return {}
        except archive.DamagedArchive as damage:
            found = Archive(pieces={}, damaged=(str(damage),))
        if found.damaged:
            self._warn(f'{path} is damaged ({", ".join(found.damaged)}): that is not mined yet')
            if path.parent in self._locked:
                _set_aside(path, found)
        return dict(found.pieces)

    def _warn(self, sentence: str) -> None:
        if sentence not in self.warnings:
            self.warnings.append(sentence)
            _log.warning(sentence)


def _set_aside(path: Path, found: Archive) -> None:
    """Keep a damaged file for a person to look at, and what of it is whole in its place."""
    path.rename(path.with_name(f'{path.name}.corrupt'))
    if found.pieces:
        archive.write(path, found.pieces)


def _by_age(paths: Sequence[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: (path.stat().st_mtime_ns, path.name))


def _check(root: Path) -> None:
    """Fatal unless the folder is a store that this version can read, or may become one."""
    if root.exists() and not root.is_dir():
        raise Fatal(f'{root} is not a folder: give --store one that is a store, or none yet')
    stamp = root / 'store.json'
    if not stamp.exists():
        if root.is_dir() and {entry.name for entry in root.iterdir()} - _NEIGHBOURS:
            raise Fatal(f'{root} holds other files and is no store of coevo: use another --store')
        return
    version = _version(stamp)
    if version > STORE_VERSION:
        raise Fatal(f'{root} was written by a newer coevo (store version {version}): update coevo')


def _version(stamp: Path) -> int:
    try:
        return int(json.loads(stamp.read_bytes())['coevo-store'])
    except (ValueError, KeyError, TypeError):
        raise Fatal(f'{stamp} is not the stamp of a store of coevo: use another --store') from None


def _partition(folder: Path) -> Partition:
    repo, language, walk = folder.parts[-3:]
    name = '/'.join(unquote(part) for part in repo.split('+'))
    return Partition(repo=name, language=unquote(language), walk=Walk(walk))
