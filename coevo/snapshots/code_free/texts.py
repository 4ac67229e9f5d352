"""The texts that an edition leaves out, put together from clones."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from coevo.git.repository import Repository
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.snapshots import forms
from coevo.snapshots.code_free.blobs import CloneLocations, SourceUnavailable
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
_HELD = 400  # sources as texts


@dataclass(frozen=True, slots=True, kw_only=True)
class LackingRepository:
    """A repository of which texts could not be had, how many, and why."""

    repo: str
    texts: int
    why: str

    def __str__(self) -> str:
        return f'{self.repo}: {self.texts} texts cannot be had: {self.why}'


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPosition:
    """Where a text stands in its row: a column, `mutants.original` for one of the list `mutants`."""

    column: str
    element: int
    text: int


class EditionTexts:
    """Those of an edition in a folder; Damaged if it does not say how they are made."""

    def __init__(self, folder: Path) -> None:
        rows = _load_table(folder, 'sources', SOURCES).to_pylist()
        try:
            self._sources = [TextSource(**{**row, 'form': SourceForm(row['form'])}) for row in rows]
        except ValueError:
            raise _make_damaged_error(folder) from None
        if not all(map(_is_well_formed, self._sources)):
            raise _make_damaged_error(folder)
        self._recipes = _load_table(folder, 'recipes', RECIPES).column('pieces')
        self._places = _load_table(folder, 'places', PLACES)
        self._folder = folder
        self._by_repository: dict[str, list[TextSource]] = defaultdict(list)
        for source in self._sources:
            self._by_repository[source.repo].append(source)
        self._clone: Callable[[str], Repository] | None = None
        self._shown = lru_cache(maxsize=_HELD)(self._load_source)

    def __len__(self) -> int:
        return len(self._places)

    def find_lacking(
        self, clones: CloneLocations, urls: Mapping[str, str | None]
    ) -> Iterator[LackingRepository]:
        """The repositories that do not give what texts are cut of; each is looked at once, and left."""
        for repo, sources in sorted(self._by_repository.items()):
            try:
                with clones.open_repository(repo, urls.get(repo), sources):
                    pass
            except SourceUnavailable as error:
                yield LackingRepository(repo=repo, texts=self._count_texts(repo), why=str(error))

    @contextmanager
    def open_repository(
        self, clones: CloneLocations, urls: Mapping[str, str | None], repo: str
    ) -> Iterator[Repository]:
        """One that was not lacking; Fatal where it is by now."""
        try:
            with clones.open_repository(
                repo, urls.get(repo), self._by_repository[repo]
            ) as repository:
                yield repository
        except SourceUnavailable as error:
            raise Fatal(f'{repo} was there and is no more ({error}): run again') from None

    def use_clones(self, clone: Callable[[str], Repository]) -> None:
        """Cut them of these repositories, each of which is asked for when a text is cut of it."""
        self._clone = clone

    def list_positions(self, name: str) -> Mapping[int, Sequence[TextPosition]]:
        """Where those of a file stand, by the number of the row."""
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
        try:
            pieces = [TextPiece(**piece) for piece in self._recipes[number].as_py()]
            return join_pieces(pieces, self._shown)
        except IndexError:
            raise _make_damaged_error(self._folder) from None

    def _load_source(self, number: int) -> str:
        source = self._sources[number]
        assert self._clone is not None, 'taken before'
        return decode_blob(self._clone(source.repo).blob(source.blob), source.form)

    def _count_texts(self, repo: str) -> int:
        theirs = {at for at, source in enumerate(self._sources) if source.repo == repo}
        cut = {
            at
            for at, pieces in enumerate(self._recipes)
            if any(piece['source'] in theirs for piece in pieces.as_py())
        }
        return sum(text in cut for text in self._places.column('text').to_pylist())


def _is_well_formed(one: TextSource) -> bool:
    ids = all(_OBJECT.fullmatch(id_) for id_ in (one.blob, one.rev))
    return ids and forms.is_repository(one.repo)


def _load_table(folder: Path, name: str, schema: pa.Schema) -> pa.Table:
    try:
        table = pq.read_table(folder / FOLDER / f'{name}.parquet')
    except (OSError, pa.ArrowException):
        raise _make_damaged_error(folder) from None
    if not table.schema.equals(schema):
        raise _make_damaged_error(folder)
    return table


def _make_damaged_error(folder: Path) -> DamagedSnapshot:
    return DamagedSnapshot(f'{folder} does not say how its texts are made ({FOLDER}): get it again')
