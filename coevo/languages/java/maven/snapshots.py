"""Give POMs released versions in place of snapshots that no longer exist.

A parent or library `1.2-SNAPSHOT` of another project was built on a day of the past. Its release 1.2
is the nearest thing that can still be had. A snapshot of the project itself that has another version
than its POM in the tree is that POM: Maven on the developer's machine found what an earlier build had
installed. The row records each replacement (`override`). The POMs are as they were after the build.
Measured on projects of which every module has a snapshot as its parent: two of 24.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from coevo.languages.java.building.session import JvmAnswer, JvmDeath
from coevo.languages.java.places import POM
from coevo.storage.beneath import join_beneath
from coevo.storage.bounded_reading import load_file

KIND, SUFFIX = 'snapshot_dependency', '-SNAPSHOT'

_MOST_BYTES = 1 << 20
_BLOCK = re.compile(rb'<(parent|dependency|extension|plugin)>(.*?)</\1>', re.DOTALL)
_ARTIFACT = re.compile(rb'<artifactId>\s*([^<\s]+)\s*</artifactId>')
_VERSION = re.compile(rb'(<version>\s*)([^<\s]+)(\s*</version>)')
_PROPERTY = re.compile(rb'\$\{([\w.-]+)\}')


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A version to use in POMs in place of a snapshot version of one artifact."""

    artifact: str
    snapshot: str
    version: str

    @property
    def override_name(self) -> str:
        """The name of the replacement in a row's `override`, as `lib-1.2-for-1.2-SNAPSHOT`."""
        return f'{self.artifact}-{self.version}-for-{self.snapshot}'


def load_poms(code: Path) -> dict[Path, bytes]:
    """Return the content of each POM of a tree, sorted by path.

    Links and files above 1 MiB are left out. It is called before the first build: a build can put
    anything in the place of a file.
    """
    return {
        file: load_file(file, most=_MOST_BYTES)
        for file in sorted(code.rglob(POM))
        if file.is_file() and not file.is_symlink() and file.stat().st_size <= _MOST_BYTES
    }


def find_replacement(
    answer: JvmAnswer | JvmDeath, poms: Mapping[Path, bytes]
) -> Replacement | None:
    """Return a replacement for the first snapshot that a build could not find; else None.

    The version is that of the tree's own POM of this artifact, if it has one with another version.
    Else it is the snapshot's release, `1.2` for `1.2-SNAPSHOT`.
    """
    if isinstance(answer, JvmDeath):
        return None
    projects = answer.report.get('projects') or []
    failures = [project['failure'] for project in projects] + list(
        answer.report.get('failures') or []
    )
    for failure in failures:
        parts = str((failure or {}).get('absent')).split(':')
        if (failure or {}).get('kind') == KIND and len(parts) == 3 and parts[2].endswith(SUFFIX):
            _, artifact, snapshot = parts
            own = _find_own_version(poms.values(), artifact)
            version = own if own not in (None, snapshot) else snapshot.removesuffix(SUFFIX)
            return Replacement(artifact=artifact, snapshot=snapshot, version=version)
    return None


def _find_own_version(poms: Iterable[bytes], artifact: str) -> str | None:
    """Return the version in the POM of an artifact among `poms`, or that of its parent.

    Returns None if no POM is that of the artifact, or if the version contains a property.
    """
    for text in poms:
        try:
            root = ElementTree.fromstring(text)
        except (ElementTree.ParseError, ValueError, LookupError):
            continue
        if (root.findtext('{*}artifactId') or '').strip() == artifact:
            version = root.findtext('{*}version') or root.findtext('{*}parent/{*}version')
            return version.strip() if version and '$' not in version else None
    return None


@contextmanager
def replace_versions_temporarily(
    code: Path, poms: Mapping[Path, bytes], replacements: Sequence[Replacement]
) -> Iterator[None]:
    """Rewrite POMs of a tree with replaced versions while the context is open; then restore them.

    poms  those of the tree, by `load_poms`; none is read from the tree again
    """
    rewritten = {
        file: text for file, text in rewrite_poms(poms, replacements).items() if text != poms[file]
    }
    try:
        _write_poms(code, rewritten)
        yield
    finally:
        _write_poms(code, {file: poms[file] for file in rewritten})


def _write_poms(code: Path, poms: Mapping[Path, bytes]) -> None:
    for file, text in poms.items():
        join_beneath(code, str(file.relative_to(code))).replace_file(text)


def rewrite_poms(
    poms: Mapping[Path, bytes], replacements: Sequence[Replacement]
) -> dict[Path, bytes]:
    """Return the POMs with replaced versions; writes nothing.

    If a version is written as a property, the definition of that property is replaced.
    """
    texts = dict(poms)
    for replacement in replacements:
        texts = _replace_version(texts, replacement)
    return texts


def _replace_version(poms: Mapping[Path, bytes], replacement: Replacement) -> dict[Path, bytes]:
    properties: set[bytes] = set()

    def rewrite(block: re.Match[bytes]) -> bytes:
        """Return a block with the new version if it names the snapshot, else unchanged.

        Adds the properties in the block's version to `properties`.
        """
        return _rewrite_block(block, replacement, properties)

    texts = {file: _BLOCK.sub(rewrite, text) for file, text in poms.items()}
    old, new = re.escape(replacement.snapshot.encode()), replacement.version.encode()
    for name in sorted(properties):
        value = re.compile(rb'(?<=<%b>)\s*%b\s*(?=</%b>)' % (re.escape(name), old, re.escape(name)))
        texts = {file: value.sub(lambda _: new, text) for file, text in texts.items()}
    return texts


def _rewrite_block(
    block: re.Match[bytes], replacement: Replacement, properties: set[bytes]
) -> bytes:
    artifact, version = _ARTIFACT.search(block[2]), _VERSION.search(block[2])
    if not artifact or not version or artifact[1] != replacement.artifact.encode():
        return block[0]
    properties.update(_PROPERTY.findall(version[2]))
    if version[2] != replacement.snapshot.encode():
        return block[0]
    start, end = (block.start(2) - block.start(), block.end(2) - block.start())
    inner = _VERSION.sub(lambda m: m[1] + replacement.version.encode() + m[3], block[2], count=1)
    return block[0][:start] + inner + block[0][end:]
