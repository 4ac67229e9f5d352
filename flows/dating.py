"""Dates of rows: found as a step of mining, completed before a release where something is missing."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence

from coevo.git.repository import Repository
from coevo.languages.table import parser_version
from coevo.model.errors import Fatal
from coevo.model.listener import SILENT
from coevo.model.listener import Listener
from coevo.model.method_rows import MethodRow
from coevo.model.standing_rows import StandingRow
from coevo.storage import dates
from coevo.storage.dates import RowDates
from coevo.storage.months import MonthRecord
from coevo.storage.store import Store
from flows.release_clones import ReleaseClones
from miners.cloning.clones import Clone
from miners.dates.clone_search import SearchedClone
from miners.dates.dating import date_repository
from miners.dates.dating import note_wanted
from miners.dates.dating import search_for_store
from miners.dates.dating import wanted_prints
from miners.discovery.crawls import crawled_at
from miners.discovery.crawls import refs
from packagers.dating import DateJoin
from packagers.rows import Rows
from packagers.rows import rows_of

Row = MethodRow | StandingRow


def date_mined(
    store: Store, clone: Clone, repository: Repository, listener: Listener
) -> tuple[str, ...]:
    """Search the clone of a repository that was mined; a warning where it cannot be read."""
    searched = SearchedClone(
        repository=repository, crawled_at=crawled_at(clone.git_dir), refs=refs(repository)
    )
    try:
        date_repository(store, clone.repo, searched, listener)
    except Fatal as error:
        return (f'the history was not searched for dates, a release cannot be made of it: {error}',)
    return ()


class ReleaseDates:
    """The dates of a release. A clone is opened only if something of it was not searched yet."""

    def __init__(
        self,
        store: Store,
        clones: ReleaseClones,
        fixed: MonthRecord | None,
        listener: Listener = SILENT,
    ) -> None:
        self._store, self._clones, self._listener = store, clones, listener
        self._fixed = {row.key: row for row in fixed.dates} if fixed else {}
        self._join: DateJoin | None = None

    def methods(self, rows: Rows) -> Iterator[MethodRow]:
        return self._joined(rows).date_methods(rows.methods)

    def standing(self, rows: Rows) -> Iterator[StandingRow]:
        return self._joined(rows).date_standing(rows.standing)

    def known(self) -> Collection[RowDates]:
        """The dates of all rows by now, which a month keeps."""
        return self._join.known.values() if self._join else ()

    def _joined(self, rows: Rows) -> DateJoin:
        if self._join is None:
            repos = sorted({row.repo for row in rows.repositories})
            self._complete(rows, repos)
            self._join = DateJoin(self._store.place, repos, self._fixed)
        return self._join

    def _complete(self, rows: Rows, repos: Sequence[str]) -> None:
        """Read and search what mining has not: of a store of before, or after a run that broke off."""
        place = self._store.place
        lacking = [repo for repo in repos if self._lacks_bodies(rows, repo)]
        if self._fixed and not lacking:
            return
        for repo in lacking:
            clone = self._clones.searched(repo)
            for language in sorted({row.language for row in _dated_rows(rows, repo)}):
                own = (row for row in _dated_rows(rows, repo) if row.language == language)
                note_wanted(self._store, repo, language, clone, own)
        wanted = wanted_prints(self._store)
        for number, repo in enumerate(repos):
            self._listener.step('histories', number, len(repos))
            if dates.is_open(place, repo) or any(
                not _is_searched(self._store, repo, language, prints)
                for language, prints in wanted.items()
            ):
                clone = self._clones.searched(repo)
                search_for_store(self._store, repo, clone, wanted, self._listener)
        self._listener.step('histories', len(repos), len(repos))

    def _lacks_bodies(self, rows: Rows, repo: str) -> bool:
        """Whether the bodies of a row are not known, nor its dates by a month that is fixed."""
        known: dict[str, frozenset[str]] = {}
        for row in _dated_rows(rows, repo):
            if row.language not in known:
                wanted = dates.read_wanted(
                    self._store.place, repo, row.language, parser_version(row.language)
                )
                known[row.language] = (
                    frozenset(each.key for each in wanted.rows) if wanted else frozenset()
                )
            key = dates.row_key(row)
            if key not in known[row.language] and key not in self._fixed:
                return True
        return False


def _dated_rows(rows: Rows, repo: str) -> Iterator[Row]:
    yield from rows_of(rows.methods, repo)
    yield from (row for row in rows_of(rows.standing, repo) if row.adequacy is not None)


def _is_searched(store: Store, repo: str, language: str, wanted: Collection[str]) -> bool:
    seen = dates.read_seen(store.place, repo, language, parser_version(language))
    return seen is not None and seen.state is None and seen.searched.issuperset(wanted)
