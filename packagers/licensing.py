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


def fill_licences(rows: Rows, licence: Licence) -> Rows:
    """Return the rows with `license`: of a pair at its new revision, of a repository at its
    walk's head."""
    return rows.replace_tables(
        repositories=(
            dataclasses.replace(row, license=licence(row.repo, row.head))
            for row in rows.repositories
        ),
        pairs=(
            dataclasses.replace(row, license=licence(row.repo, row.new_rev)) for row in rows.pairs
        ),
    )


def withhold_unpublishable_rows(rows: Rows, accepted: Collection[str]) -> Rows:
    """Return the rows without what may not be published, with a drop for each labelled method
    removed.

    accepted  SPDX ids that are accepted although the OSI has not approved them
    """
    taken_back = {
        (str(withdrawal.kind), withdrawal.id): withdrawal.reason for withdrawal in rows.withdrawals
    }
    withheld: dict[tuple[str | None, Walk], tuple[Reason, str | None]] = {
        (pair.pair_id, pair.walk): why
        for pair in rows.pairs
        if (why := _explain_withholding(pair, accepted, taken_back)) is not None
    }
    if not withheld:
        return rows
    reasons = {pair_key: reason for pair_key, (reason, _) in withheld.items()}
    drops = (
        Drop.make_at_stage(
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
        Drop.make_at_stage(
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
    pair: PairRow, accepted: Collection[str], taken_back: Mapping[tuple[str, str], str]
) -> tuple[Reason, str | None] | None:
    """Return why a pair is not published, and a detail for its drops; None if it is published."""
    for withdrawal_key in (('repository', pair.repo), ('pair', pair.pair_id)):
        if withdrawal_key in taken_back:
            return Reason.WITHDRAWN, taken_back[withdrawal_key]
    reason = _check_licence(pair.license, accepted)
    return None if reason is None else (reason, pair.license)


def _check_licence(licence: str | None, accepted: Collection[str]) -> Reason | None:
    if licence is None:
        return Reason.LICENCE_UNKNOWN
    return None if licences.is_approved(licence, accepted) else Reason.LICENCE_NOT_OSI


def _join_detail(told: str | None, label: str | None) -> str:
    return ': '.join(filter(None, (told, label)))


def _drop_withheld(
    rows: Iterable[Placed], gone: Mapping[tuple[str | None, Walk], Reason]
) -> Iterator[Placed]:
    return (row for row in rows if (row.pair_id, row.walk) not in gone)
