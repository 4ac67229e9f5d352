"""Write the recipes of an edition: each text of a snapshot as slices of the files of its pair."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.git.objects import SUBMODULE
from coevo.git.patches import is_text
from coevo.git.repository import Repository
from coevo.model.dictionary import find_third_party_paths
from coevo.model.schema import TABLES
from coevo.snapshots.code_free.hydration import ATTRIBUTION
from coevo.snapshots.code_free.recipes import (
    FOLDER,
    PLACES,
    RECIPES,
    SOURCES,
    SourceForm,
    TextPiece,
    TextSource,
    decode_blob,
)
from coevo.snapshots.table_files import iterate_rows
from packagers.licensing import AttributionSection
from packagers.row_files import Sorter
from packagers.slices import SliceIndex

_PLACED = tuple(PLACES.names)

# Columns that name files, in rows and in nested fields.
_PATHS = ('test_file', 'old_test_file', 'file')
_NESTED = ('dependencies', 'siblings', 'focus', 'mutants')


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCounts:
    """The number of texts, their characters, and the number of characters that no file contains."""

    texts: int
    characters: int
    words: int


# A repository, and the old and new revision of one of its pairs.
Revisions = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRow:
    """A text, its place in a table, and the files that its row names.

    file     file of the table in the snapshot
    row      number of the row in that file
    column   such as `mutants.original`
    element  index in the list of a nested column, else 0
    paths    files of the repository that the row names
    rev      an older revision of these files, if the row has one
    """

    file: str
    row: int
    column: str
    element: int
    text: str
    paths: tuple[str, ...]
    rev: str | None = None


class RecipeWriter:
    """Collects the recipes of the texts of one snapshot.

    clone   opens a repository, with the revisions of its pairs
    filled  pairs whose texts the edition holds, so that they need no recipe
    """

    def __init__(
        self,
        full: Path,
        made: Path,
        clone: Callable[[str], Repository],
        filled: Collection[str] = (),
    ) -> None:
        self._full, self._made, self._clone = full, made, clone
        self._filled = filled
        self._collected = RecipeCollector()
        self._places: list[tuple[str, int, str, int, int]] = []

    def add_sections(self, sections: Iterable[AttributionSection]) -> None:
        """Add the recipes of the file ATTRIBUTION.

        Of a section that the edition holds, the licence files are literals: it has their text.
        """
        for at, section in enumerate(sections):
            files = {n: (s, section.texts[n]) for n, s in enumerate(section.sources)}
            pieces = section.pieces
            if self._filled and not set(section.pair_ids).isdisjoint(self._filled):
                pieces = (TextPiece(words=section.text),)
            number = self._collected.add_recipe(section.text, pieces, files)
            self._places += [(ATTRIBUTION, at, id_, 0, number) for id_ in section.pair_ids]

    def write_files(self, names: Iterable[str]) -> tuple[TextCounts, tuple[Path, ...]]:
        """Write the recipe files for the texts in these files of tables; return counts and paths.

        Sections that were added before are written, too.
        """
        pairs = {row['pair_id']: _get_revisions(row) for row in _load_rows(self._full, 'pairs')}
        for pair_id, rows in self._sort_texts(names, pairs):
            self._add_recipes_and_places(pairs[pair_id], list(rows))
        folder = self._made / FOLDER
        folder.mkdir(parents=True)
        sources = [
            {**asdict(entry), 'path': _escape_path(entry.path), 'form': str(entry.form)}
            for entry in self._collected.sources
        ]
        recipes = [
            {'pieces': [asdict(piece) for piece in entry]} for entry in self._collected.recipes
        ]
        places = [dict(zip(_PLACED, entry, strict=True)) for entry in sorted(self._places)]
        files = (
            ('sources', sources, SOURCES),
            ('recipes', recipes, RECIPES),
            ('places', places, PLACES),
        )
        paths = [folder / f'{name}.parquet' for name, _, _ in files]
        for path, (_, content, schema) in zip(paths, files, strict=True):
            pq.write_table(pa.Table.from_pylist(content, schema=schema), path, compression='zstd')
        counts = TextCounts(
            texts=len(places),
            characters=self._collected.characters,
            words=self._collected.words,
        )
        return counts, tuple(paths)

    def _sort_texts(
        self, names: Iterable[str], pairs: Mapping[str, Revisions]
    ) -> Iterator[tuple[str, Iterator[TextRow]]]:
        """Yield all texts by pair; pairs of a repository follow one another."""
        sorter: Sorter[_KeyedText] = Sorter(_KeyedText, self._made.parent)
        for name in names:
            table = Path(name).parts[1]
            columns = sorted(find_third_party_paths(TABLES[table])) if table in TABLES else ()
            for number, row in enumerate(iterate_rows(self._full / name)) if columns else ():
                if row['pair_id'] in self._filled:
                    continue
                repo, _, _ = pairs[row['pair_id']]
                for text in _list_texts(name, number, row, columns):
                    key = (repo, row['pair_id'], name, number, text.column, text.element)
                    sorter.add(key, _KeyedText(pair_id=row['pair_id'], text=text))
        for pair_id, group in groupby(sorter.finish(), key=lambda one: one.pair_id):
            yield pair_id, (keyed_text.text for keyed_text in group)

    def _add_recipes_and_places(self, pair: Revisions, rows: Sequence[TextRow]) -> None:
        numbers = self._collected.add_recipes_of_texts(self._clone(pair[0]), pair, rows)
        for row, number in zip(rows, numbers, strict=True):
            self._places.append((row.file, row.row, row.column, row.element, number))


class RecipeCollector:
    """Collects recipes, and the sources that they name by number.

    characters  of all texts
    words       of these, the characters that are in no source
    """

    def __init__(self) -> None:
        self.sources: list[TextSource] = []
        self.recipes: list[tuple[TextPiece, ...]] = []
        self.characters = self.words = 0
        self._numbers: dict[tuple[str, str, SourceForm], int] = {}

    def add_recipes_of_texts(
        self, repository: Repository, pair: Revisions, rows: Sequence[TextRow]
    ) -> list[int]:
        """Add recipes for the texts of a pair, equal texts once; return the number of each text's."""
        files = dict(enumerate(_list_source_files(repository, pair, rows)))
        index = SliceIndex([(number, text) for number, (_, text) in files.items()])
        known: dict[tuple[str, bool], int] = {}
        for key in map(_make_text_key, rows):
            if key not in known:
                text, is_patch = key
                pieces = index.make_recipe(text, is_patch=is_patch)
                known[key] = self.add_recipe(text, pieces, files)
        return [known[_make_text_key(row)] for row in rows]

    def add_recipe(
        self,
        text: str,
        pieces: Iterable[TextPiece],
        files: Mapping[int, tuple[TextSource, str]],
    ) -> int:
        """Add the recipe of a text, and return its number.

        files  the sources by the numbers that the pieces have, each with its text
        """
        numbered = tuple(self._number_source(piece, files) for piece in pieces)
        self.recipes.append(numbered)
        self.words += sum(len(piece.words) for piece in numbered)
        self.characters += len(text)
        return len(self.recipes) - 1

    def _number_source(
        self, piece: TextPiece, files: Mapping[int, tuple[TextSource, str]]
    ) -> TextPiece:
        """Return the piece with the number of its source among all sources that are used.

        A new source gets the next number; a piece of words stays as it is.
        """
        if piece.source is None:
            return piece
        source, _ = files[piece.source]
        number = self._numbers.setdefault(
            (source.repo, source.blob, source.form), len(self.sources)
        )
        if number == len(self.sources):
            self.sources.append(source)
        return replace(piece, source=number)


def _make_text_key(row: TextRow) -> tuple[str, bool]:
    """Return the text of a row, and whether it is a patch, which is cut in another way."""
    return row.text, row.column.endswith('_patch')


def _list_source_files(
    repository: Repository, pair: Revisions, rows: Sequence[TextRow]
) -> Iterator[tuple[TextSource, str]]:
    """Yield the files from which a pair's texts may be cut, each with its text.

    Files that rows name come first, then files that the pair changed; equal contents come once.
    Files that a partial clone lacks are left out: no row was made of them.
    """
    repo, old_rev, new_rev = pair
    named = sorted({path for row in rows for path in row.paths})
    changed = [change.path for change in repository.list_changes(old_rev, new_rev)]
    both = (new_rev, old_rev)
    older = sorted({(row.rev, path) for row in rows if row.rev for path in row.paths})
    ends = [*((rev, path) for path in named for rev in both), *older]
    seen: set[str] = set()
    for rev, path in (*ends, *((rev, path) for path in changed for rev in both)):
        entry = repository.tree(rev).get(path)
        if entry is None or entry.mode == SUBMODULE or entry.oid in seen:
            continue
        seen.add(entry.oid)
        if entry.oid in repository.object_ids_absent_at_source:
            continue
        content = repository.blob(entry.oid)
        for form in _list_forms(content):
            yield (
                TextSource(repo=repo, rev=rev, path=path, blob=entry.oid, form=form),
                decode_blob(content, form),
            )


def _list_forms(content: bytes) -> Iterator[SourceForm]:
    """Yield the forms of a file: text, and a binary patch if patches show it that way."""
    if b'\0' not in content:
        yield SourceForm.TEXT
    if not is_text(content):
        yield SourceForm.BINARY_PATCH


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeyedText:
    pair_id: str
    text: TextRow


def _list_texts(
    name: str, number: int, row: Mapping[str, Any], columns: Iterable[str]
) -> Iterator[TextRow]:
    paths, rev = tuple(list_named_paths(row)), row.get('start_rev')
    for column in columns:
        outer, _, inner = column.partition('.')
        values = [nested_row[inner] for nested_row in row[outer]] if inner else [row[outer]]
        for element, text in enumerate(values):
            if text is not None:
                yield TextRow(
                    file=name,
                    row=number,
                    column=column,
                    element=element,
                    text=text,
                    paths=paths,
                    rev=rev,
                )


def list_named_paths(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths of files that a row and its nested rows name, each once."""
    nested = (nested_row for name in _NESTED for nested_row in row.get(name) or ())
    holders = (row, *nested)
    yield from dict.fromkeys(
        holder[name] for holder in holders for name in _PATHS if holder.get(name)
    )


def _escape_path(path: str) -> str:
    return path.encode('utf-8', 'backslashreplace').decode()


def _get_revisions(row: Mapping[str, Any]) -> Revisions:
    return row['repo'], row['old_rev'], row['new_rev']


def _load_rows(folder: Path, table: str) -> Iterator[Mapping[str, Any]]:
    for file in sorted((folder / 'data' / table).glob('*.parquet')):
        yield from iterate_rows(file)
