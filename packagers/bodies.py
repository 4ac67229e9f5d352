"""Method bodies of Java blobs, each blob of a clone parsed once and kept in one file."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.java.reading import syntax
from coevo.languages.java.reading import tests as java_tests
from coevo.languages.java.reading import tokens as java_tokens
from coevo.languages.java.reading.tests import find_tests
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
    repository: Repository, blobs: Iterable[str], *, cache_folder: Path
) -> Mapping[str, Bodies]:
    """The bodies of blobs by blob id; what the folder's file for this clone lacks is added to it.

    A file that cannot be read, or was made by another version of the parser, is made anew.
    """
    place = cache_folder / f'{repository.git_dir.name.removesuffix(".git")}.bodies.json.gz'
    known = _load(place)
    missing = sorted(set(blobs) - known.keys())
    for oid in missing:
        known[oid] = _parse(repository.blob(oid))
    if missing:
        _save(place, known)
    return known


def _parse(source: bytes) -> Bodies:
    # Past the parser's own cache: whole histories would only push out what others need again.
    file = syntax.parse.__wrapped__(source)
    tests = [member for _, member in find_tests(file, lambda name: ())]
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


@cache
def _version() -> str:
    """Names the code that turns a blob into bodies."""
    digest = hashlib.sha256()
    for module in (syntax, java_tokens, java_tests):
        digest.update(Path(str(module.__file__)).read_bytes())
    for package in ('tree-sitter', 'tree-sitter-java'):
        digest.update(metadata.version(package).encode())
    return digest.hexdigest()


def _load(place: Path) -> dict[str, Bodies]:
    try:
        content = json.loads(gzip.decompress(place.read_bytes()))
    except (OSError, EOFError, zlib.error, ValueError):
        return {}
    if not isinstance(content, dict) or content.get('version') != _version():
        return {}
    return {
        oid: Bodies(tuple(tests), tuple(others))
        for oid, (tests, others) in content['blobs'].items()
    }


def _save(place: Path, known: Mapping[str, Bodies]) -> None:
    blobs = {oid: (known[oid].tests, known[oid].others) for oid in sorted(known)}
    content = json.dumps({'version': _version(), 'blobs': blobs}, separators=(',', ':'))
    durable.write(place, [gzip.compress(content.encode(), compresslevel=6, mtime=0)])
