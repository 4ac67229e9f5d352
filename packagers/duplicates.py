"""Edits that stand in several pairs of a walk: branches, cherry-picks and merges repeat them, and forks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter

from coevo.model.method_rows import MethodRow
from coevo.model.words import MethodChange, Walk
from packagers.marks import Mark
from packagers.row_files import Sorter
from packagers.rows import Rows, list_rows_of_repo
from packagers.sameness import Identity, get_path_in_module, group_same_items, make_edit_key

# A test that did not change meets another change of the code in every pair: no copy of itself.
_EDITED = (MethodChange.INSERTED, MethodChange.CHANGED, MethodChange.DELETED)
_LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    """A row, as far as it matters which others repeat it; `content` stands for what they repeat."""

    content: bytes
    repo: str
    path: str
    pair_id: str
    method_id: str
    walk: Walk
    old_is_ancestor: bool | None
    date: datetime | None


def mark_duplicates(rows: Rows) -> Iterator[Mark]:
    """Marks whose `duplicate_of` is the earliest edit of the same test to the same text.

    Branches, cherry-picks and merges repeat an edit in other pairs of the walk, forks in theirs. What
    a pair of branches that interleave repeats is never the original of a pair that somebody made.
    """
    sorter = Sorter(_Edit, rows.space)
    for edited_row in _list_edits(rows):
        sorter.add((edited_row.content,), edited_row)
    for _, same in groupby(sorter.finish(), key=attrgetter('content')):
        for group in group_same_items(same, _make_identity):
            yield from _mark_copies(group)


def _list_edits(rows: Rows) -> Iterator[_Edit]:
    families = {row.repo: row.family or row.repo for row in rows.repositories}
    for repo, methods in groupby(rows.methods, key=attrgetter('repo')):
        pairs = list_rows_of_repo(rows.pairs, repo)
        dates = {(pair.pair_id, pair.walk): pair.new_committer_date for pair in pairs}
        for row in methods:
            if row.change in _EDITED:
                yield _make_edit(row, families[repo], dates)


def _make_edit(
    row: MethodRow, family: str, dates: Mapping[tuple[str, Walk], datetime | None]
) -> _Edit:
    verdict = (family, row.language, row.walk, row.label, row.label_by_module)
    content = repr((*verdict, get_path_in_module(row), make_edit_key([row])))
    return _Edit(
        content=hashlib.blake2b(content.encode(), digest_size=16).digest(),
        repo=row.repo,
        path=f'{row.module} {row.test_file}',
        pair_id=row.pair_id,
        method_id=row.method_id,
        walk=row.walk,
        old_is_ancestor=row.old_is_ancestor,
        date=dates.get((row.pair_id, row.walk)),
    )


def _make_identity(row: _Edit) -> Identity:
    return Identity(content=row.content, repo=row.repo, path=row.path)


def _mark_copies(group: Sequence[_Edit]) -> Iterator[Mark]:
    first, *copies = sorted(group, key=_get_age_key)
    for row in copies:
        yield Mark(
            repo=row.repo,
            method_id=row.method_id,
            walk=row.walk,
            duplicate_of=first.method_id,
        )


def _get_age_key(row: _Edit) -> tuple[bool, datetime, str, str]:
    return row.old_is_ancestor is False, row.date or _LATEST, row.repo, row.pair_id
