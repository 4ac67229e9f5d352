"""Find the licence of a revision at its root, check whether a store is private, and list the rows
that licences keep out.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

from identify.identify import license_id
from identify.vendor.licenses import LICENSES

from coevo.git.repository import CorruptObject, Repository
from coevo.languages.reading import DeclaredLicence, LanguageReading
from coevo.languages.table import LANGUAGES
from coevo.model import licences
from coevo.model.errors import Fatal
from coevo.snapshots.code_free.recipes import SourceForm, decode_blob
from coevo.storage.place import Root
from coevo.storage.store import Partition, Store
from packagers.funnel import build_kept_out_records, describe_kept_out
from packagers.licensing import LicenceFile, check_licence

_NAMES = re.compile(r'(licen[cs]e|copying|unlicense)([-._].*)?', re.IGNORECASE)
# The Apache License asks to hand on a file NOTICE.
_NOTICES = re.compile(r'notice([-._].*)?', re.IGNORECASE)
_EITHER = re.compile(
    r'dual[- ]licen[cs]|under either (?:of|the)|your choice of|\balso\W+provided\s+under',
    re.IGNORECASE,
)
# Some build files name a licence only by its address.
_ADDRESSES = re.compile(
    r'(?:opensource|spdx)\.org/licen[cs]es?/([\w.+-]+?)(?:\.html|\.php)?/?$|'
    r'(apache)\.org/licenses/LICENSE-2\.0',
    re.IGNORECASE,
)


def find_spdx_expression(repository: Repository, rev: str) -> str | None:
    """Return the SPDX expression of the first known licence file at the root, else of a build file.

    A file that offers a choice comes before all others, each of which may hold one of the texts to
    choose from. Several texts in one file are all in force (`AND`), unless the file offers a choice
    (`OR`); several licences in a build file are always a choice. None if neither gives a known
    licence, or the files cannot be read.
    """
    root = _list_root_files(repository, rev)
    names, builds = list_licence_files(root), _list_build_files(root)
    if any(
        root[name] in repository.object_ids_absent_at_source
        for name in (*names, *(name for _, name in builds))
    ):
        return None
    contents = [repository.blob(root[name]) for name in names]
    texts = map(_detect_licence, sorted(contents, key=lambda content: not _offers_choice(content)))
    declared = (
        _join_alternatives(reading.parse_licences(repository.blob(root[name])))
        for reading, name in builds
    )
    return next(
        (expression for expression in chain(texts, declared) if expression is not None), None
    )


def is_silent_on_licences(repository: Repository, rev: str) -> bool:
    """Return whether a revision says nothing of a licence at its root.

    False if there is a licence file or a declared licence that coevo does not know, or if a file
    cannot be read.
    """
    root = _list_root_files(repository, rev)
    builds = _list_build_files(root)
    if list_licence_files(root) or any(
        root[name] in repository.object_ids_absent_at_source for _, name in builds
    ):
        return False
    return not any(
        declared.name.strip() or declared.address.strip()
        for reading, name in builds
        for declared in reading.parse_licences(repository.blob(root[name]))
    )


def list_licence_and_notice_files(repository: Repository, rev: str) -> tuple[LicenceFile, ...]:
    """Return the licence files and notices at the root of a revision.

    Left out are files that hold a NUL byte, and those whose content the clone lacks.
    """
    root = _list_root_files(repository, rev)
    names = (*list_licence_files(root), *sorted(filter(_NOTICES.fullmatch, root)))
    contents = [
        (name, root[name], repository.blob(root[name]))
        for name in names
        if root[name] not in repository.object_ids_absent_at_source
    ]
    return tuple(
        LicenceFile(path=name, blob=oid, text=decode_blob(content, SourceForm.TEXT))
        for name, oid, content in contents
        if b'\0' not in content
    )


def check_accepted_licences(accepted: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of accepted licences, sorted.

    Raises: Fatal for an id that coevo never finds in a repository, so that it would change nothing.
    """
    found_by_text = {spdx_id for spdx_id, _ in LICENSES}
    possible = sorted(
        {*licences.list_recognised_unapproved_ids(), *filter(_is_unapproved, found_by_text)}
    )
    unknown = sorted(
        name for name in set(accepted) if name not in possible and not licences.is_approved(name)
    )
    if unknown:
        raise Fatal(
            f'--accept-licence takes {", ".join(possible)}, and not {unknown[0]!r}: licences that the OSI '
            'approved need no word, and rows without a licence are for a private release alone '
            '(`coevo mine --private`)'
        )
    return tuple(sorted(set(accepted)))


def _is_unapproved(spdx_id: str) -> bool:
    return not licences.is_approved(spdx_id)


def _list_root_files(repository: Repository, rev: str) -> Mapping[str, str]:
    """Return the regular files at the root of a revision: blob id by name."""
    return {
        name: oid
        for mode, name, oid in repository.folder(repository.header(rev).tree)
        if mode.startswith('100')
    }


def list_licence_files(names: Iterable[str]) -> Sequence[str]:
    """Return those of the names that are names of a licence file, the shortest first."""
    return sorted(filter(_NAMES.fullmatch, names), key=lambda name: (len(name), name))


def _list_build_files(root: Mapping[str, str]) -> Sequence[tuple[LanguageReading, str]]:
    return [
        (language.READING, name)
        for language in LANGUAGES.values()
        for name in sorted(root)
        if language.READING.is_build_file(name)
    ]


@lru_cache(maxsize=1024)
def _detect_licence(content: bytes) -> str | None:
    text = content.decode('utf-8', 'replace')
    expression = _identify_text(text)
    if expression is not None:
        return expression
    return (' OR ' if _offers_choice(content) else ' AND ').join(
        licences.recognise_licences_of_text(text)
    ) or None


def _offers_choice(content: bytes) -> bool:
    return _EITHER.search(content.decode('utf-8', 'replace')) is not None


def _identify_text(text: str) -> str | None:
    with tempfile.TemporaryDirectory(prefix='coevo-') as folder:
        file = Path(folder) / 'LICENSE'
        file.write_text(text, encoding='utf-8')
        spdx_id: str | None = license_id(str(file))
        return spdx_id


def _join_alternatives(declared: Iterable[DeclaredLicence]) -> str | None:
    return ' OR '.join(sorted(set(_list_known_licences(declared)))) or None


def _list_known_licences(declared: Iterable[DeclaredLicence]) -> Iterator[str]:
    """Yield the SPDX ids of the declared licences that coevo knows.

    Unknown ones are ignored, since a user may choose one of the others.
    """
    for declared_licence in declared:
        spdx_id = licences.find_id_by_name(declared_licence.name)
        address = _ADDRESSES.search(declared_licence.address.strip())
        if spdx_id is None and address is not None:
            spdx_id = licences.find_id_by_name('Apache-2.0' if address[2] else address[1])
        if spdx_id is not None:
            yield spdx_id


def check_and_mark_privacy(store: Store, repo: str, *, is_private: bool) -> None:
    """Check that a run and its store are both private or both not; mark a new store as private.

    The mark is on the store, since a release is of all that a store holds. A store with other
    repositories does not get it: they would become unpublishable.

    Raises: Fatal if the store is the other kind.
    """
    if is_private:
        refuse_object_store(store.root)
    if store.is_private() and not is_private:
        raise Fatal(f'{store.root} is private: add --private, or name another store by --store')
    if is_private and not store.is_private():
        others = sorted({partition.repo for partition in store.list_partitions()} - {repo})
        if others:
            raise Fatal(
                f'{store.root} holds {others[0]}{f" and {len(others) - 1} more" if len(others) > 1 else ""}, '
                'which a private store would keep from being published: name another by --store'
            )
        store.mark_private()


def refuse_object_store(root: Root) -> None:
    """Raise Fatal for a store that is no folder: what it holds would leave this machine."""
    if not isinstance(root, Path):
        raise Fatal(
            f'{root} is not on this machine: name a folder for a private project by --store'
        )


def describe_kept_out_rows(
    store: Store, partitions: Sequence[Partition], repository: Repository
) -> tuple[str, ...]:
    """Return sentences about the labelled tests and files that licences keep out of a release.

    Empty if there are none.
    """
    counts: Counter[tuple[str, str | None, bool, str]] = Counter()
    for partition in partitions:
        later = find_spdx_expression(repository, store.load_walk(partition).repository.head)
        for segment in store.load_current_segments(partition):
            rev, files = segment.pair.new_rev, [f for f in segment.single_revision if f.adequacy]
            if not segment.methods and not files:
                continue
            try:
                licence = find_spdx_expression(repository, rev)
            except CorruptObject:
                continue  # the release says what it cannot read
            silent = licence is None and is_silent_on_licences(repository, rev)
            governing = later if silent else licence
            if check_licence(governing, ()) is not None:
                counts[partition.repo, governing, silent, 'methods'] += len(segment.methods)
                counts[partition.repo, governing, silent, 'files'] += len(files)
    return tuple(describe_kept_out(tuple(build_kept_out_records(counts))))
