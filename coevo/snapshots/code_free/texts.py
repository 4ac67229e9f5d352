"""The texts that an edition omits, restored from clones."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from coevo.git.repository import Repository
from coevo.model.errors import DamagedSnapshot
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
