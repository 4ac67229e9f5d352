"""The texts that an edition omits, restored from clones."""

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
_HELD = 400  # sources whose text is kept in memory


@dataclass(frozen=True, slots=True, kw_only=True)
class LackingRepository:
    """A repository that lacks needed files, the number of texts made from it, and the reason."""

    repo: str
    texts: int
    why: str

    def __str__(self) -> str:
        return f'{self.repo}: {self.texts} texts cannot be had: {self.why}'


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
    """The texts of an edition in a folder.

    Raises: DamagedSnapshot if the recipes are missing or malformed.
    """

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
        """Yield the repositories that lack files from which texts are cut.

        Each repository is opened once, and closed again.
        """
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
        """Yield a repository that `find_lacking` did not report.

        Raises: Fatal if it lacks files now.
        """
        try:
            with clones.open_repository(
                repo, urls.get(repo), self._by_repository[repo]
            ) as repository:
                yield repository
        except SourceUnavailable as error:
            raise Fatal(f'{repo} was there and is no more ({error}): run again') from None

    def use_clones(self, clone: Callable[[str], Repository]) -> None:
        """Cut texts from these repositories; `clone` is called when a text needs one."""
        self._clone = clone

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
