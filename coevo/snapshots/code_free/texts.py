"""The texts that an edition omits, restored from clones, and the data files with their places."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from coevo.git.repository import Repository
from coevo.model import schema_2
from coevo.model.dictionary import find_third_party_paths
from coevo.model.errors import DamagedSnapshot
from coevo.model.schema import TABLES, build_arrow_schema
from coevo.snapshots import forms
from coevo.snapshots.code_free.recipes import (
    FOLDER,
    PLACES,
    RECIPES,
    SOURCES,
    SourceForm,
    TextPiece,
    TextSource,
    decode_blob,
    join_pieces,
)
from coevo.snapshots.table_files import iterate_rows

# The texts that an edition omits, restored from clones.

_OBJECT = re.compile('[0-9a-f]{40}([0-9a-f]{24})?')
MOST_HELD = 400  # sources whose text is kept in memory


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTexts:
    """The texts of a pair that an edition omits: how many, and the numbers of their sources."""

    pair_id: str
    texts: int = 0
    sources: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPosition:
    """Position of a text in its row.

    column   `mutants.original` is the field `original` in the list `mutants`
    element  index in that list, else 0
    text     number of the recipe
    """

    column: str
    element: int
    text: int


class EditionTexts:
    """The texts that an edition omits: their recipes, read from its folder, and the restored texts.

    `set_source_repositories` must be called before a text is built. Raises: DamagedSnapshot if the recipes are
    missing or malformed.
    """

    def __init__(self, folder: Path) -> None:
        rows = _load_table(folder, 'sources', SOURCES).to_pylist()
        try:
            self._sources = [TextSource(**{**row, 'form': SourceForm(row['form'])}) for row in rows]
        except ValueError:
            raise make_damaged_error(folder) from None
        if not all(map(is_well_formed, self._sources)):
            raise make_damaged_error(folder)
        self._recipes = _load_table(folder, 'recipes', RECIPES).column('pieces')
        self._places = _load_table(folder, 'places', PLACES)
        self._folder = folder
        self._sources_of: dict[int, frozenset[int]] = {}
        self._clone: Callable[[TextSource], Repository] | None = None
        self._shown = lru_cache(maxsize=MOST_HELD)(self._load_source)

    @property
    def sources(self) -> Sequence[TextSource]:
        """The files from which texts are cut, by number."""
        return self._sources

    def set_source_repositories(self, clone: Callable[[TextSource], Repository]) -> None:
        """Set the repositories from which texts are cut.

        `clone` is called when a text needs a source, and returns the repository that has it.
        """
        self._clone = clone

    def group_by_pair(self, pairs: Mapping[str, Sequence[str]]) -> Iterator[PairTexts]:
        """Yield for each pair how many texts it lacks, and the sources from which these are cut.

        pairs  the pair of each row, by file

        Raises: DamagedSnapshot if a text belongs to a row that is not there, or its recipe is
        missing.
        """
        counts: Counter[str] = Counter()
        sources: dict[str, set[int]] = defaultdict(set)
        try:
            for row in self._places.to_pylist():
                at = pairs.get(row['file'])
                # A place in a file that is no table names its pair itself.
                pair_id = row['column'] if at is None else at[row['row']]
                counts[pair_id] += 1
                sources[pair_id] |= self._list_sources(row['text'])
            for pair_id, count in sorted(counts.items()):
                numbers = frozenset(sources[pair_id])
                yield PairTexts(pair_id=pair_id, texts=count, sources=numbers)
        except (KeyError, IndexError):
            raise make_damaged_error(self._folder) from None

    def list_positions(self, name: str) -> Mapping[int, Sequence[TextPosition]]:
        """Return the positions of the texts in a file, by the number of their row."""
        positions: dict[int, list[TextPosition]] = defaultdict(list)
        theirs = self._places.filter(pc.equal(self._places.column('file'), name))
        for batch in theirs.to_batches():
            for row in batch.to_pylist():
                position = TextPosition(
                    column=row['column'], element=row['element'], text=row['text']
                )
                positions[row['row']].append(position)
        return positions

    def build_text(self, number: int) -> str:
        """Return the text of a recipe.

        Raises: DamagedSnapshot if the edition has no such recipe or source.
        """
        try:
            pieces = [TextPiece(**piece) for piece in self._recipes[number].as_py()]
            return join_pieces(pieces, self._shown)
        except IndexError:
            raise make_damaged_error(self._folder) from None

    def measure_text_without_prefixes(self, number: int) -> int:
        """Return the number of characters of a recipe's text, without the prefixes of its lines.

        So the number is too small if a slice has a prefix. Raises: DamagedSnapshot if the edition
        has no such recipe.
        """
        try:
            pieces = self._recipes[number].as_py()
        except IndexError:
            raise make_damaged_error(self._folder) from None
        return sum(
            len(piece['words']) if piece['source'] is None else piece['length'] for piece in pieces
        )

    def _load_source(self, number: int) -> str:
        source = self._sources[number]
        assert self._clone is not None, 'set_source_repositories comes first'
        return decode_blob(self._clone(source).blob(source.blob), source.form)

    def _list_sources(self, text: int) -> frozenset[int]:
        """Return the numbers of the sources that a recipe names.

        Raises: IndexError if the edition has no such recipe or source.
        """
        if text not in self._sources_of:
            pieces = self._recipes[text].as_py()
            numbers = frozenset(p['source'] for p in pieces if p['source'] is not None)
            self._sources_of[text] = frozenset(n for n in numbers if self._sources[n])
        return self._sources_of[text]


def is_well_formed(source: TextSource) -> bool:
    """Return whether the ids and the repository of a source have their forms."""
    ids = all(_OBJECT.fullmatch(id_) for id_ in (source.blob, source.rev))
    return ids and forms.is_repository(source.repo)


def _load_table(folder: Path, name: str, schema: pa.Schema) -> pa.Table:
    try:
        table = pq.read_table(folder / FOLDER / f'{name}.parquet')
    except (OSError, pa.ArrowException):
        raise make_damaged_error(folder) from None
    if not table.schema.equals(schema):
        raise make_damaged_error(folder)
    return table


def make_damaged_error(folder: Path) -> DamagedSnapshot:
    """Return the error for an edition whose recipes do not fit it."""
    return DamagedSnapshot(f'{folder} does not say how its texts are made ({FOLDER}): get it again')


# The data files of an edition, read as they are, whatever the schema version.

# Tables by the name of their folder; schema 2 had other names.
_TABLES = {name: name for name in TABLES} | {was: name for name, was in schema_2.TABLES.items()}


def find_table_of_file(name: str) -> str | None:
    """Return the table that a file of a snapshot belongs to; None for other files."""
    parts = PurePosixPath(name).parts
    return _TABLES.get(parts[1]) if len(parts) == 3 and parts[0] == 'data' else None


def find_text_columns(name: str) -> frozenset[str]:
    """Return the columns with third-party text of the table that a file belongs to.

    Empty for a file of no table. A field of a nested column is written as `mutants.original`.
    """
    table = find_table_of_file(name)
    return frozenset() if table is None else find_third_party_paths(TABLES[table])


def list_files_with_texts(folder: Path) -> tuple[str, ...]:
    """Return the names of a folder's Parquet files whose tables have third-party text, sorted."""
    files = (path.relative_to(folder).as_posix() for path in folder.glob('data/*/*.parquet'))
    return tuple(sorted(name for name in files if find_text_columns(name)))


def load_pair_ids(file: Path) -> Sequence[str]:
    """Return the `pair_id` of each row of a Parquet file, in the order of the rows."""
    pair_ids: list[str] = pq.read_table(file, columns=['pair_id']).column(0).to_pylist()
    return pair_ids


def load_rows(folder: Path, table: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a table from all its files, sorted by file name.

    The table must have the same name in all schema versions.
    """
    for file in sorted((folder / 'data' / table).glob('*.parquet')):
        yield from iterate_rows(file)


def restore_release_schema(schema: pa.Schema, table: str) -> pa.Schema:
    """Return the schema that the release's file has, given that of the edition's file.

    They differ in the columns with third-party text alone, all of which an edition has nullable.
    """
    return pa.schema(
        _restore_fields(
            list(schema), build_arrow_schema(TABLES[table]), find_third_party_paths(TABLES[table])
        ),
        metadata=schema.metadata,
    )


def _restore_fields(
    fields: Sequence[pa.Field], wanted: Any, paths: frozenset[str], prefix: str = ''
) -> list[pa.Field]:
    restored = []
    for field in fields:
        path = f'{prefix}{field.name}'
        if path in paths:
            restored.append(field.with_nullable(wanted.field(field.name).nullable))
        elif any(each.startswith(f'{path}.') for each in paths):
            kind = wanted.field(field.name).type.value_type
            inner = pa.struct(_restore_fields(list(field.type.value_type), kind, paths, f'{path}.'))
            restored.append(field.with_type(pa.list_(field.type.value_field.with_type(inner))))
        else:
            restored.append(field)
    return restored
