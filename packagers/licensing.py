"""Decide what may be published under its licence, and write the file ATTRIBUTION.

For other pairs, the data keep the pairs themselves, their drops and the number of their methods,
but nothing that was taken from the repository.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

from coevo.model import licences
from coevo.model.pair_rows import PairRow
from coevo.model.reasons import Reason
from coevo.model.records import Drop, DropLocation
from coevo.model.words import Stage, Walk
from coevo.snapshots.code_free.hydration import HEADING
from coevo.snapshots.code_free.recipes import SourceForm, TextPiece, TextSource
from coevo.snapshots.code_free.texts import list_files_with_texts, load_pair_ids, load_rows
from packagers.rows import Rows

# Decide what may be published: the code of pairs whose licence at new is known and approved.

Placed = TypeVar('Placed', bound=DropLocation)

# Returns the SPDX expression of a repository at a revision; None if unknown.
Licence = Callable[[str, str], str | None]


def fill_licences(
    rows: Rows, licence: Licence, is_silent: Callable[[str, str], bool] = lambda repo, rev: False
) -> Rows:
    """Return the rows with the licences of their pairs and repositories filled in.

    A pair has the licence of its new revision, and a repository that of its walk's head.

    If a revision has no licence, its pair gets the licence of the head as `later_license`. This
    licence does not cover the texts of the older tree, but since the project is free, the rows may
    be published without texts. A revision with a licence file that coevo does not know gets none.
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


# The file ATTRIBUTION of a release: whose code it holds, under which licence, with its text.
#
# It is a heading and a section for each set of licence files of a repository. A section is made of
# pieces, as every text of an edition is, so that an edition without code holds no licence text
# either.

_FENCE = '`' * 8


@dataclass(frozen=True, slots=True, kw_only=True)
class LicenceFile:
    """A licence file or notice at the root of a revision."""

    path: str
    blob: str
    text: str


FindLicenceFiles = Callable[[str, str], Sequence[LicenceFile]]
"""Returns the licence files and notices of a repository at a revision."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class AttributedPair:
    """A pair whose code a release holds; `date` is that of its new revision, as text."""

    repo: str
    date: str
    new_rev: str
    pair_id: str
    url: str | None
    license: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributionSection:
    """The section of the pairs of a repository that have the same licence files.

    sources  the licence files, to which the pieces refer by their place in this tuple
    """

    pair_ids: tuple[str, ...]
    pieces: tuple[TextPiece, ...]
    sources: tuple[TextSource, ...]
    texts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The text of the section."""
        return ''.join(
            piece.words if piece.source is None else self.texts[piece.source]
            for piece in self.pieces
        )


def list_attributed_pairs(full: Path) -> Iterator[AttributedPair]:
    """Yield the pairs whose code a release's folder holds.

    They have rows in a table with texts.
    """
    urls = {row['repo']: row['url'] for row in load_rows(full, 'repositories')}
    published = {id_ for name in list_files_with_texts(full) for id_ in load_pair_ids(full / name)}
    for row in load_rows(full, 'pairs'):
        if row['pair_id'] in published:
            yield AttributedPair(
                repo=row['repo'],
                date=str(row['new_committer_date'] or ''),
                new_rev=row['new_rev'],
                pair_id=row['pair_id'],
                url=urls.get(row['repo']),
                license=row['license'],
            )


def build_sections(
    pairs: Iterable[AttributedPair], find_files: FindLicenceFiles
) -> Iterator[AttributionSection]:
    """Yield the sections, sorted by repository and the date of their newest pair."""
    groups: dict[tuple[str, str, tuple[str, ...]], list[AttributedPair]] = defaultdict(list)
    files: dict[tuple[str, str, tuple[str, ...]], Sequence[LicenceFile]] = {}
    for pair in sorted(set(pairs), key=lambda one: (one.repo, one.date, one.new_rev, one.pair_id)):
        licence_files = find_files(pair.repo, pair.new_rev)
        key = (
            pair.repo,
            pair.license or '',
            tuple(f'{file.path} {file.blob}' for file in licence_files),
        )
        groups[key].append(pair)
        files[key] = licence_files
    for key, members in groups.items():
        yield _build_section(members, files[key])


def _build_section(
    pairs: Sequence[AttributedPair], files: Sequence[LicenceFile]
) -> AttributionSection:
    newest = pairs[-1]
    revs = len({pair.new_rev for pair in pairs})
    head = (
        f'\n## {newest.repo}\n\n'
        f'- address: {newest.url or "not known"}\n'
        f'- commit: {newest.new_rev}{f", the newest of {revs}" if revs > 1 else ""}\n'
        f'- licence: {newest.license or "none at the commit"}\n'
    )
    pieces = [TextPiece(words=head)]
    for number, file in enumerate(files):
        pieces += [
            TextPiece(words=f'\n{file.path}:\n\n{_FENCE}text\n'),
            TextPiece(source=number, length=len(file.text)),
            TextPiece(words=f'\n{_FENCE}\n'),
        ]
    if not files:
        pieces.append(
            TextPiece(words='\nIts build file names the licence; it has no licence file.\n')
        )
    sources = tuple(
        TextSource(
            repo=newest.repo,
            rev=newest.new_rev,
            path=file.path,
            blob=file.blob,
            form=SourceForm.TEXT,
        )
        for file in files
    )
    return AttributionSection(
        pair_ids=tuple(sorted({pair.pair_id for pair in pairs})),
        pieces=tuple(pieces),
        sources=sources,
        texts=tuple(file.text for file in files),
    )


def render_attribution(sections: Iterable[AttributionSection]) -> str:
    """Return the content of the file ATTRIBUTION: its heading and all sections."""
    return ''.join((HEADING, *(section.text for section in sections)))
