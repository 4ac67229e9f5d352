"""Method bodies of the blobs of a language, each blob of a clone parsed once and kept in one file."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.reading import Reading
from coevo.languages.table import reading
from coevo.storage import durable


@dataclass(frozen=True, slots=True)
class Bodies:
    """Hashes of a file in its order: `bare_hash` of its test methods; that of all other members,
    then `body_hash` of all."""

    tests: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def all(self) -> frozenset[str]:
        return frozenset((*self.tests, *self.others))


def read_bodies(
    repository: Repository, language: str, blobs: Iterable[str], *, cache_folder: Path
) -> Mapping[str, Bodies]:
    """The bodies of blobs by blob id; what the folder's file for this clone lacks is added to it.

    A file that cannot be read, or was made by another version of the parser, is made anew.
    """
    parser = reading(language)
    clone = repository.git_dir.name.removesuffix('.git')
    place = (
        cache_folder / f'{clone}.{language}.bodies.json.gz'
    )  # own name: of a clone's folder, and of the table of languages
    known = _load(place, parser.version())
    missing = [oid for oid in dict.fromkeys(blobs) if oid not in known]
    try:
        for oid in missing:
            known[oid] = _parse(parser, repository.blob(oid))
    finally:  # a long history that was broken off is gone on with
        if missing:
            _save(place, parser.version(), known)
    return known


def _parse(parser: Reading, source: bytes) -> Bodies:
    file = parser.parse_once(source)
    tests = [member for _, member in parser.find_tests(file, lambda name: ())]
    spans = {(member.start_byte, member.end_byte) for member in tests}
    others = [
        member.bare_hash
        for type_ in file.types
        for member in type_.members
        if (member.start_byte, member.end_byte) not in spans
    ]
    blocks = [member.body_hash for type_ in file.types for member in type_.members]
    return Bodies(
        tuple(member.bare_hash for member in tests),
        (*others, *(block for block in blocks if block is not None)),
    )


def _load(place: Path, version: str) -> dict[str, Bodies]:
    try:
        content = json.loads(gzip.decompress(place.read_bytes()))
    except (OSError, EOFError, zlib.error, ValueError):
        return {}
    if not isinstance(content, dict) or content.get('version') != version:
        return {}
    return {
        oid: Bodies(tuple(tests), tuple(others))
        for oid, (tests, others) in content['blobs'].items()
    }


def _save(place: Path, version: str, known: Mapping[str, Bodies]) -> None:
    blobs = {oid: (known[oid].tests, known[oid].others) for oid in sorted(known)}
    content = json.dumps({'version': version, 'blobs': blobs}, separators=(',', ':'))
    durable.write(place, [gzip.compress(content.encode(), compresslevel=6, mtime=0)])
