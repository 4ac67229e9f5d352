"""Decide what may be published: the code of pairs whose licence at new is known and approved.

For other pairs, the data keep the pairs themselves, their drops and the number of their methods,
but nothing that was taken from the repository.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import TypeVar

from coevo.model import licences
from coevo.model.drops import Drop, DropLocation
from coevo.model.pair_rows import PairRow
from coevo.model.reasons import Reason
from coevo.model.words import Stage, Walk
from packagers.rows import Rows

Placed = TypeVar('Placed', bound=DropLocation)

# Returns the SPDX expression of a repository at a revision; None if unknown.
Licence = Callable[[str, str], str | None]


def fill_licences(
    rows: Rows, licence: Licence, is_silent: Callable[[str, str], bool] = lambda repo, rev: False
) -> Rows:
    """Return the rows with the licences of their pairs and repositories filled in.

    A pair has that of its new revision, a repository that of its walk's head.

    A licence that was added later says nothing of the texts of an older tree, but it does say that
    the project is free: if a revision is silent on licences, its pair gets `later_license`, by
    which its rows may be published without their texts. A licence file that coevo does not know is
    not silence.
    """
    repositories = tuple(
        dataclasses.replace(row, license=licence(row.repo, row.head)) for row in rows.repositories
    )
    later = {(row.repo, row.language, row.walk): row.license for row in repositories}
    return rows.replace_tables(
        repositories=repositories,
        pairs=(_fill_pair_licence(row, licence, is_silent, later) for row in rows.pairs),
    )


def _fill_pair_licence(
    row: PairRow,
    licence: Licence,
    is_silent: Callable[[str, str], bool],
    later: Mapping[tuple[str, str, Walk], str | None],
) -> PairRow:
    own = licence(row.repo, row.new_rev)
    other = None
    if own is None and is_silent(row.repo, row.new_rev):
        other = later.get((row.repo, row.language, row.walk))
    return dataclasses.replace(row, license=own, later_license=other)


def withhold_unpublishable_rows(
    rows: Rows, accepted: Collection[str], *, is_private: bool = False
) -> Rows:
    """Return the rows without those that may not be published.

    Each removed label and test file gets a drop. Pairs stay. Withdrawn pairs and repositories are
    removed in any case.

    accepted    SPDX ids that are accepted although the OSI has not approved them
    is_private  whether the release is for its owner alone, so that licences keep nothing out
    """
    taken_back = {
        (str(withdrawal.kind), withdrawal.id): withdrawal.reason for withdrawal in rows.withdrawals
    }
    withheld: dict[tuple[str | None, Walk], tuple[Reason, str | None]] = {
        (pair.pair_id, pair.walk): why
        for pair in rows.pairs
        if (why := _explain_withholding(pair, accepted, taken_back, is_private)) is not None
    }
    if not withheld:
        return rows
    reasons = {pair_key: reason for pair_key, (reason, _) in withheld.items()}
    drops = (
        Drop.make_drop_at_stage(
            Stage.PUBLISH,
            row,
            row.method_id,
            reasons[pair_key],
            _join_detail(withheld[pair_key][1], row.label),
        ).with_method(row, row.change)
        for row in rows.methods
        if (pair_key := (row.pair_id, row.walk)) in reasons
    )
    files = (
        Drop.make_drop_at_stage(
            Stage.SINGLE_REVISION,
            row,
            row.suite_id,
            Reason.FILE_NOT_PUBLISHED,
            _join_detail(withheld[pair_key][1], None),
        )
        for row in rows.single_revision
        if (pair_key := (row.pair_id, row.walk)) in reasons and row.adequacy is not None
    )
    # A method leaves the funnel once: if it is not published, it cannot lose its track.
    kept_drops = (
        drop
        for drop in rows.drops
        if drop.stage is not Stage.TRACK or (drop.pair_id, drop.walk) not in reasons
    )
    return rows.replace_tables(
        methods=_drop_withheld(rows.methods, reasons),
        cells=_drop_withheld(rows.cells, reasons),
        dependency_map=_drop_withheld(rows.dependency_map, reasons),
        mutants=_drop_withheld(rows.mutants, reasons),
        reversals=_drop_withheld(rows.reversals, reasons),
        refactorings=_drop_withheld(rows.refactorings, reasons),
        single_revision=_drop_withheld(rows.single_revision, reasons),
        drops=chain(kept_drops, drops, files),
    )


def _explain_withholding(
    pair: PairRow,
    accepted: Collection[str],
    taken_back: Mapping[tuple[str, str], str],
    is_private: bool,
) -> tuple[Reason, str | None] | None:
    """Return why a pair is not published, and a detail for its drops; None if it is published."""
    for withdrawal_key in (('repository', pair.repo), ('pair', pair.pair_id)):
        if withdrawal_key in taken_back:
            return Reason.WITHDRAWN, taken_back[withdrawal_key]
    if is_private:
        return None
    governing = pair.license or pair.later_license
    reason = check_licence(governing, accepted)
    return None if reason is None else (reason, governing)


def check_licence(licence: str | None, accepted: Collection[str]) -> Reason | None:
    """Return why rows under a licence are not published; None if they are.

    licence   SPDX expression; None is unknown, so that nothing is published
    accepted  SPDX ids that are accepted although the OSI has not approved them
    """
    if licence is None:
        return Reason.LICENCE_UNKNOWN
    return None if licences.is_approved(licence, accepted) else Reason.LICENCE_NOT_OSI


def _join_detail(told: str | None, label: str | None) -> str:
    return ': '.join(filter(None, (told, label)))


def _drop_withheld(
    rows: Iterable[Placed], gone: Mapping[tuple[str | None, Walk], Reason]
) -> Iterator[Placed]:
    return (row for row in rows if (row.pair_id, row.walk) not in gone)
