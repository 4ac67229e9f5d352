"""The code-free edition of a snapshot: all of its tables, without a word of the repositories' code.

EDITION/data/TABLE/*.parquet   the same rows, null where a column holds text of others
EDITION/data/texts/*.parquet   how these texts are put together from public clones (`coevo hydrate`)
EDITION/full-*                 manifest, card and Croissant of the release as they are
EDITION/manifest.json          its own, with the SHA-256 of the release's files
EDITION/README.md, croissant.json   which say what it is
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from coevo.git.repository import Repository
from coevo.model.errors import Fatal
from coevo.model.errors import Unsound
from coevo.model.schema import TABLES
from coevo.model.schema import columns_of
from coevo.model.schema import table_of_plain
from coevo.model.texts import paths_of_others
from coevo.snapshots.code_free.hydration import fill
from coevo.snapshots.code_free.hydration import writer
from coevo.snapshots.code_free.recipes import FULL
from coevo.snapshots.code_free.texts import Texts
from coevo.snapshots.local_copy import TIMINGS
from coevo.snapshots.local_copy import local
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.manifest_form import CODE_FREE
from coevo.snapshots.manifests import is_code_free
from coevo.snapshots.snapshot import manifest
from coevo.snapshots.table_files import write_rows
from coevo.snapshots.verification import check
from coevo.storage import durable
from coevo.storage.beneath import beneath
from coevo.storage.place import Root
from packagers import card
from packagers import croissant
from packagers import manifests
from packagers import publishing
from packagers.recipe_files import RecipeFiles
from packagers.recipe_files import Told

_ROWS = 2_000

Clone = Callable[[str], Repository]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionReport:
    """What an edition is; `written` is false where the same one was there already."""

    edition: Root
    written: bool
    size: int
    told: Told

    @property
    def sentence(self) -> str:
        done = 'written' if self.written else 'already there, with the same bytes'
        return (
            f'{self.edition}: code-free, {self.size / 1e6:.1f} MB, {self.told.texts} texts left out '
            f'({self.told.characters} characters, of which {self.told.words} are in no file of the '
            f'repositories); {done}'
        )


def edit(place: Path | str, target: Root, clone: Clone) -> EditionReport:
    """Write the code-free edition of a snapshot; Fatal if another one is there.

    clone  of a repository, with the revisions of its pairs
    Unsound if it does not verify, or if what is filled in is not the snapshot again.
    """
    publishing.check(target)
    with local(place) as full, publishing.scratch(target) as made:
        if is_code_free(manifest(full)):
            raise Fatal(f'{place} is a code-free edition already')
        told = _write(full, made, clone)
        _refuse_unsound(full, made, clone, target)
        size = sum(path.stat().st_size for path in made.rglob('*') if path.is_file())
        written = publishing.put(made, target)
    return EditionReport(edition=target, written=written, size=size, told=told)


def _write(full: Path, made: Path, clone: Clone) -> Told:
    content = manifest(full)
    names = [name for name in content['files'] if name.startswith('data/')]
    for name in names:
        _empty(full, name, beneath(made, name).prepare())
    if (full / TIMINGS).is_file():
        (made / TIMINGS).parent.mkdir(parents=True)
        shutil.copyfile(full / TIMINGS, made / TIMINGS)
    told, texts = RecipeFiles(full, made, clone).write(names)
    kept = [MANIFEST, *(name for name in content['files'] if name not in names)]
    for name in kept:
        shutil.copyfile(full / name, beneath(made, f'{FULL}{name}').prepare())
    checked = manifests.checksums(
        made, [*(made / name for name in names), *texts, *(made / f'{FULL}{name}' for name in kept)]
    )
    checked |= manifests.checksums(made, _descriptions(full, made, content, checked))
    about = {
        'kind': CODE_FREE,
        'manifest_sha256': checked[f'{FULL}{MANIFEST}']['sha256'],
        'files': content['files'],
        'texts': told.texts,
        'characters': told.characters,
        'words': told.words,
        'written_by': writer(),
    }
    own = {**content, 'edition': about, 'files': checked}
    text = f'{json.dumps(own, indent=2, sort_keys=True, ensure_ascii=False)}\n'
    durable.write(made / MANIFEST, [text.encode()])
    return told


def _descriptions(
    full: Path, made: Path, content: Mapping[str, Any], files: manifests.Checksums
) -> Iterable[Path]:
    month = content['month']
    described = croissant.text(month, files, code_free=True)
    told = card.without_code((full / 'README.md').read_text('utf-8'), month)
    for name, text in (('croissant.json', described), ('README.md', told)):
        durable.write(made / name, [text.encode()])  # own name: one of two of coevo's
        yield made / name


def _empty(full: Path, name: str, target: Path) -> None:
    """Write a file of a table, its columns with text of others null."""
    table = Path(name).parts[1]
    paths = paths_of_others(TABLES[table]) if table in TABLES else ()
    if not paths:
        shutil.copyfile(full / name, target)  # own name: read alone
        return
    schema = columns_of(table, code_free=True)
    rows = _emptied(full / name, sorted(paths))  # own name: read alone
    write_rows(target, table, schema, rows, partial(table_of_plain, schema))


def _emptied(file: Path, paths: Iterable[str]) -> Iterator[Mapping[str, Any]]:
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
    """Nothing has its name before it is good, and gives the snapshot again."""
    findings = check(made, made.parent)
    if findings:
        first = findings[0]
        raise Unsound(
            f'the edition would not be good ({first.table}: {first.rule}: {first.row} {first.detail}) '
            f'and {target} was not written; tell those who maintain coevo'
        )
    texts = Texts(made)
    texts.take(clone)
    with tempfile.TemporaryDirectory(dir=made.parent) as scratch:
        differs = fill(made, Path(scratch) / 'snapshot', texts)
    if differs:
        raise Unsound(
            f'{differs[0]} would not come out of the edition as it is in {full}, so {target} was not '
            'written: if another version of pyarrow made that snapshot, use the same'
        )
