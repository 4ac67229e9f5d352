"""First-seen dates of bodies (method texts).

What each repository's rows need is kept apart from what its clone shows.

STORE/dates/OWNER+NAME/LANGUAGE.wanted  the bodies of the repository's rows, with their tokens
STORE/dates/OWNER+NAME/LANGUAGE.seen    the scope of the search in its clone, and the first commit
                                        of each body
STORE/dates/OWNER+NAME/open             exists from a change of the clone until it is searched

Mining writes these files (`miners.dates`). A release combines them (`packagers.dating`) and needs
no clone for it. A file that is damaged, or was made by another version of the language's parser,
counts as missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from coevo.model import codec
from coevo.model.method_rows import MethodRow
from coevo.model.records import compute_short_hash
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.words import MethodChange
from coevo.storage import archive
from coevo.storage.place import StoragePlace, StoredFile, decode_folder_name, encode_folder_name

FOLDER = 'dates'

_PIECE, _OPEN, _WANTED = 'all', 'open', '.wanted'
_Kept = TypeVar('_Kept')


class SearchBasis(StrEnum):
    """The scope of a search for first-seen dates."""

    WITH_PULLS = 'with_pulls'
    BRANCHES_ONLY = 'branches_only'
    SHALLOW = 'shallow'


class NoDateReason(StrEnum):
    """A reason why the commit that introduces a body does not date it."""

    UNDATED = 'undated'
    BULK = 'bulk'
    LACKING = 'lacking'


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBodies:
    """The hashes of one row's bodies: of its tests, and of the source methods that it is about."""

    key: str
    test: tuple[str, ...]
    code: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedBody:
    """A body to search for: its hash, and the tokens that a text with this body has.

    They are those of `coevo.languages.prints.BodyPrint`, separated by spaces.
    """

    body: str
    words: str
    spelled: str
    segments: tuple[str, ...]
    result: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedBodies:
    """All bodies that the rows of one repository and language need."""

    version: str
    rows: tuple[RowBodies, ...]
    bodies: tuple[WantedBody, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenBody:
    """The earliest commit that introduces a body.

    moment   the earliest of that commit's dates and its descendants' committer dates; None if
             unreadable
    no_date  why the moment does not tell when the body was first public; None if it does
    """

    body: str
    rev: str
    moment: datetime | None
    no_date: NoDateReason | None = None

    @property
    def date(self) -> datetime | None:
        """The moment when the body was first public; None if it is unknown."""
        return None if self.no_date else self.moment


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchState:
    """The progress of an unfinished search.

    question  hash of the clone's state and of the bodies that are searched for; with another one
              the search begins anew
    done      number of moments (equal dates of commits) that were searched
    """

    question: str
    done: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenBodies:
    """The result of searching one clone for the bodies of one language.

    tips    the commits from which it was searched, sorted
    absent  bodies that it never held
    state   None once the search has ended
    holes   a digest of the ids of the objects that the clone lacked; '' if it lacked none
    """

    version: str
    basis: SearchBasis
    crawled_at: datetime
    tips: tuple[str, ...]
    seen: tuple[SeenBody, ...]
    absent: tuple[str, ...]
    state: SearchState | None = None
    holes: str = ''

    @property
    def searched_bodies(self) -> frozenset[str]:
        """The bodies that this record answers for, found or absent."""
        return frozenset((*self.absent, *(each.body for each in self.seen)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDates:
    """First-seen dates of a row's test and of its source methods; None if they are unknown."""

    key: str
    test: datetime | None
    code: datetime | None
    basis: str


def compute_method_key(row: MethodRow) -> str:
    """Return a hash of everything that the bodies of a method row depend on."""
    rev = row.old_rev if row.change is MethodChange.DELETED else row.new_rev
    dependencies = (
        f'{each.revised} {each.start_line} {each.end_line} {each.file}' for each in row.dependencies
    )
    test = (rev, row.test_file, row.test_class, row.test_method, ','.join(row.parameters))
    return compute_short_hash('method', *test, row.new_rev, *dependencies)


def compute_single_revision_key(row: SingleRevisionRow) -> str:
    """Return a hash of everything that the bodies of a single_revision row depend on."""
    focus = (codec.encode_record(each).decode() for each in row.focus)
    tests = (codec.encode_record(each).decode() for each in row.executing_tests or ())
    return compute_short_hash('standing', row.suite_id, row.walk, row.new_rev, *focus, *tests)


def compute_row_key(row: MethodRow | SingleRevisionRow) -> str:
    """Return a hash of everything that the bodies of a row depend on."""
    return (
        compute_method_key(row) if isinstance(row, MethodRow) else compute_single_revision_key(row)
    )


def load_wanted_bodies(
    place: StoragePlace, repo: str, language: str, version: str
) -> WantedBodies | None:
    """Return the bodies that a repository's rows need.

    None if the file is missing, damaged or of another parser version.
    """
    wanted = _load_record(place, _name_wanted_file(repo, language), WantedBodies)
    return wanted if wanted is not None and wanted.version == version else None


def write_wanted_bodies(
    place: StoragePlace, repo: str, language: str, wanted: WantedBodies
) -> None:
    """Replace the record of the bodies that a repository's rows need."""
    _write_record(place, _name_wanted_file(repo, language), wanted)


def load_seen_bodies(
    place: StoragePlace, repo: str, language: str, version: str
) -> SeenBodies | None:
    """Return the search result for a repository.

    None if the file is missing, damaged or of another parser version.
    """
    seen = _load_record(place, _name_seen_file(repo, language), SeenBodies)
    return seen if seen is not None and seen.version == version else None


def write_seen_bodies(place: StoragePlace, repo: str, language: str, seen: SeenBodies) -> None:
    """Replace the search result for a repository."""
    _write_record(place, _name_seen_file(repo, language), seen)


def load_wanted_bodies_by_language(
    place: StoragePlace, versions: Mapping[str, str]
) -> Iterator[tuple[str, WantedBodies]]:
    """Yield (language, needed bodies) for all repositories of a store, in the order of file names.

    versions  parser versions by language; other languages and versions are skipped
    """
    file_names = [entry.name for entry in place.list_files(FOLDER) if entry.name.endswith(_WANTED)]
    names = [
        (decode_folder_name(name.rpartition('/')[2].removesuffix(_WANTED)), name)
        for name in sorted(file_names)
    ]
    known = [(language, name) for language, name in names if language in versions]
    contents = place.load_files([name for _, name in known])
    for (language, _), content in zip(known, contents, strict=True):
        wanted = _decode_record(content, WantedBodies)
        if wanted is not None and wanted.version == versions[language]:
            yield language, wanted


def mark_unsearched(place: StoragePlace, repo: str) -> None:
    """Record that a clone may hold commits that were not searched."""
    place.write_file(f'{_name_repo_folder(repo)}/{_OPEN}', b'')


def is_unsearched(place: StoragePlace, repo: str) -> bool:
    """Return whether a clone was changed and not searched since."""
    return place.read(f'{_name_repo_folder(repo)}/{_OPEN}') is not None


def mark_searched(place: StoragePlace, repo: str) -> None:
    """Record that a clone was searched."""
    place.remove_files([f'{_name_repo_folder(repo)}/{_OPEN}'])


def _load_record(place: StoragePlace, name: str, record: type[_Kept]) -> _Kept | None:
    return _decode_record(place.read(name), record)


def _decode_record(found: StoredFile | None, record: type[_Kept]) -> _Kept | None:
    if found is None:
        return None
    try:
        piece = archive.decode_archive(found.data).pieces.get(_PIECE)
    except archive.DamagedArchive:
        return None
    return None if piece is None else codec.decode_record(record, piece.unpack())


def _write_record(place: StoragePlace, name: str, record: object) -> None:
    place.write_file(
        name, archive.encode_archive({_PIECE: archive.pack_piece(codec.encode_record(record))})
    )


def _name_repo_folder(repo: str) -> str:
    return f'{FOLDER}/{encode_folder_name(repo)}'


def _name_wanted_file(repo: str, language: str) -> str:
    return f'{_name_repo_folder(repo)}/{encode_folder_name(language)}{_WANTED}'


def _name_seen_file(repo: str, language: str) -> str:
    return f'{_name_repo_folder(repo)}/{encode_folder_name(language)}.seen'
