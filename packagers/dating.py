"""Fill the date columns of rows from the dates of bodies in the store's clones.

`coevo.storage.dates` has these dates.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime

from coevo.languages.table import name_parser_version
from coevo.model.errors import Fatal
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import PairRow
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.storage import dates
from coevo.storage.dates import RowBodies, RowDates
from coevo.storage.place import StoragePlace


class DateJoin:
    """The dates of rows by key, looked up in the search results of a store.

    A body has the date of the earliest clone of the store that contains it.

    repos  repositories whose clones were searched
    fixed  the dates of an earlier release of the month, which stay as they are
    """

    def __init__(
        self,
        place: StoragePlace,
        repos: Collection[str],
        fixed: Mapping[str, RowDates] | None = None,
    ) -> None:
        self._place, self._repos = place, sorted(repos)
        self._known = dict(fixed or {})
        self._bodies: dict[tuple[str, str], Mapping[str, RowBodies]] = {}
        self._seen: dict[str, _FirstSeenDates] = {}

    @property
    def known_dates(self) -> Mapping[str, RowDates]:
        """The dates of all rows that were looked up."""
        return self._known

    def date_methods(self, rows: Iterable[MethodRow]) -> Iterator[MethodRow]:
        """Yield the rows with `contamination_date`, `contamination_basis` and `code_first_seen`."""
        for row in rows:
            row_dates = self._look_up_dates(row.repo, row.language, dates.compute_method_key(row))
            yield dataclasses.replace(
                row,
                contamination_date=row_dates.test,
                contamination_basis=row_dates.basis,
                code_first_seen=row_dates.code,
            )

    def date_single_revision_rows(
        self, rows: Iterable[SingleRevisionRow]
    ) -> Iterator[SingleRevisionRow]:
        """Yield the rows of test files with their date columns filled.

        A row has the dates of all tests of the file, and of the focus. A row without gold keeps its
        own date. Rows that no family takes stay as they are.
        """
        for row in rows:
            if row.adequacy is None:
                yield row
                continue
            row_dates = self._look_up_dates(
                row.repo, row.language, dates.compute_single_revision_key(row)
            )
            yield dataclasses.replace(
                row,
                contamination_date=row_dates.test or row.contamination_date,
                contamination_basis=row_dates.basis,
                unit_date=row_dates.code,
            )

    def _look_up_dates(self, repo: str, language: str, key: str) -> RowDates:
        if key not in self._known:
            bodies = self._load_bodies(repo, language).get(key)
            if bodies is None:
                raise Fatal(f'{repo} has rows whose bodies are not known: mine it again')
            seen = self._load_first_seen(language)
            self._known[key] = RowDates(
                key=key,
                test=find_earliest_if_all_known(seen.find_date(body) for body in bodies.test),
                code=find_earliest_if_all_known(seen.find_date(body) for body in bodies.code),
                basis=seen.basis[repo],
            )
        return self._known[key]

    def _load_bodies(self, repo: str, language: str) -> Mapping[str, RowBodies]:
        if (repo, language) not in self._bodies:
            wanted = dates.load_wanted_bodies(
                self._place, repo, language, name_parser_version(language)
            )
            rows = wanted.rows if wanted else ()
            # Keep the bodies of one repository only: rows come sorted by repository.
            self._bodies = {(repo, language): {row.key: row for row in rows}}
        return self._bodies[repo, language]

    def _load_first_seen(self, language: str) -> _FirstSeenDates:
        if language not in self._seen:
            self._seen[language] = _FirstSeenDates(self._place, self._repos, language)
        return self._seen[language]


class _FirstSeenDates:
    """The dates at which the clones of a store first had each body of one language."""

    def __init__(self, place: StoragePlace, repos: Iterable[str], language: str) -> None:
        self.basis: dict[str, str] = {}
        self._dates: dict[str, datetime | None] = {}
        for repo in repos:
            seen = dates.load_seen_bodies(place, repo, language, name_parser_version(language))
            if seen is None or seen.state is not None:
                raise Fatal(f'the history of {repo} was not searched: mine it again')
            self.basis[repo] = str(seen.basis)
            for each in seen.seen:
                before = self._dates.get(each.body, each.date)
                self._dates[each.body] = find_earliest_if_all_known((before, each.date))

    def find_date(self, body: str) -> datetime | None:
        """Return the earliest date of a body; None if it is unknown or was never seen."""
        return self._dates.get(body)


def limit_contamination_date(row: MethodRow, pair: PairRow) -> MethodRow:
    """Return a row whose contamination date is not after the dates of the pair's new commit.

    The body of a test that the commit left alone may be first seen later than the commit was
    written: a commit of January that is rebased onto a test of June keeps its author date. The
    earlier date is taken, since it never makes a task clean that is not.
    """
    moments = (row.contamination_date, pair.new_author_date, pair.new_committer_date)
    earliest = min((moment for moment in moments if moment is not None), default=None)
    if row.contamination_date is None or row.contamination_date == earliest:
        return row
    return dataclasses.replace(row, contamination_date=earliest)


def find_earliest_if_all_known(moments: Iterable[datetime | None]) -> datetime | None:
    """Return the earliest of some moments; None if any of them is None, or there are none.

    An unknown date might be earlier, and never counts as clean.
    """
    known: list[datetime] = []
    for moment in moments:
        if moment is None:
            return None
        known.append(moment)
    return min(known, default=None)
