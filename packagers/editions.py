"""Write what all editions of a snapshot have in common, and the edition without the developers'
answers.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.judging.start_states import (
    collect_files_differing_at_start,
    encode_files_as_json,
    restore_start_file,
)
from coevo.git.repository import Repository
from coevo.model.dictionary import KEPT_WITHOUT_GOLD, TEXTS_WITHHELD, find_third_party_paths
from coevo.model.errors import Fatal, UnsoundSnapshot
from coevo.model.families import Family
from coevo.model.schema import TABLES, build_table_of_plain_rows, build_table_schema
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.code_free.hydration import (
    ATTRIBUTION,
    describe_parquet_writer,
    refresh_croissant,
)
from coevo.snapshots.local_copy import TIMINGS, open_local_copy
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.manifests import (
    GOLD_WITHHELD,
    compute_release_sha256,
    is_code_free,
    refuse_private,
    refuse_without_gold,
)
from coevo.snapshots.snapshot import load_manifest
from coevo.snapshots.table_files import iterate_rows, write_table_file
from coevo.snapshots.verification import verify_folder
from coevo.storage import durable
from coevo.storage.beneath import join_beneath
from coevo.storage.place import Root
from packagers import manifests, publishing
from packagers.manifests import Checksums

# Write what all editions of a snapshot have in common: tables with columns left out, and a
# manifest.

# Returns a row as the edition has it.
HideTexts = Callable[[dict[str, Any]], Mapping[str, Any]]


def blank_texts(row: dict[str, Any], paths: Iterable[str]) -> None:
    """Set columns of a row to None; the path `a.b` stands for the field b of each element of a."""
    for path in paths:
        name, _, inner = path.partition('.')
        if not inner:
            row[name] = None
        for element in (row[name] or ()) if inner else ():
            element[inner] = None


def rewrite_table_file(file: Path, target: Path, table: str, hide: HideTexts) -> None:
    """Write a file of a table whose rows hide texts."""
    schema = build_table_schema(table, code_free=True)
    rows = map(hide, iterate_rows(file))
    write_table_file(target, table, schema, rows, partial(build_table_of_plain_rows, schema))


def copy_timings(full: Path, made: Path) -> None:
    """Copy the timings of a release into an edition, if it has any."""
    if (full / TIMINGS).is_file():
        (made / TIMINGS).parent.mkdir(parents=True)
        shutil.copyfile(full / TIMINGS, made / TIMINGS)


def write_edition_manifest(
    made: Path, content: Mapping[str, Any], about: Mapping[str, Any], files: Checksums
) -> None:
    """Write the manifest of an edition, and the whole edition to the disk.

    content  the manifest of the release
    about    the kind of edition and what it leaves out
    files    the checksums of the edition's files
    """
    edition = {**about, 'written_by': describe_parquet_writer()}
    own = {**content, 'edition': edition, 'files': files}
    text = f'{json.dumps(own, indent=2, sort_keys=True, ensure_ascii=False)}\n'
    durable.write_durably(made / MANIFEST, [text.encode()])
    durable.sync_tree_to_disk(made)


# Write an edition of a snapshot without the developers' answers: to read, to prompt and to attempt.
#
# EDITION/data/TABLE/*.parquet   the same rows; null in each column that shows an answer
# EDITION/manifest.json          the edition's own, with the SHA-256 of the release's files
# EDITION/README.md              the card, with a first paragraph that says what is withheld
#
# Gold's patches lead to the start state, too, and so do those of siblings. In their place the tasks
# have the files of the start state that differ from the new revision (`tasks.start_files`). Answers
# are graded at the whole snapshot, whose checksum the edition has.

NOTE = (
    '**The answers of the developers are withheld here.** Gold patches, the texts of tests, of mutants and '
    'of siblings are null; prompts, start states and all facts are there. `coevo prompt`, `checkout` and '
    '`run` work; answers are graded by `coevo evaluate WHOLE ANSWERS`, where WHOLE is the snapshot that '
    'this edition was made of.'
)

# Columns of tasks that say without any code what the answer does.
_FACTS_OF_ANSWERS = ('maintained', 'defect')
# Columns of tasks that show the code which a task of this family asks for.
_CODE = ('source_patch', 'focal_source')


@dataclass(frozen=True, slots=True, kw_only=True)
class WithheldReport:
    """The result of writing an edition without gold; `written` is false if it existed already."""

    edition: Root
    written: bool
    tasks: int

    @property
    def sentence(self) -> str:
        """A sentence about the edition for the user."""
        done = 'written' if self.written else 'already there, with the same bytes'
        return f'{self.edition}: without the answers to its {self.tasks} tasks; {done}'


def write_edition_without_gold(
    place: Path | str, target: Root, clone: Callable[[str], Repository]
) -> WithheldReport:
    """Write and publish the edition of a snapshot that withholds gold, and return what was written.

    clone  opens a repository, with the revisions of its pairs

    Raises: Fatal if the target has another edition, or the snapshot is private or lacks its texts;
    UnsoundSnapshot if the edition does not verify.
    """
    refuse_private(load_manifest(place), place, 'for others, as an edition without answers is')
    publishing.check_snapshot_target(target)
    with open_local_copy(place) as full, publishing.make_scratch_folder(target) as edition_folder:
        refuse_without_gold(resolve_location(full), 'an edition without them is there already')
        content = load_manifest(full)
        if is_code_free(content):
            raise Fatal(f'{place} is a code-free edition, which has no prompts: name the snapshot')
        starts, code_pairs = _load_starts_and_code_pairs(full, clone)
        _write_files(
            full, edition_folder, content, partial(_hide_gold, starts=starts, code_pairs=code_pairs)
        )
        findings = verify_folder(edition_folder, edition_folder.parent)
        if findings:
            raise UnsoundSnapshot(
                f'the edition without answers would not be good ({findings[0].table}: {findings[0].rule}: '
                f'{findings[0].row}) and {target} was not written; tell those who maintain coevo'
            )
        written = publishing.publish_folder(edition_folder, target)
    return WithheldReport(edition=target, written=written, tasks=len(starts))


def _load_starts_and_code_pairs(
    full: Path, clone: Callable[[str], Repository]
) -> tuple[Mapping[str, str], frozenset[str]]:
    """Return the files of each start state as JSON, by task, and the pairs of `implement` tasks."""
    starts = {}
    code_pairs = set()
    for assignment in load_assignments(full, interleaved=True, leaking=True):
        task = assignment.task
        repository = clone(task.repo)
        start = restore_start_file(repository, task)
        starts[task.task_id] = encode_files_as_json(
            collect_files_differing_at_start(repository, task, start)
        )
        if task.family is Family.IMPLEMENT:
            code_pairs.add(task.pair_id)
    return starts, frozenset(code_pairs)


def _hide_gold(
    table: str, row: dict[str, Any], *, starts: Mapping[str, str], code_pairs: frozenset[str]
) -> dict[str, Any]:
    """Return a row of a table without what shows an answer."""
    kept_paths = KEPT_WITHOUT_GOLD.get(table, ())
    blank_texts(
        row, (path for path in find_third_party_paths(TABLES[table]) if path not in kept_paths)
    )
    if table != 'tasks':
        return {**row, TEXTS_WITHHELD: True}
    hidden = (*_FACTS_OF_ANSWERS, *(_CODE if row['pair_id'] in code_pairs else ()))
    start = starts.get(row['task_id'])
    return {**row, **dict.fromkeys(hidden), 'start_files': start, TEXTS_WITHHELD: start is None}


def _write_files(
    full: Path,
    made: Path,
    content: Mapping[str, Any],
    hide: Callable[[str, dict[str, Any]], dict[str, Any]],
) -> None:
    names = [name for name in content['files'] if _is_of_table(name)]
    for name in names:
        _write_table(full / name, join_beneath(made, name).make_parents_and_get_path(), name, hide)
    copy_timings(full, made)
    if ATTRIBUTION in content['files']:
        shutil.copyfile(full / ATTRIBUTION, made / ATTRIBUTION)
    checked = manifests.compute_checksums(made, (made / name for name in names))
    texts = {
        'README.md': _add_note((full / 'README.md').read_text('utf-8')),
        'croissant.json': refresh_croissant(
            (full / 'croissant.json').read_text('utf-8'), checked, full
        ),
    }
    for name, text in texts.items():
        durable.write_durably(made / name, [text.encode()])  # own name: one of two of coevo's
    others = [name for name in (*texts, ATTRIBUTION) if (made / name).is_file()]
    checked |= manifests.compute_checksums(made, (made / name for name in others))
    about = {
        'kind': GOLD_WITHHELD,
        'manifest_sha256': compute_release_sha256(resolve_location(full)),
        'files': (content.get('edition') or content)['files'],
        **dict.fromkeys(('texts', 'characters', 'words'), 0),
    }
    write_edition_manifest(made, content, about, checked)


def _is_of_table(name: str) -> bool:
    parts = Path(name).parts
    return len(parts) == 3 and parts[0] == 'data' and parts[1] in TABLES


def _write_table(
    file: Path,
    target: Path,
    name: str,
    hide: Callable[[str, dict[str, Any]], dict[str, Any]],
) -> None:
    table = Path(name).parts[1]
    if not find_third_party_paths(TABLES[table]):
        shutil.copyfile(file, target)
        return
    rewrite_table_file(file, target, table, partial(hide, table))


def _add_note(card: str) -> str:
    """Return a card with a first paragraph below its title that says what is withheld."""
    lines = card.split('\n')
    title = next((at for at, line in enumerate(lines) if line.startswith('# ')), -1)
    return '\n'.join((*lines[: title + 1], '', NOTE, *lines[title + 1 :]))
