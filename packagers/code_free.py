"""Write the code-free edition of a snapshot: all of its tables without the repositories' code.

EDITION/data/TABLE/*.parquet   the same rows, null where a column holds text of others
EDITION/data/texts/*.parquet   how to rebuild these texts from public clones (`coevo get`)
EDITION/full-*                 manifest, card and Croissant of the release as they are
EDITION/manifest.json          the edition's own, with the SHA-256 of the release's files
EDITION/README.md, croissant.json   the descriptions of the edition
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from coevo.git.repository import Repository
from coevo.model.errors import Fatal, UnsoundSnapshot
from coevo.model.schema import TABLES, build_table_of_plain_rows, build_table_schema
from coevo.model.texts import find_third_party_paths
from coevo.snapshots.code_free.hydration import describe_writer, write_release
from coevo.snapshots.code_free.recipes import FULL
from coevo.snapshots.code_free.texts import EditionTexts
from coevo.snapshots.local_copy import TIMINGS, open_local_copy
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.manifest_form import CODE_FREE
from coevo.snapshots.manifests import is_code_free
from coevo.snapshots.snapshot import load_manifest
from coevo.snapshots.table_files import write_table_file
from coevo.snapshots.verification import check_folder
from coevo.storage import durable
from coevo.storage.beneath import join_beneath
from coevo.storage.place import Root
from packagers import card, croissant, manifests, publishing
from packagers.recipe_files import RecipeWriter, TextCounts

_ROWS = 2_000

Clone = Callable[[str], Repository]


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


def write_edition(place: Path | str, target: Root, clone: Clone) -> EditionReport:
    """Write the code-free edition of a snapshot.

    clone  opens a repository, with the revisions of its pairs

    Raises: Fatal if the target has another edition; UnsoundSnapshot if the edition does not verify,
    or does not restore the snapshot.
    """
    publishing.check_target(target)
    with open_local_copy(place) as full, publishing.make_scratch_folder(target) as scratch_folder:
        if is_code_free(load_manifest(full)):
            raise Fatal(f'{place} is a code-free edition already')
        text_counts = _write_files(full, scratch_folder, clone)
        _refuse_unsound(full, scratch_folder, clone, target)
        size = sum(path.stat().st_size for path in scratch_folder.rglob('*') if path.is_file())
        written = publishing.publish_folder(scratch_folder, target)
    return EditionReport(edition=target, written=written, size=size, text_counts=text_counts)


def _write_files(full: Path, made: Path, clone: Clone) -> TextCounts:
    content = load_manifest(full)
    names = [name for name in content['files'] if name.startswith('data/')]
    for name in names:
        _copy_without_texts(full, name, join_beneath(made, name).prepare_for_writing())
    if (full / TIMINGS).is_file():
        (made / TIMINGS).parent.mkdir(parents=True)
        shutil.copyfile(full / TIMINGS, made / TIMINGS)
    text_counts, texts = RecipeWriter(full, made, clone).write_files(names)
    copied_names = [MANIFEST, *(name for name in content['files'] if name not in names)]
    for name in copied_names:
        shutil.copyfile(full / name, join_beneath(made, f'{FULL}{name}').prepare_for_writing())
    checked = manifests.compute_checksums(
        made,
        [
            *(made / name for name in names),
            *texts,
            *(made / f'{FULL}{name}' for name in copied_names),
        ],
    )
    checked |= manifests.compute_checksums(made, _write_descriptions(full, made, content, checked))
    about = {
        'kind': CODE_FREE,
        'manifest_sha256': checked[f'{FULL}{MANIFEST}']['sha256'],
        'files': content['files'],
        'texts': text_counts.texts,
        'characters': text_counts.characters,
        'words': text_counts.words,
        'written_by': describe_writer(),
    }
    own = {**content, 'edition': about, 'files': checked}
    text = f'{json.dumps(own, indent=2, sort_keys=True, ensure_ascii=False)}\n'
    durable.write_durably(made / MANIFEST, [text.encode()])
    return text_counts


def _write_descriptions(
    full: Path, made: Path, content: Mapping[str, Any], files: manifests.Checksums
) -> Iterable[Path]:
    month = content['month']
    described = croissant.render_croissant(month, files, code_free=True)
    card_text = card.render_code_free_card((full / 'README.md').read_text('utf-8'), month)
    for name, text in (('croissant.json', described), ('README.md', card_text)):
        durable.write_durably(made / name, [text.encode()])  # own name: one of two of coevo's
        yield made / name


def _copy_without_texts(full: Path, name: str, target: Path) -> None:
    """Write a file of a table with null in the columns that hold text of others."""
    table = Path(name).parts[1]
    paths = find_third_party_paths(TABLES[table]) if table in TABLES else ()
    if not paths:
        shutil.copyfile(full / name, target)  # own name: read alone
        return
    schema = build_table_schema(table, code_free=True)
    rows = _load_without_texts(full / name, sorted(paths))  # own name: read alone
    write_table_file(target, table, schema, rows, partial(build_table_of_plain_rows, schema))


def _load_without_texts(file: Path, paths: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    with pq.ParquetFile(file) as parquet:
        for batch in parquet.iter_batches(batch_size=_ROWS):
            for row in batch.to_pylist():
                for path in paths:
                    name, _, inner = path.partition('.')
                    if not inner:
                        row[name] = None
                    for element in row[name] if inner else ():
                        element[inner] = None
                yield row


def _refuse_unsound(full: Path, made: Path, clone: Clone, target: Root) -> None:
    """Raise UnsoundSnapshot unless the edition verifies and restores the snapshot.

    This happens before the edition gets its name.
    """
    findings = check_folder(made, made.parent)
    if findings:
        first = findings[0]
        raise UnsoundSnapshot(
            f'the edition would not be good ({first.table}: {first.rule}: {first.row} {first.detail}) '
            f'and {target} was not written; tell those who maintain coevo'
        )
    texts = EditionTexts(made)
    texts.use_clones(clone)
    with tempfile.TemporaryDirectory(dir=made.parent) as scratch:
        differs = write_release(made, Path(scratch) / 'snapshot', texts)
    if differs:
        raise UnsoundSnapshot(
            f'{differs[0]} would not come out of the edition as it is in {full}, so {target} was not '
            'written: if another version of pyarrow made that snapshot, use the same'
        )
