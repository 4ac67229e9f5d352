"""Write an edition of a snapshot: all of its tables, without the texts of some or all pairs.

EDITION/data/TABLE/*.parquet   the same rows; null where a column holds text that is withheld
EDITION/data/texts/*.parquet   how to rebuild these texts from public clones (`coevo get`)
EDITION/full-*                 manifest, card and Croissant of the release as they are
EDITION/manifest.json          the edition's own, with the SHA-256 of the release's files
EDITION/ATTRIBUTION            the licences of the texts that it holds
EDITION/README.md, croissant.json   the descriptions of the edition

A code-free edition holds no texts at all, a partial one those of the pairs that it names.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.git.repository import Repository
from coevo.model.dictionary import TEXTS_WITHHELD, find_third_party_paths
from coevo.model.errors import Fatal, UnsoundSnapshot
from coevo.model.schema import TABLES
from coevo.snapshots.code_free.hydration import (
    ATTRIBUTION,
    FilledPairs,
    refresh_card,
    refresh_croissant,
    write_release_and_list_differing_files,
)
from coevo.snapshots.code_free.recipes import FULL
from coevo.snapshots.code_free.texts import EditionTexts
from coevo.snapshots.local_copy import open_local_copy
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.manifests import (
    CODE_FREE,
    PARTIAL,
    has_withheld_texts,
    is_code_free,
    list_filled_pairs,
    refuse_private,
)
from coevo.snapshots.snapshot import load_manifest
from coevo.snapshots.verification import verify_folder
from coevo.storage import durable
from coevo.storage.beneath import join_beneath
from coevo.storage.place import Root
from packagers import card, croissant, manifests, publishing
from packagers.editions import blank_texts, copy_timings, rewrite_table_file, write_edition_manifest
from packagers.licensing import (
    FindLicenceFiles,
    LicenceFile,
    build_sections,
    list_attributed_pairs,
    render_attribution,
)
from packagers.recipe_files import RecipeWriter, TextCounts

Clone = Callable[[str], Repository]


def _find_no_files(repo: str, rev: str) -> tuple[LicenceFile, ...]:
    """Return no licence files."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionReport:
    """The result of writing an edition; `written` is false if the same edition existed already."""

    edition: Root
    written: bool
    size: int
    text_counts: TextCounts

    @property
    def sentence(self) -> str:
        """A sentence about the edition for the user."""
        done = 'written' if self.written else 'already there, with the same bytes'
        return (
            f'{self.edition}: code-free, {self.size / 1e6:.1f} MB, {self.text_counts.texts} texts left out '
            f'({self.text_counts.characters} characters, of which {self.text_counts.words} are in no file of the '
            f'repositories); {done}'
        )


def write_edition(
    place: Path | str, target: Root, clone: Clone, find_files: FindLicenceFiles = _find_no_files
) -> EditionReport:
    """Write and publish the code-free edition of a snapshot, and return what was written.

    The snapshot may itself withhold some texts; these are restored from clones first.

    clone       opens a repository, with the revisions of its pairs
    find_files  returns the licence files that the file ATTRIBUTION of the snapshot shows

    Raises: Fatal if the target has another edition, or the snapshot is private or code-free;
    UnsoundSnapshot if the edition does not verify, or does not restore the snapshot.
    """
    refuse_private(load_manifest(place), place, 'for others, as a code-free edition is')
    publishing.check_snapshot_target(target)
    with open_local_copy(place) as given, publishing.make_scratch_folder(target) as scratch_folder:
        full = given
        content = load_manifest(given)
        if is_code_free(content):
            raise Fatal(f'{place} is a code-free edition already')
        if has_withheld_texts(content):
            full = scratch_folder.parent / 'release'
            _restore_release(given, full, clone)
        counts = write_edition_files(full, scratch_folder, clone, find_files)
        refuse_unsound_edition(full, scratch_folder, clone, target)
        size = sum(path.stat().st_size for path in scratch_folder.rglob('*') if path.is_file())
        written = publishing.publish_folder(scratch_folder, target)
    return EditionReport(edition=target, written=written, size=size, text_counts=counts)


def _restore_release(edition: Path, release: Path, clone: Clone) -> None:
    """Write the whole release of a partial edition into the folder `release`.

    Raises: UnsoundSnapshot if it gives other bytes than the release has.
    """
    texts = EditionTexts(edition)
    texts.set_source_repositories(lambda source: clone(source.repo))
    differs = write_release_and_list_differing_files(
        edition, release, texts, list_filled_pairs(load_manifest(edition))
    )
    if differs:
        raise UnsoundSnapshot(f'{differs[0]} of {edition} does not come out of its clones')


def write_edition_files(
    full: Path,
    made: Path,
    clone: Clone,
    find_files: FindLicenceFiles,
    filled: FilledPairs | None = None,
) -> TextCounts:
    """Write the files of an edition into a new folder; return the number of withheld texts.

    full    the folder of the whole release
    made    the new folder
    filled  the pairs whose texts it holds, by repository; None for a code-free edition
    """
    content = load_manifest(full)
    whole = frozenset(pair_id for pair_ids in (filled or {}).values() for pair_id in pair_ids)
    names = [name for name in content['files'] if name.startswith('data/')]
    for name in names:
        _copy_without_texts(full, name, join_beneath(made, name).make_parents_and_get_path(), whole)
    copy_timings(full, made)
    writer = RecipeWriter(full, made, clone, whole)
    attributed = ATTRIBUTION in content['files']
    if attributed:
        sections = [*build_sections(list_attributed_pairs(full), find_files)]
        writer.add_sections(sections)
    text_counts, texts = writer.write_files(names)
    others = [name for name in content['files'] if name not in names and name != ATTRIBUTION]
    copied_names = [MANIFEST, *others]
    for name in copied_names:
        shutil.copyfile(
            full / name, join_beneath(made, f'{FULL}{name}').make_parents_and_get_path()
        )
    paths = [
        *(made / name for name in names),
        *texts,
        *(made / f'{FULL}{name}' for name in copied_names),
    ]
    if attributed and whole:
        filled_sections = (
            section for section in sections if not whole.isdisjoint(section.pair_ids)
        )
        durable.write_durably(made / ATTRIBUTION, [render_attribution(filled_sections).encode()])
        paths.append(made / ATTRIBUTION)
    checked = manifests.compute_checksums(made, paths)
    described = _write_descriptions(full, made, content, checked, filled)
    checked |= manifests.compute_checksums(made, described)
    about = {
        'kind': CODE_FREE,
        'manifest_sha256': checked[f'{FULL}{MANIFEST}']['sha256'],
        'files': content['files'],
        'texts': text_counts.texts,
        'characters': text_counts.characters,
        'words': text_counts.words,
    }
    if filled is not None:
        listed = {repo: sorted(pair_ids) for repo, pair_ids in sorted(filled.items())}
        about |= {'kind': PARTIAL, 'filled': listed}
    write_edition_manifest(made, content, about, checked)
    return text_counts


def _write_descriptions(
    full: Path,
    made: Path,
    content: Mapping[str, Any],
    files: manifests.Checksums,
    filled: FilledPairs | None,
) -> Iterator[Path]:
    month, card_text = content['month'], (full / 'README.md').read_text('utf-8')
    if filled is None:
        described = croissant.render_croissant(month, files, code_free=True)
        card_text = card.render_code_free_card(card_text, month)
    else:
        text = (full / 'croissant.json').read_text('utf-8')
        described = refresh_croissant(text, files, full)
        card_text = refresh_card(card_text, filled)
    for name, text in (('croissant.json', described), ('README.md', card_text)):
        durable.write_durably(made / name, [text.encode()])  # own name: one of two of coevo's
        yield made / name


def _copy_without_texts(full: Path, name: str, target: Path, whole: Collection[str]) -> None:
    """Write a file of a table with null wherever a column holds text.

    Rows of pairs in `whole` keep their texts.
    """
    table = Path(name).parts[1]
    paths = find_third_party_paths(TABLES[table]) if table in TABLES else ()
    if not paths:
        shutil.copyfile(full / name, target)  # own name: read alone
        return

    def hide(row: dict[str, Any]) -> dict[str, Any]:
        """Return a row without its texts, unless its pair keeps them."""
        if row['pair_id'] not in whole:
            row[TEXTS_WITHHELD] = True
            blank_texts(row, paths)
        return row

    rewrite_table_file(full / name, target, table, hide)  # own name: read alone


def refuse_unsound_edition(full: Path, made: Path, clone: Clone, target: Root) -> None:
    """Raise UnsoundSnapshot unless an edition verifies and restores the release.

    This happens before the edition is published.

    full  the folder of the release
    made  the folder of the edition
    """
    findings = verify_folder(made, made.parent)
    if findings:
        first = findings[0]
        raise UnsoundSnapshot(
            f'the edition would not be good ({first.table}: {first.rule}: {first.row} {first.detail}) '
            f'and {target} was not written; tell those who maintain coevo'
        )
    texts = EditionTexts(made)
    texts.set_source_repositories(lambda source: clone(source.repo))
    with tempfile.TemporaryDirectory(dir=made.parent) as scratch:
        filled = list_filled_pairs(load_manifest(made))
        differs = write_release_and_list_differing_files(
            made, Path(scratch) / 'snapshot', texts, filled
        )
    if differs:
        raise UnsoundSnapshot(
            f'{differs[0]} would not come out of the edition as it is in {full}, so {target} was not '
            'written: if another version of pyarrow made that snapshot, use the same'
        )
