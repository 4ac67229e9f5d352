"""Search one clone for all bodies of a language that a store wants, reusing earlier searches.

A new body is searched for in the whole history. A known body is searched for in the commits that
are new since the last search. It is searched for in the whole history again if the new commits show
that an old commit is older than was thought.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from coevo.git.repository import Repository
from coevo.languages.prints import BodyPrint
from coevo.languages.table import get_reading, name_parser_version
from coevo.model.records import compute_short_hash
from coevo.storage.dates import NoDateReason, SearchBasis, SearchState, SeenBodies, SeenBody
from miners.dates.history import date_commits, find_reachable, load_changes, load_graph
from miners.dates.scanning import BlobTexts, TreeBlobs
from miners.dates.search import BodySearch, History

_PULLS = 'refs/pull/'
# A kill loses at most this many seconds of CPU time.
_SECONDS_AT_RISK = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedClone:
    """A clone at one moment; refs are (name, object id)."""

    repository: Repository
    crawled_at: datetime
    refs: tuple[tuple[str, str], ...]

    @property
    def basis(self) -> SearchBasis:
        """The completeness of the clone: shallow, with pull requests, or with branches only."""
        if (self.repository.git_dir / 'shallow').exists():
            return SearchBasis.SHALLOW
        pulls = any(name.startswith(_PULLS) for name, _ in self.refs)
        return SearchBasis.WITH_PULLS if pulls else SearchBasis.BRANCHES_ONLY

    @property
    def holes(self) -> str:
        """A digest of the ids of the objects that the clone lacks since its source does."""
        lacked = sorted(self.repository.object_ids_absent_at_source)
        return compute_short_hash(*lacked) if lacked else ''

    @property
    def tips(self) -> tuple[str, ...]:
        """The ids of the objects that the refs point at, sorted and without duplicates."""
        return tuple(sorted({oid for _, oid in self.refs}))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchListener:
    """Callbacks of a search: `keep` saves its state, `step` gets the progress.

    `step` is called with the number of moments that are done and their total.
    """

    keep: Callable[[SeenBodies], None] = lambda seen: None
    step: Callable[[int, int], None] = lambda done, total: None


def search_clone(
    clone: SearchedClone,
    language: str,
    prints: Mapping[str, BodyPrint],
    known: SeenBodies | None,
    listener: SearchListener | None = None,
) -> SeenBodies:
    """Return the earliest commit of each body, and which bodies no commit of the clone contains.

    prints  the bodies to search for, by hash
    known   the result, or the saved state, of an earlier search of the same clone; only what it
            leaves open is searched
    """
    listener = listener or SearchListener()
    start = known or SeenBodies(
        version=name_parser_version(language),
        basis=clone.basis,
        crawled_at=clone.crawled_at,
        tips=(),
        seen=(),
        absent=(),
    )
    if clone.basis is SearchBasis.SHALLOW:
        unknown = (
            SeenBody(body=b, rev='', moment=None, no_date=NoDateReason.LACKING) for b in prints
        )
        return _build_finished_result(start, clone, {each.body: each for each in unknown}, prints)
    is_same_clone = (start.tips, start.crawled_at, start.holes) == (
        clone.tips,
        clone.crawled_at,
        clone.holes,
    )
    if start.state is None and is_same_clone and prints.keys() <= start.searched_bodies:
        return _build_finished_result(
            start, clone, {each.body: each for each in start.seen}, prints
        )
    return _CloneSearch(clone, language, prints, start, listener).run()


def _build_finished_result(
    start: SeenBodies,
    clone: SearchedClone,
    seen: Mapping[str, SeenBody],
    prints: Mapping[str, BodyPrint],
) -> SeenBodies:
    return replace(
        start,
        basis=clone.basis,
        crawled_at=clone.crawled_at,
        tips=clone.tips,
        seen=tuple(seen[body] for body in sorted(seen.keys() & prints.keys())),
        absent=tuple(sorted(prints.keys() - seen.keys())),
        state=None,
        holes=clone.holes,
    )


class _CloneSearch:
    def __init__(
        self,
        clone: SearchedClone,
        language: str,
        prints: Mapping[str, BodyPrint],
        start: SeenBodies,
        listener: SearchListener,
    ) -> None:
        """Prepare one search of a clone, from an earlier result or an interrupted state.

        The graph of its commits is loaded.
        """
        self._clone, self._prints, self._start, self._listener = clone, prints, start, listener
        self._suffixes = get_reading(language).SUFFIXES
        self._texts = BlobTexts(clone.repository, get_reading(language))
        self._trees = TreeBlobs(clone.repository, self._suffixes)
        self._graph = load_graph(clone.repository, clone.tips)
        self._dates = date_commits(self._graph)
        self._seen = {each.body: each for each in start.seen if each.body in prints}
        self._absent = set(start.absent) & prints.keys()
        # Bodies seen in commits that may no longer be reachable; these sightings are still valid.
        self._former: dict[str, SeenBody] = {}
        self._question = compute_short_hash(
            *clone.tips, clone.crawled_at.isoformat(), clone.holes, *sorted(prints)
        )

    def run(self) -> SeenBodies:
        """Run the search and return its result."""
        start = self._start
        if start.state is None:
            before = find_reachable(self._graph, start.tips)
            self._forget_outdated(before)
            self._search_new_commits(before)
            done = 0
        else:
            # The tips of a saved state are those of the interrupted search.
            done = start.state.done if start.state.question == self._question else 0
            if not done:
                self._seen.clear()
                self._absent.clear()
        self._search_whole_history(done)
        self._seen = {**self._former, **self._seen}
        return _build_finished_result(start, self._clone, self._seen, self._prints)

    def _forget_outdated(self, before: frozenset[str]) -> None:
        """Forget the results for bodies that must be searched for in the whole history again.

        If the clone has or had holes, and not the commits and holes of the earlier search, these are
        all results; else those that new commits show to be older than thought, and undated ones after a
        later crawl.
        """
        clone, start = self._clone, self._start
        is_same_content = (clone.tips, clone.holes) == (start.tips, start.holes)
        if (clone.holes or start.holes) and not is_same_content:
            self._seen.clear()
            self._absent.clear()
            return
        old_graph = {rev: commit for rev, commit in self._graph.items() if rev in before}
        older = [
            self._dates[rev]
            for rev, date in date_commits(old_graph).items()
            if self._dates[rev] < date
        ]
        since = min(older, default=None)
        is_later_crawl = self._start.crawled_at != self._clone.crawled_at
        for body, each in list(self._seen.items()):
            is_older = since is not None and (each.moment is None or each.moment > since)
            if each.no_date is NoDateReason.UNDATED and is_later_crawl:
                del self._seen[body]
            elif is_older:
                self._former[body] = self._seen.pop(body)

    def _search_new_commits(self, before: frozenset[str]) -> None:
        """Search the new commits for known bodies, as far as they may hold earlier ones.

        before  the commits of the earlier search
        """
        known = {body: self._prints[body] for body in (*self._seen, *self._absent)}
        new = [rev for rev in self._graph if rev not in before]
        if not known or not new:
            return
        latest = max((each.moment for each in self._seen.values() if each.moment), default=None)
        history = self._load_history(new)
        moments = [
            (moment, changes)
            for moment, changes in history.group_by_moment()
            if self._absent or moment is None or (latest is not None and moment <= latest)
        ]
        search = BodySearch(self._texts, self._trees, history, known)
        search.note_absent_bodies(before, frozenset(self._absent))
        for _, seen_bodies in search.run(moments):
            for each in seen_bodies:
                self._absent.discard(each.body)
                self._seen[each.body] = _choose_earlier(self._seen.get(each.body), each)

    def _search_whole_history(self, done: int) -> None:
        """Search the whole history for all bodies without a result.

        The state is saved now and then.

        done  number of moments that an interrupted search completed
        """
        wanted = {
            body: print_
            for body, print_ in self._prints.items()
            if body not in self._seen and body not in self._absent
        }
        if not wanted:
            return
        history = self._load_history(list(self._graph))
        moments = history.group_by_moment()
        kept_at = time.process_time()
        search = BodySearch(self._texts, self._trees, history, wanted)
        for number, seen_bodies in search.run(moments, done):
            for each in seen_bodies:
                self._seen[each.body] = _choose_earlier(self._former.get(each.body), each)
            self._listener.step(number, len(moments))
            if time.process_time() - kept_at >= _SECONDS_AT_RISK:
                self._save_search_state(number)
                kept_at = time.process_time()

    def _save_search_state(self, done: int) -> None:
        if self._former:
            return  # only the last complete result holds these sightings, so a kill goes back to it
        self._listener.keep(
            replace(
                self._start,
                seen=tuple(self._seen[body] for body in sorted(self._seen)),
                absent=tuple(sorted(self._absent)),
                state=SearchState(question=self._question, done=done),
            )
        )

    def _load_history(self, revs: list[str]) -> History:
        changes = load_changes(self._clone.repository, self._graph, revs, self._suffixes)
        return History(
            graph=self._graph,
            dates=self._dates,
            changes=changes,
            crawled_at=self._clone.crawled_at,
        )


def _choose_earlier(known: SeenBody | None, new: SeenBody) -> SeenBody:
    """Return the earlier of two sightings; at the same moment, one that gives no date."""
    if known is None:
        return new
    if known.moment is None or new.moment is None:
        return known if known.moment is None else new
    if known.moment != new.moment:
        return known if known.moment < new.moment else new
    return known if known.no_date else replace(known, no_date=new.no_date)
