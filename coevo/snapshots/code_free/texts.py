"""The texts that an edition leaves out, put together from clones."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from coevo.git.repository import Repository
from coevo.model.errors import Damaged
from coevo.model.errors import Fatal
from coevo.snapshots import forms
from coevo.snapshots.code_free.blobs import Clones
from coevo.snapshots.code_free.blobs import NotHad
from coevo.snapshots.code_free.recipes import FOLDER
from coevo.snapshots.code_free.recipes import PLACES
from coevo.snapshots.code_free.recipes import RECIPES
from coevo.snapshots.code_free.recipes import SOURCES
from coevo.snapshots.code_free.recipes import Form
from coevo.snapshots.code_free.recipes import Piece
from coevo.snapshots.code_free.recipes import Source
from coevo.snapshots.code_free.recipes import shown
from coevo.snapshots.code_free.recipes import text_of

_OBJECT = re.compile('[0-9a-f]{40}([0-9a-f]{24})?')
_HELD = 400  # sources as texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """A repository of which texts could not be had, how many, and why."""

    repo: str
    texts: int
    why: str

    def __str__(self) -> str:
        return f'{self.repo}: {self.texts} texts cannot be had: {self.why}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a text stands in its row: a column, `mutants.original` for one of the list `mutants`."""

    column: str
    element: int
    text: int


class Texts:
    """Those of an edition in a folder; Damaged if it does not say how they are made."""

    def __init__(self, folder: Path) -> None:
        rows = _table(folder, 'sources', SOURCES).to_pylist()
        try:
            self._sources = [Source(**{**row, 'form': Form(row['form'])}) for row in rows]
        except ValueError:
            raise _damaged(folder) from None
        if not all(map(_is_form, self._sources)):
            raise _damaged(folder)
        self._recipes = _table(folder, 'recipes', RECIPES).column('pieces')
        self._places = _table(folder, 'places', PLACES)
        self._folder = folder
        self._by_repository: dict[str, list[Source]] = defaultdict(list)
        for one in self._sources:
            self._by_repository[one.repo].append(one)
        self._clone: Callable[[str], Repository] | None = None
        self._shown = lru_cache(maxsize=_HELD)(self._read)

    def __len__(self) -> int:
        return len(self._places)

    def lacking(self, clones: Clones, urls: Mapping[str, str | None]) -> Iterator[Lacking]:
        """The repositories that do not give what texts are cut of; each is looked at once, and left."""
        for repo, sources in sorted(self._by_repository.items()):
            try:
                with clones.having(repo, urls.get(repo), sources):
                    pass
            except NotHad as error:
                yield Lacking(repo=repo, texts=self._count(repo), why=str(error))

    @contextmanager
    def opened(
        self, clones: Clones, urls: Mapping[str, str | None], repo: str
    ) -> Iterator[Repository]:
        """One that was not lacking; Fatal where it is by now."""
        try:
            with clones.having(repo, urls.get(repo), self._by_repository[repo]) as found:
                yield found
        except NotHad as error:
            raise Fatal(f'{repo} was there and is no more ({error}): run again') from None

    def take(self, clone: Callable[[str], Repository]) -> None:
        """Cut them of these repositories, each of which is asked for when a text is cut of it."""
        self._clone = clone

    def of_file(self, name: str) -> Mapping[int, Sequence[Place]]:
        """Where those of a file stand, by the number of the row."""
        found: dict[int, list[Place]] = defaultdict(list)
        theirs = self._places.filter(pc.equal(self._places.column('file'), name))
        for batch in theirs.to_batches():
            for row in batch.to_pylist():
                place = Place(column=row['column'], element=row['element'], text=row['text'])
                found[row['row']].append(place)
        return found

    def text(self, number: int) -> str:
        try:
            pieces = [Piece(**piece) for piece in self._recipes[number].as_py()]
            return text_of(pieces, self._shown)
        except IndexError:
            raise _damaged(self._folder) from None

    def _read(self, number: int) -> str:
        one = self._sources[number]
        assert self._clone is not None, 'taken before'
        return shown(self._clone(one.repo).blob(one.blob), one.form)

    def _count(self, repo: str) -> int:
        theirs = {at for at, one in enumerate(self._sources) if one.repo == repo}
        cut = {
            at
            for at, pieces in enumerate(self._recipes)
            if any(piece['source'] in theirs for piece in pieces.as_py())
        }
        return sum(text in cut for text in self._places.column('text').to_pylist())


def _is_form(one: Source) -> bool:
    ids = all(_OBJECT.fullmatch(id_) for id_ in (one.blob, one.rev))
    return ids and forms.is_repository(one.repo)


def _table(folder: Path, name: str, schema: pa.Schema) -> pa.Table:
    try:
        found = pq.read_table(folder / FOLDER / f'{name}.parquet')
    except (OSError, pa.ArrowException):
        raise _damaged(folder) from None
    if not found.schema.equals(schema):
        raise _damaged(folder)
    return found


def _damaged(folder: Path) -> Damaged:
    return Damaged(f'{folder} does not say how its texts are made ({FOLDER}): get it again')
