"""The file ATTRIBUTION of a release: whose code it holds, under which licence, with its text.

It is a heading and a section for each set of licence files of a repository. A section is made of
pieces, as every text of an edition is, so that an edition without code holds no licence text either.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.snapshots.code_free.attribution import HEADING
from coevo.snapshots.code_free.recipes import SourceForm, TextPiece, TextSource
from coevo.snapshots.code_free.tables import list_files_with_texts, load_pair_ids, load_rows

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
