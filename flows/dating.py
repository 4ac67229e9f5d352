"""Date rows as a step of mining, and complete missing dates before a release."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from coevo.git.repository import Repository
from coevo.languages.table import name_parser_version
from coevo.model.errors import Fatal
from coevo.model.listener import SILENT, Listener
from coevo.model.method_rows import MethodRow
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.storage import dates
from coevo.storage.dates import RowDates
from coevo.storage.months import MonthRecord
from coevo.storage.store import Store
from flows.clones import ReleaseClones
from flows.histories import search_histories
from miners.cloning.clones import Clone
from miners.cloning.mirror_git import list_clone_refs, load_crawl_time
from miners.dates.clone_search import SearchedClone
from miners.dates.dating import (
    date_repository,
    load_wanted_prints,
    update_wanted_bodies,
)
from packagers.dating import DateJoin, limit_contamination_date
from packagers.rows import Rows, list_rows_of_repo

Row = MethodRow | SingleRevisionRow


def date_repository_and_list_warnings(
    store: Store, clone: Clone, repository: Repository, listener: Listener
) -> tuple[str, ...]:
    """Search the clone of a mined repository for first-seen dates, and write them to the store.

    Return one warning if the clone cannot be read, else nothing.
    """
    searched = SearchedClone(
        repository=repository,
        crawled_at=load_crawl_time(clone.git_dir),
        refs=list_clone_refs(repository),
    )
    try:
        date_repository(store, clone.repo, searched, listener)
    except Fatal as error:
        return (f'the history was not searched for dates, a release cannot be made of it: {error}',)
    return ()


class ReleaseDates:
    """The dates of a release; a clone is opened only if it has not been searched completely."""

    def __init__(
        self,
        store: Store,
        clones: ReleaseClones,
        fixed: MonthRecord | None,
        listener: Listener = SILENT,
        processes: int = 1,
    ) -> None:
        """Prepare the dates; at most `processes` clones are searched at the same time."""
        self._store, self._clones, self._listener = store, clones, listener
        self._processes = processes
        self._fixed = {row.key: row for row in fixed.dates} if fixed else {}
        self._join: DateJoin | None = None

    def date_methods(self, rows: Rows) -> Iterator[MethodRow]:
        """Yield method rows with their first-seen dates filled in.

        The first call searches clones that mining has not searched completely.
        """
        pairs = {(pair.pair_id, pair.walk): pair for pair in rows.pairs}
        for row in self._ensure_join(rows).date_methods(rows.methods):
            yield limit_contamination_date(row, pairs[row.pair_id, row.walk])

    def date_single_revision_rows(self, rows: Rows) -> Iterator[SingleRevisionRow]:
        """Yield rows of test files with their first-seen dates filled in; see `date_methods`."""
        return self._ensure_join(rows).date_single_revision_rows(rows.single_revision)

    def list_known_dates(self) -> Collection[RowDates]:
        """Return the dates of all rows that were dated so far, for the record of the month."""
        return self._join.known_dates.values() if self._join else ()

    def _ensure_join(self, rows: Rows) -> DateJoin:
        if self._join is None:
            repos = sorted({row.repo for row in rows.repositories})
            self._complete_search(rows, repos)
            self._join = DateJoin(self._store.storage, repos, self._fixed)
        return self._join

    def _complete_search(self, rows: Rows, repos: Sequence[str]) -> None:
        """Read and search what mining has not, in an old store or after an interrupted run."""
        storage = self._store.storage
        lacking = [repo for repo in repos if self._lacks_bodies(rows, repo)]
        if self._fixed and not lacking:
            return
        for repo in lacking:
            clone = self._clones.prepare_search(repo)
            for language in sorted({row.language for row in _list_rows_to_date(rows, repo)}):
                own = (row for row in _list_rows_to_date(rows, repo) if row.language == language)
                update_wanted_bodies(self._store, repo, language, clone, own)
        wanted = load_wanted_prints(self._store)
        unsearched = [
            repo
            for repo in repos
            if dates.is_unsearched(storage, repo)
            or any(
                not _is_searched(self._store, repo, language, prints)
                for language, prints in wanted.items()
            )
        ]
        search_histories(
            self._store,
            unsearched,
            wanted,
            self._clones.prepare_search,
            self._processes,
            self._listener,
        )

    def _lacks_bodies(self, rows: Rows, repo: str) -> bool:
        """Return whether any row of a repository has unknown bodies and no fixed date.

        A fixed date is one in the record of the month.
        """
        known: dict[str, frozenset[str]] = {}
        for row in _list_rows_to_date(rows, repo):
            if row.language not in known:
                wanted = dates.load_wanted_bodies(
                    self._store.storage, repo, row.language, name_parser_version(row.language)
                )
                known[row.language] = (
                    frozenset(each.key for each in wanted.rows) if wanted else frozenset()
                )
            key = dates.compute_row_key(row)
            if key not in known[row.language] and key not in self._fixed:
                return True
        return False


def _list_rows_to_date(rows: Rows, repo: str) -> Iterator[Row]:
    yield from list_rows_of_repo(rows.methods, repo)
    yield from (
        row for row in list_rows_of_repo(rows.single_revision, repo) if row.adequacy is not None
    )


def _is_searched(store: Store, repo: str, language: str, wanted: Collection[str]) -> bool:
    seen = dates.load_seen_bodies(store.storage, repo, language, name_parser_version(language))
    return seen is not None and seen.state is None and seen.searched_bodies.issuperset(wanted)
