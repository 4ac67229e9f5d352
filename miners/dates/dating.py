"""Dating as a step of mining: a clone's own rows are read, and its history is searched for the whole store."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from itertools import chain

from coevo.languages.prints import BodyPrint
from coevo.languages.table import LANGUAGES
from coevo.languages.table import parser_version
from coevo.model.listener import SILENT
from coevo.model.listener import Listener
from coevo.model.method_rows import MethodRow
from coevo.model.standing_rows import StandingRow
from coevo.storage import dates
from coevo.storage.dates import SeenBodies
from coevo.storage.store import Store
from miners.dates.clone_search import SearchedClone
from miners.dates.clone_search import SearchListener
from miners.dates.clone_search import search_clone
from miners.dates.wanted import read_wanted_bodies
from miners.dates.wanted import unpack_prints


def date_repository(
    store: Store, repo: str, clone: SearchedClone, listener: Listener = SILENT
) -> None:
    """Note which bodies a repository's rows want, and search its clone for those of all repositories.

    Nothing is read for what is known: a second call costs no more than a look at the store.
    """
    for language in sorted({part.language for part in store.partitions() if part.repo == repo}):
        note_wanted(store, repo, language, clone)
    search_for_store(store, repo, clone, wanted_prints(store), listener)


def note_wanted(
    store: Store,
    repo: str,
    language: str,
    clone: SearchedClone,
    more: Iterable[MethodRow | StandingRow] = (),
) -> None:
    """Bring what the rows of one repository want up to date: those in the store, and some more."""
    version = parser_version(language)
    known = dates.read_wanted(store.place, repo, language, version)
    rows = chain(stored_rows(store, repo, language), more)
    wanted = read_wanted_bodies(clone.repository, language, rows, known)
    if wanted != known:
        dates.write_wanted(store.place, repo, language, wanted)


def stored_rows(store: Store, repo: str, language: str) -> Iterator[MethodRow | StandingRow]:
    """The rows of a repository that have dates, of all walks."""
    for partition in store.partitions():
        if (partition.repo, partition.language) == (repo, language):
            for segment in store.segments(partition):
                yield from segment.methods
                yield from (row for row in segment.standing if row.adequacy is not None)


def search_for_store(
    store: Store,
    repo: str,
    clone: SearchedClone,
    wanted: Mapping[str, Mapping[str, BodyPrint]],
    listener: Listener = SILENT,
) -> None:
    """Search a clone for all that the repositories of a store want (`wanted_prints`)."""
    for language, prints in wanted.items():
        _search(store, repo, language, clone, prints, listener)
    dates.end(store.place, repo)


def _search(
    store: Store,
    repo: str,
    language: str,
    clone: SearchedClone,
    prints: Mapping[str, BodyPrint],
    listener: Listener,
) -> None:
    def keep(seen: SeenBodies) -> None:
        dates.write_seen(store.place, repo, language, seen)

    def step(done: int, total: int) -> None:
        listener.step(f'history ({language})', done, total)

    known = dates.read_seen(store.place, repo, language, parser_version(language))
    seen = search_clone(clone, language, prints, known, SearchListener(keep=keep, step=step))
    if seen != known:
        keep(seen)


def wanted_prints(store: Store) -> Mapping[str, Mapping[str, BodyPrint]]:
    """By language, the prints of all bodies that a store's repositories want."""
    found: dict[str, dict[str, BodyPrint]] = {}
    versions = {language: parser_version(language) for language in LANGUAGES}
    for language, wanted in dates.read_all_wanted(store.place, versions):
        found.setdefault(language, {}).update(unpack_prints(wanted.bodies))
    return found
