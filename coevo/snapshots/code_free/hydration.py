"""Write a filled folder: the release of an edition with its own bytes, or a partial edition, with
its attribution.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.model.dictionary import TEXTS_WITHHELD
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.schema import build_table_of_plain_rows
from coevo.snapshots.code_free.recipes import FULL
from coevo.snapshots.code_free.texts import (
    EditionTexts,
    TextPosition,
    find_table_of_file,
    find_text_columns,
    restore_release_schema,
)
from coevo.snapshots.local_copy import TIMINGS
from coevo.snapshots.locations import MANIFEST
from coevo.snapshots.manifests import PARTIAL
from coevo.snapshots.snapshot import load_manifest
from coevo.snapshots.table_files import iterate_rows, write_table_file
from coevo.storage import durable
from coevo.storage.beneath import join_beneath
from coevo.storage.bounded_reading import UnreadableContent, format_size, parse_json

# Fill the file ATTRIBUTION of an edition, its card and its Croissant file as far as its texts are
# restored.

ATTRIBUTION = 'ATTRIBUTION'

HEADING = """\
# Whose code this is

The texts in this folder are code of the repositories below, under the licence that each section gives. Where
rows come from several commits, the section names the newest. What coevo adds is under CC BY 4.0 (README.md).
"""


def build_attribution(
    base: Path, texts: EditionTexts, whole: Collection[str] | None, before: Collection[str]
) -> str:
    """Return the content of the file ATTRIBUTION: the sections that concern a pair with texts.

    base    the folder that is filled; its own ATTRIBUTION has the sections of the pairs in `before`
    whole   the pairs that have their texts; None for all

    The recipes list each section (`row`) once for each pair that it concerns (`column`). Sections
    of the old file are copied, since the clones of an earlier call may be gone; others are built
    from clones.
    """
    there = (base / ATTRIBUTION).read_bytes().decode() if (base / ATTRIBUTION).is_file() else ''
    offset, parts = len(HEADING), [HEADING]
    for _, positions in sorted(texts.list_positions(ATTRIBUTION).items()):
        pairs, number = {position.column for position in positions}, positions[0].text
        section = None
        if not pairs.isdisjoint(before):
            length = texts.measure_text_without_prefixes(number)
            section, offset = there[offset : offset + length], offset + length
        if whole is None or not pairs.isdisjoint(whole):
            parts.append(texts.build_text(number) if section is None else section)
    return ''.join(parts)


# A Croissant file has some ten values for each column of each table.
_MOST_VALUES = 1_000_000

_BEGINS = '**Texts in this folder.**'


def refresh_card(card: str, filled: Mapping[str, Collection[str]]) -> str:
    """Return a card with a first paragraph that says which texts the folder holds.

    It replaces such a paragraph of an earlier call.

    filled  the pairs that have their texts, by repository
    """
    count = sum(map(len, filled.values()))
    names = ', '.join(repo for repo, pair_ids in sorted(filled.items()) if pair_ids)
    note = (
        f'{_BEGINS} {count} pairs have their texts here ({names or "of no repository"}); `manifest.json` '
        'lists them under `edition.filled`. In the rows of other pairs (`texts_withheld`) they are null.'
    )
    lines = [line for line in card.split('\n') if not line.startswith(_BEGINS)]
    title = next((at for at, line in enumerate(lines) if line.startswith('# ')), -1)
    rest = lines[title + 1 :]
    while rest and not rest[0]:
        rest = rest[1:]
    return '\n'.join((*lines[: title + 1], '', note, '', *rest))


def refresh_croissant(text: str, files: Mapping[str, Any], folder: Path) -> str:
    """Return a Croissant file in which the entries of `files` have new checksums and sizes.

    All other entries stay as they are. Raises: DamagedSnapshot if the text is not in the form that
    coevo writes; the message names `folder`.
    """
    try:
        content = parse_json(text.encode(), most_values=_MOST_VALUES)
        for entry in content['distribution']:
            about = files.get(entry['@id'])
            if about is not None:
                entry['sha256'] = about['sha256']
                entry['contentSize'] = f'{about["size"]} B'
    except (UnreadableContent, KeyError, TypeError, AttributeError):
        raise DamagedSnapshot(
            f'{folder}/croissant.json is damaged: get the edition again'
        ) from None
    return f'{json.dumps(content, indent=2, ensure_ascii=False)}\n'


# Write a filled folder: the release of an edition with its own bytes, or a partial edition.

FilledPairs = Mapping[str, Collection[str]]
"""Pairs that have their texts, by repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledFolder:
    """The state of a filled folder.

    is_release  whether it is the whole release, with the SHA-256 of each file
    differs     names of files that have all their texts, but other bytes than in the release
    is_refused  whether they differ though the same Parquet writer wrote them: something is damaged
    """

    is_release: bool
    differs: tuple[str, ...] = ()
    is_refused: bool = False


def describe_parquet_writer() -> str:
    """Return the name and version of the Parquet writer; another version may write other bytes."""
    return f'pyarrow {pa.__version__}'


def write_filled_folder(
    base: Path,
    made: Path,
    texts: EditionTexts,
    filled: FilledPairs | None,
    before: Collection[str] = (),
) -> FilledFolder:
    """Write the next state of a folder, with texts filled in, into the folder `made`.

    base    an edition, or what was filled before
    filled  the pairs that get or have their texts; None for all
    before  the pairs that have them in `base`

    Filled for all pairs, the folder is the release. If another version of the Parquet writer gives
    other bytes, the folder is a partial edition in which nothing is lacking. If the same version
    does, the result is `is_refused`.
    """
    _check_space(base, made, is_partial=filled is not None)
    if filled is not None:
        _write_partial_edition(base, made, texts, filled, before)
        return FilledFolder(is_release=False)
    differs = write_release_and_list_differing_files(base, made, texts, before)
    if not differs:
        return FilledFolder(is_release=True)
    if load_manifest(base)['edition']['written_by'] == describe_parquet_writer():
        return FilledFolder(is_release=False, differs=differs, is_refused=True)
    shutil.rmtree(made)
    _write_partial_edition(base, made, texts, _list_all_pairs_by_repository(base), before)
    return FilledFolder(is_release=False, differs=differs)


def _check_space(base: Path, made: Path, *, is_partial: bool) -> None:
    """Raise Fatal if the disk lacks room for the release, or, for a partial edition, for `base`."""
    manifest = load_manifest(base)
    files = manifest['files'] if is_partial else manifest['edition']['files']
    size = sum(about['size'] for about in files.values())
    parent = made.parent
    free = shutil.disk_usage(parent).free
    if size > free:
        raise Fatal(
            f'{parent.parent} has room for {format_size(free)}, and {"the edition" if is_partial else "the release"} '
            f'takes {format_size(size)}: make room there, then run the same command again'
        )


def _list_all_pairs_by_repository(base: Path) -> FilledPairs:
    by_repo: dict[str, set[str]] = {}
    for file in sorted((base / 'data/pairs').glob('*.parquet')):
        for row in iterate_rows(file):
            by_repo.setdefault(row['repo'], set()).add(row['pair_id'])
    return by_repo


def write_release_and_list_differing_files(
    base: Path, made: Path, texts: EditionTexts, before: Collection[str] = ()
) -> tuple[str, ...]:
    """Write the whole release into a new folder, and return the files whose bytes differ.

    before  the pairs that have their texts in `base`
    """
    release = _load_release_manifest(base)
    for name in release['files']:
        target = join_beneath(made, name).make_parents_and_get_path()
        if name == ATTRIBUTION:
            content = build_attribution(base, texts, None, before)
            durable.write_durably(target, [content.encode()])
        elif find_table_of_file(name) is None:
            shutil.copyfile(base / f'{FULL}{name}', target)
        else:
            _write_table(base, name, target, texts, None, before)
    shutil.copyfile(base / f'{FULL}{MANIFEST}', made / MANIFEST)
    _copy_timings(base, made)
    return tuple(
        name
        for name, about in release['files'].items()
        if hashlib.sha256((made / name).read_bytes()).hexdigest() != about['sha256']
    )


def _write_partial_edition(
    base: Path,
    made: Path,
    texts: EditionTexts,
    filled: FilledPairs,
    before: Collection[str],
) -> None:
    """Write a partial edition: all files of `base`, with the texts of some pairs filled in."""
    content = json.loads((base / MANIFEST).read_bytes())  # as it is; loaded by the caller before
    whole = frozenset(pair_id for pair_ids in filled.values() for pair_id in pair_ids)
    files = content['files']
    own = {'README.md', 'croissant.json', ATTRIBUTION}
    if ATTRIBUTION in content['edition']['files']:
        target = join_beneath(made, ATTRIBUTION).make_parents_and_get_path()
        text = build_attribution(base, texts, whole, before)
        durable.write_durably(target, [text.encode()])
        files[ATTRIBUTION] = _describe_file(target)
    for name in sorted(files.keys() - own):
        target = join_beneath(made, name).make_parents_and_get_path()
        _write_table(base, name, target, texts, whole, before)
        files[name] = _describe_file(target)
    for name in sorted((own & files.keys()) - {ATTRIBUTION}):
        # Of the release: those of a code-free edition say that there is no code here.
        text = (base / f'{FULL}{name}').read_text('utf-8')
        new = (
            refresh_card(text, filled)
            if name == 'README.md'
            else refresh_croissant(text, files, base)
        )
        target = join_beneath(made, name).make_parents_and_get_path()
        durable.write_durably(target, [new.encode()])
        files[name] = _describe_file(target)
    listed = {repo: sorted(pair_ids) for repo, pair_ids in sorted(filled.items()) if pair_ids}
    content['edition'] = {**content['edition'], 'kind': PARTIAL, 'filled': listed}
    text = f'{json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False)}\n'
    durable.write_durably(made / MANIFEST, [text.encode()])
    _copy_timings(base, made)


def _describe_file(path: Path) -> dict[str, Any]:
    with path.open('rb') as content:
        digest = hashlib.file_digest(content, 'sha256').hexdigest()
    return {'sha256': digest, 'size': path.stat().st_size}


def _copy_timings(base: Path, made: Path) -> None:
    if (base / TIMINGS).is_file():
        (made / TIMINGS).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(base / TIMINGS, made / TIMINGS)


def _load_release_manifest(folder: Path) -> Mapping[str, Any]:
    """Return the release's manifest.

    A copy under the usual name is loaded, which checks its form.
    """
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copyfile(folder / f'{FULL}{MANIFEST}', Path(scratch) / MANIFEST)
        return load_manifest(scratch)


def _write_table(
    base: Path,
    name: str,
    target: Path,
    texts: EditionTexts,
    whole: Collection[str] | None,
    before: Collection[str],
) -> None:
    """Write a file of `base` to `target`: as a copy, unless its table has texts to fill in.

    whole   the pairs whose texts are written; None for all, in the form of the release
    before  the pairs that have them already
    """
    table = find_table_of_file(name)
    if table is None or not find_text_columns(name):
        shutil.copyfile(base / name, target)
        return
    schema = pq.read_schema(base / name)
    if whole is None:
        schema = restore_release_schema(schema, table)
    rows = _fill_rows(base / name, name, texts, whole, before)
    write_table_file(target, table, schema, rows, partial(build_table_of_plain_rows, schema))


def _fill_rows(
    file: Path,
    name: str,
    texts: EditionTexts,
    whole: Collection[str] | None,
    before: Collection[str],
) -> Iterator[dict[str, Any]]:
    places = texts.list_positions(name)
    for number, row in enumerate(iterate_rows(file)):
        is_whole = whole is None or row['pair_id'] in whole
        if is_whole and row['pair_id'] not in before:
            for position in places.get(number, ()):
                _fill_text(row, position, texts)
        if TEXTS_WITHHELD in row:
            row[TEXTS_WITHHELD] = not is_whole
        yield row


def _fill_text(row: dict[str, Any], place: TextPosition, texts: EditionTexts) -> None:
    column, _, inner = place.column.partition('.')
    try:
        holder = row[column][place.element] if inner else row
        if holder[inner or column] is not None:
            raise KeyError(place.column)
    except (KeyError, IndexError, TypeError):
        raise DamagedSnapshot(
            f'there is no place for a text at {place.column}: get the edition again'
        ) from None
    holder[inner or column] = texts.build_text(place.text)
