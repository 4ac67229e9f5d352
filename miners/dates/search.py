"""The earliest commit of a history that brings each of some bodies in.

A commit brings in a body that stands in its tree and in no tree of a parent. A root commit, and one at a
shallow border, brings in every body of its tree. Commits are looked at in the order of their dates
(`miners.dates.history.date_commits`), so the first that brings a body in is the earliest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from coevo.languages.prints import BodyPrint
from coevo.storage.dates import NoDateReason, SeenBody
from miners.dates.bulk import is_bulk
from miners.dates.history import EPOCH, CommitChange, Graph, is_undated
from miners.dates.scanning import BlobTexts, BodyScanner, TreeBlobs


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Commits of a clone, descendants first; their dates; and those that change a language's files."""

    graph: Graph
    dates: Mapping[str, datetime]
    changes: Sequence[CommitChange]
    crawled_at: datetime

    def group_by_moment(self) -> list[tuple[datetime | None, list[CommitChange]]]:
        """The changes of each moment, in order. What has no date at all comes first."""
        places = {rev: position for position, rev in enumerate(self.graph)}

        def get_sort_key(change: CommitChange) -> tuple[bool, float, int]:
            date = self.dates.get(change.rev)
            return date is not None, date.timestamp() if date else 0.0, -places[change.rev]

        ordered = sorted(self.changes, key=get_sort_key)
        groups = groupby(ordered, key=lambda change: self.dates.get(change.rev))
        return [(moment, list(group)) for moment, group in groups]


class BodySearch:
    """One search of a history for some bodies, moment after moment."""

    def __init__(
        self, texts: BlobTexts, trees: TreeBlobs, history: History, prints: Mapping[str, BodyPrint]
    ) -> None:
        self._texts, self._trees, self._history = texts, trees, history
        self._scanner = BodyScanner(texts, prints)
        self._bulk: dict[str, bool] = {}
        self._since = _find_first_hole(history, texts.lacked)
        self._before, self._absent = frozenset[str](), frozenset[str]()

    @property
    def open_bodies(self) -> AbstractSet[str]:
        """The bodies that were not seen yet."""
        return self._scanner.open.keys()

    def note_absent(self, revs: frozenset[str], bodies: frozenset[str]) -> None:
        """Know of some commits that none of them holds some bodies."""
        self._before, self._absent = revs, bodies

    def run(
        self, moments: Sequence[tuple[datetime | None, Sequence[CommitChange]]], first: int = 0
    ) -> Iterator[tuple[int, list[SeenBody]]]:
        """Yield after each moment how many are done, and the bodies that were brought in then.

        first  how many of them an earlier run was done with
        """
        blobs = [
            oid for _, changes in moments[first:] for each in changes for oid in each.added_blobs
        ]
        stream = self._texts.stream_blobs(
            oid for oid in dict.fromkeys(blobs) if self._is_available(oid)
        )
        for number, (moment, changes) in enumerate(moments[first:], start=first + 1):
            if not self.open_bodies:
                return
            for oid in (oid for change in changes for oid in change.added_blobs):
                while self._is_available(oid) and oid not in self._scanner.scanned:
                    self._scanner.find_bodies_in_blob(*next(stream))
            yield number, list(self._find_seen_bodies(moment, changes))

    def _is_available(self, oid: str) -> bool:
        return oid not in self._texts.lacked

    def _find_seen_bodies(
        self, moment: datetime | None, changes: Sequence[CommitChange]
    ) -> Iterator[SeenBody]:
        brought: dict[str, list[CommitChange]] = {}
        for change in changes:
            for body in self._find_added_bodies(change):
                brought.setdefault(body, []).append(change)
        for body, deciding in sorted(brought.items()):
            self._scanner.close_body(body)
            whys = [why for change in deciding if (why := self._explain_no_date(change, moment))]
            yield SeenBody(
                body=body,
                rev=deciding[0].rev,
                moment=moment,
                no_date=whys[0] if whys else None,
            )

    def _find_added_bodies(self, change: CommitChange) -> frozenset[str]:
        """The open bodies of a commit that no parent has."""
        fresh = frozenset[str]().union(*map(self._scanner.find_bodies, change.added_blobs))
        parents = change.parents or ('',)
        for parent, difference in zip(parents, change.differences, strict=True):
            absent = self._absent if parent in self._before else frozenset[str]()
            for oid in difference.removed_blobs:
                if fresh <= absent:
                    break
                fresh -= self._scanner.find_bodies(oid) - absent
        for parent in change.parents:
            absent = self._absent if parent in self._before else frozenset[str]()
            if not fresh <= absent:
                fresh -= self._find_in_tree(parent, fresh - absent)
        return fresh

    def _find_in_tree(self, rev: str, bodies: Iterable[str]) -> frozenset[str]:
        blobs = self._trees.list_blobs(rev)
        for oid in sorted(blobs - self._scanner.scanned):
            self._scanner.find_bodies(oid)
        holders = self._scanner.holders
        return frozenset(body for body in bodies if not blobs.isdisjoint(holders[body]))

    def _explain_no_date(
        self, change: CommitChange, moment: datetime | None
    ) -> NoDateReason | None:
        if is_undated(self._history.graph[change.rev], self._history.crawled_at):
            return NoDateReason.UNDATED
        if self._since is not None and (moment is None or moment >= self._since):
            return NoDateReason.LACKING
        if change.rev not in self._bulk:
            self._bulk[change.rev] = is_bulk(change, self._texts, self._trees)
        return NoDateReason.BULK if self._bulk[change.rev] else None


def _find_first_hole(history: History, lacked: AbstractSet[str]) -> datetime | None:
    """From when on a body may have stood in a file that the clone lacks."""
    if not lacked:
        return None
    holes = (
        history.dates.get(change.rev, EPOCH)
        for change in history.changes
        if not change.blobs.isdisjoint(lacked)
    )
    return min(holes, default=None)
