"""Dating as a step of mining: a clone's own rows are read, and its history is searched for the whole store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from coevo.languages.prints import BodyPrint
from coevo.languages.table import LANGUAGES, name_parser_version
from coevo.model.listener import SILENT, Listener
from coevo.model.method_rows import MethodRow
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.storage import dates
from coevo.storage.dates import SeenBodies
from coevo.storage.store import Store
from miners.dates.clone_search import SearchedClone, SearchListener, search_clone
from miners.dates.wanted import load_wanted_bodies, unpack_prints


def date_repository(
    store: Store, repo: str, clone: SearchedClone, listener: Listener = SILENT
) -> None:
    """Note which bodies a repository's rows want, and search its clone for those of all repositories.

    Nothing is read for what is known: a second call costs no more than a look at the store.
    """
    for language in sorted(
        {part.language for part in store.list_partitions() if part.repo == repo}
    ):
        update_wanted_bodies(store, repo, language, clone)
    search_for_store(store, repo, clone, load_wanted_prints(store), listener)


def update_wanted_bodies(
    store: Store,
    repo: str,
    language: str,
    clone: SearchedClone,
    more: Iterable[MethodRow | SingleRevisionRow] = (),
) -> None:
    """Bring what the rows of one repository want up to date: those in the store, and some more."""
    version = name_parser_version(language)
    known = dates.load_wanted_bodies(store.storage, repo, language, version)
    rows = chain(list_stored_rows(store, repo, language), more)
    wanted = load_wanted_bodies(clone.repository, language, rows, known)
    if wanted != known:
        dates.write_wanted_bodies(store.storage, repo, language, wanted)


def list_stored_rows(
    store: Store, repo: str, language: str
) -> Iterator[MethodRow | SingleRevisionRow]:
    """The rows of a repository that have dates, of all walks."""
    for partition in store.list_partitions():
        if (partition.repo, partition.language) == (repo, language):
            for segment in store.load_segments(partition):
                yield from segment.methods
                yield from (row for row in segment.single_revision if row.adequacy is not None)


def search_for_store(
    store: Store,
    repo: str,
    clone: SearchedClone,
    wanted: Mapping[str, Mapping[str, BodyPrint]],
    listener: Listener = SILENT,
) -> None:
    """Search a clone for all that the repositories of a store want (`load_wanted_prints`)."""
    for language, prints in wanted.items():
        _search_language(store, repo, language, clone, prints, listener)
    dates.mark_searched(store.storage, repo)


def _search_language(
    store: Store,
    repo: str,
    language: str,
    clone: SearchedClone,
    prints: Mapping[str, BodyPrint],
    listener: Listener,
) -> None:
    def keep_seen(seen: SeenBodies) -> None:
        dates.write_seen_bodies(store.storage, repo, language, seen)

    def report_step(done: int, total: int) -> None:
        listener.step(f'history ({language})', done, total)

    known = dates.load_seen_bodies(store.storage, repo, language, name_parser_version(language))
    seen = search_clone(
        clone, language, prints, known, SearchListener(keep=keep_seen, step=report_step)
    )
    if seen != known:
        keep_seen(seen)


def load_wanted_prints(store: Store) -> Mapping[str, Mapping[str, BodyPrint]]:
    """By language, the prints of all bodies that a store's repositories want."""
    prints_by_language: dict[str, dict[str, BodyPrint]] = {}
    versions = {language: name_parser_version(language) for language in LANGUAGES}
    for language, wanted in dates.load_all_wanted_bodies(store.storage, versions):
        prints_by_language.setdefault(language, {}).update(unpack_prints(wanted.bodies))
    return prints_by_language
