"""Write a store without the code of the mined projects, so that it can be published and kept in Git.

    PACK/pack.json                         the version of this form
    PACK/documents.coevo                   bases, months, withdrawals and re-verifications, as they are
    PACK/OWNER+NAME/LANGUAGE/WALK.coevo    a partition: `Partition` as five pieces

    walk       the record of the walk
    sources    files of the repository, by the ids of their blobs
    recipes    one for each text: slices of these files, and words that are in none of them
    segments   the current segment of each pair, a line for each, with numbers of recipes for texts
    measures   the last measures of each of these segments, likewise

`packagers.store_unpacking` makes the same segments from a pack and clones. Superseded segments,
claims, failures, clones and caches are not packed, nor are withdrawn repositories and pairs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.git.repository import Repository
from coevo.model import codec
from coevo.model.dictionary import OF_OTHERS
from coevo.model.errors import Fatal
from coevo.model.listener import SILENT, Listener
from coevo.snapshots.code_free.folders import exchange_folder
from coevo.snapshots.code_free.recipes import TextPiece
from coevo.storage import archive, durable
from coevo.storage.archive import ArchivePiece
from coevo.storage.beneath import join_beneath
from coevo.storage.measures import find_latest_measures, load_measures
from coevo.storage.place import StoragePlace
from coevo.storage.store import Partition, Store
from coevo.storage.withdrawals import WithdrawnKind, list_withdrawals
from packagers.recipe_files import RecipeCollector, TextRow, list_named_paths

STAMP, DOCUMENTS, SUFFIX = 'pack.json', 'documents.coevo', '.coevo'
VERSION = 1
_VERSION_KEY = 'coevo-packed-store'
_LONGEST_STAMP = 1000  # bytes
DOCUMENT_FOLDERS = ('bases', 'months', 'reverifications', 'withdrawals')
"""The folders of a store whose files are packed as they are; they hold no code."""
TEXT_NUMBER = 'text'
"""The only key of the object that takes the place of a text; its value is a row of the recipes."""

# Returns the clone of a repository, with the revisions of its pairs.
GetClone = Callable[[str], Repository]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackReport:
    """The content of a pack that was written, and its size in bytes."""

    out: Path
    partitions: int
    segments: int
    measures: int
    texts: int
    size: int

    @property
    def sentence(self) -> str:
        """A sentence about the pack for the user."""
        return (
            f'{self.out}: {self.segments} pairs of {self.partitions} partitions, {self.measures} of them measured, '
            f'without {self.texts} texts, in {self.size / 1e6:.1f} MB'
        )


def pack_store(store: Store, out: Path, clone: GetClone, listener: Listener = SILENT) -> PackReport:
    """Write the pack of a store into a folder, which it replaces as a whole.

    Equal stores give equal bytes.

    Raises: Fatal if the store is private or empty, or the folder holds anything but a pack.
    """
    if store.is_private():
        raise Fatal(f'{store.root} is private: a pack is for others, so none is made of it')
    withdrawn = {(each.kind, each.id) for each in list_withdrawals(store.storage)}
    partitions = [
        partition
        for partition in store.list_partitions()
        if (WithdrawnKind.REPOSITORY, partition.repo) not in withdrawn
    ]
    if not partitions:
        raise Fatal(f'{store.root} has no mined repository: `coevo mine` adds some')
    if out.exists() and load_version(out) is None:
        raise Fatal(f'{out} is there already and is no pack of a store; name another folder')
    counts = _Counts()
    with exchange_folder(out) as exchange:
        for done, partition in enumerate(partitions):
            listener.step(f'partitions, now {partition.repo}', done, len(partitions))
            data = _pack_partition(store, partition, clone(partition.repo), counts, withdrawn)
            path = join_beneath(exchange.new, name_partition_file(partition))
            durable.write_durably(path.make_parents_and_get_path(), [data])
        documents = archive.encode_archive(dict(_list_documents(store.storage)))
        durable.write_durably(exchange.new / DOCUMENTS, [documents])
        stamp = f'{json.dumps({_VERSION_KEY: VERSION})}\n'.encode()
        durable.write_durably(exchange.new / STAMP, [stamp])
        size = sum(path.stat().st_size for path in exchange.new.rglob('*') if path.is_file())
        exchange.accept()
    return PackReport(
        out=out,
        partitions=len(partitions),
        segments=counts.segments,
        measures=counts.measures,
        texts=counts.texts,
        size=size,
    )


def load_version(pack: Path) -> object:
    """Return the version that the stamp of a pack names; None if a folder has no such stamp."""
    try:
        with (pack / STAMP).open('rb') as stamp:
            return json.loads(stamp.read(_LONGEST_STAMP))[_VERSION_KEY]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def name_partition_file(partition: Partition) -> str:
    """Return the path of a partition's file in a pack."""
    return f'{partition.path.as_posix()}{SUFFIX}'


@dataclass(slots=True)
class _Counts:
    segments: int = 0
    measures: int = 0
    texts: int = 0


def _list_documents(place: StoragePlace) -> Iterator[tuple[str, ArchivePiece]]:
    for folder in DOCUMENT_FOLDERS:
        for entry in place.list_files(folder):
            file = place.read(entry.name)
            if file is not None:
                yield entry.name, archive.pack_piece(file.data)


def _pack_partition(
    store: Store,
    partition: Partition,
    repository: Repository,
    counts: _Counts,
    withdrawn: Collection[tuple[WithdrawnKind, str]],
) -> bytes:
    mined = store.load_mined_partition(partition)
    names = find_latest_measures(store.storage, partition)
    collected = RecipeCollector()
    segments, measures = [], []
    for piece in mined.segments.pieces:
        data = piece.unpack()
        segment = json.loads(data)
        if (WithdrawnKind.PAIR, segment['pair']['pair_id']) in withdrawn:
            continue
        name = names.get(segment['key'])
        record = load_measures(store.storage, partition, name) if name else None
        measured = [] if record is None else [codec.encode_record(record)]
        lines = _replace_texts_by_recipe_numbers(
            collected, repository, segment['pair'], [data, *measured]
        )
        segments.append(lines[0])
        measures += lines[1:]
    counts.segments += len(segments)
    counts.measures += len(measures)
    counts.texts += len(collected.recipes)
    return archive.encode_archive(
        {
            'walk': archive.pack_piece(codec.encode_record(mined.walk)),
            'sources': _pack_lines(
                [source.path, source.rev, source.blob, source.form] for source in collected.sources
            ),
            'recipes': _pack_lines(map(_encode_recipe, collected.recipes)),
            'segments': _pack_lines(segments),
            'measures': _pack_lines(measures),
        }
    )


def _pack_lines(values: Iterable[object]) -> ArchivePiece:
    lines = (json.dumps(value, sort_keys=True, separators=(',', ':')) for value in values)
    return archive.pack_piece(''.join(f'{line}\n' for line in lines).encode())


def _encode_recipe(recipe: Iterable[TextPiece]) -> list[object]:
    return [
        piece.words
        if piece.source is None
        else [piece.source, piece.start, piece.length, *([piece.prefix] if piece.prefix else [])]
        for piece in recipe
    ]


def _replace_texts_by_recipe_numbers(
    collected: RecipeCollector,
    repository: Repository,
    pair: Mapping[str, Any],
    records: Sequence[bytes],
) -> list[Mapping[str, Any]]:
    """Return records of one pair, as codec wrote them, with numbers of recipes for their texts.

    pair  the columns of the pair

    Each result has the record and the SHA-256 of its bytes.
    """
    contents = [json.loads(data) for data in records]
    rows = [row for content in contents for row in list_rows(content)]
    spots = [spot for row in rows for spot in list_text_spots(row)]
    revisions = pair['repo'], pair['old_rev'], pair['new_rev']
    numbers = collected.add_recipes_of_texts(
        repository, revisions, list(map(_describe_text, spots))
    )
    for spot, number in zip(spots, numbers, strict=True):
        spot.holder[spot.key] = {TEXT_NUMBER: number}
    return [
        {'record': content, 'sha256': hashlib.sha256(data).hexdigest()}
        for content, data in zip(contents, records, strict=True)
    ]


def _describe_text(spot: TextSpot) -> TextRow:
    return TextRow(
        file='',
        row=0,
        column=spot.key,
        element=0,
        text=spot.text,
        paths=tuple(list_named_paths(spot.row)),
        rev=spot.row.get('start_rev'),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSpot:
    """The spot of a text in a decoded row: the object that holds it, and its key there."""

    row: Mapping[str, Any]
    holder: dict[str, Any]
    key: str

    @property
    def text(self) -> Any:
        """The text, or the object that takes its place."""
        return self.holder[self.key]


def list_rows(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a decoded segment or record of measures.

    Raises: ValueError if a text stands where a row is.
    """
    for name, value in sorted(record.items()):
        if isinstance(value, list):
            yield from (row for row in value if isinstance(row, dict))
        elif isinstance(value, dict):
            if name in OF_OTHERS:
                raise ValueError(f'{name} is no row')
            yield value


def list_text_spots(row: dict[str, Any]) -> Iterator[TextSpot]:
    """Yield the spots of a row that hold a text of the repository; see `coevo.model.dictionary`."""
    stack: list[dict[str, Any]] = [row]
    while stack:
        holder = stack.pop()
        for key, value in sorted(holder.items()):
            if key in OF_OTHERS:
                if value is not None:
                    yield TextSpot(row=row, holder=holder, key=key)
            elif isinstance(value, dict):
                stack.append(value)
            elif isinstance(value, list):
                stack += [entry for entry in value if isinstance(entry, dict)]
