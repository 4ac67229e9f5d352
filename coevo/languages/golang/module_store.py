"""Keeps modules of the machine's module proxy in the layout of Go's module cache.

Only this file writes to that cache. Every byte in it comes from the machine's proxy, never from a
sandbox. The go command in the sandbox names the files that it wants, and checks them against go.sum
and the checksum database. A module is unpacked for the compiler once go.sum contains its hash.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO
from urllib.parse import quote

from coevo.languages.golang.toolchains import (
    ChecksumDatabase,
    GoToolchain,
    load_machine_go_settings,
    locate_module_cache,
)
from coevo.model.errors import DamagedSnapshot, Transient
from coevo.model.pair_rows import LibraryEntry
from coevo.storage.beneath import PathFault, SafePath, UnsafePath, join_beneath
from coevo.storage.bounded_reading import UnreadableContent, load_member, open_zip
from coevo.storage.fetching import FetchAnswer, Fetcher

# The limits of the go command (https://go.dev/ref/mod#zip-path-size-constraints).
_MOST_ZIP_BYTES = 500 << 20
_MOST_TEXT_BYTES = 16 << 20
_ZIP_SECONDS, _TEXT_SECONDS = 900.0, 120.0
_MOST_FILES = 200_000
# The number of texts kept in memory: tiles of the checksum database and dates of versions.
_MOST_KEPT = 4096

_PART = r'[A-Za-z0-9._~!+-]+'
_FILE = re.compile(
    rf'(?P<module>{_PART}(?:/{_PART})*)/@v/'
    r'(?P<version>v\d+\.\d+\.\d+(?:-[0-9A-Za-z.!-]+)?(?:\+incompatible)?)\.(?P<kind>info|mod|zip)'
)
_KINDS = ('info', 'mod', 'zip')
_INCOMING = '.incoming'
# Characters that a URL contains unescaped.
_SAFE = '/@!+~'


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleFile:
    """A file of a version of a module (https://go.dev/ref/mod#goproxy-protocol).

    module, version  with capital letters as the protocol escapes them: `!azure` for `Azure`
    kind             info, mod or zip
    """

    module: str
    version: str
    kind: str

    @property
    def path(self) -> str:
        """The path of the file at a proxy."""
        return f'{self.module}/@v/{self.version}.{self.kind}'


def parse_proxy_path(path: str) -> ModuleFile | None:
    """Return the file to which a path of the proxy's protocol refers; None for any other path."""
    match = _FILE.fullmatch(path)
    if match is None:
        return None
    return ModuleFile(module=match['module'], version=match['version'], kind=match['kind'])


def escape_capitals(text: str) -> str:
    """Return a module's path or version as the protocol writes it.

    See golang.org/x/mod/module, EscapePath.
    """
    return re.sub('[A-Z]', lambda letter: f'!{letter[0].lower()}', text)


class ModuleStore:
    """Downloads files of modules from the machine's proxies, into the module cache.

    Safe for use by several threads and processes.
    """

    def __init__(self, proxies: Sequence[str], fetcher: Fetcher | None = None) -> None:
        """Take the URLs of proxies, without a slash at the end, in the order of the attempts."""
        self._proxies = tuple(proxies)
        self._fetcher = fetcher or Fetcher()
        self._root = locate_module_cache()
        self._texts: dict[str, bytes] = {}
        self._passing: dict[str, bool] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    def fetch_file(self, wanted: ModuleFile) -> Path | None:
        """Return the path of a file of a module, downloaded now or before; None if no proxy has it.

        Raises:
            Transient: a proxy did not reply.
            UnsafePath: no file system can store the name.
        """
        target = self._locate_download(wanted)
        with self._get_lock(wanted.path):
            if target.is_file():
                return target.path
            most = _MOST_ZIP_BYTES if wanted.kind == 'zip' else _MOST_TEXT_BYTES
            seconds = _ZIP_SECONDS if wanted.kind == 'zip' else _TEXT_SECONDS
            with self._make_incoming_folder() as folder:
                new = folder / 'file'
                with new.open('w+b') as file:
                    if self._ask_proxies(wanted.path, most, seconds, file) is None:
                        return None
                    file.flush()
                    os.fchmod(file.fileno(), 0o644)
                    os.fsync(file.fileno())
                target.move_here(new)
        return target.path

    def fetch_text(self, path: str, *, is_kept_in_memory: bool = False) -> bytes | None:
        """Return the content at a path of the first proxy that has it; None if none has.

        Nothing is written to the disk.

        is_kept  whether the content never changes, so that it is kept in memory for later calls

        Raises:
            Transient: a proxy did not reply.
        """
        with self._guard:
            if path in self._texts:
                return self._texts[path]
        answer = self._ask_proxies(path, _MOST_TEXT_BYTES, _TEXT_SECONDS)
        if answer is None:
            return None
        if is_kept_in_memory:
            with self._guard:
                if len(self._texts) >= _MOST_KEPT:
                    self._texts.pop(next(iter(self._texts)))
                self._texts[path] = answer.content
        return answer.content

    def fetch_checksums(self, database: ChecksumDatabase, path: str) -> bytes | None:
        """Return the content at a path of a checksum database; None if there is none.

        It is requested through the first proxy, if any proxy passes such requests on; otherwise
        from the database itself.

        Raises:
            Transient: no reply was received.
        """
        is_kept = path.startswith('tile/')
        if any(self._serves_checksum_database(proxy, database) for proxy in self._proxies):
            return self.fetch_text(f'sumdb/{database.name}/{path}', is_kept_in_memory=is_kept)
        answer = self._fetcher.fetch(
            f'{database.url}/{quote(path, safe=_SAFE)}',
            most_bytes=_MOST_TEXT_BYTES,
            seconds=_TEXT_SECONDS,
        )
        return answer.content if answer.is_found else None

    def unpack_module(self, module: str, version: str, is_expected: Callable[[str], bool]) -> None:
        """Unpack a downloaded module for the compiler, unless that was done before.

        Nothing happens if it was not downloaded, its zip is damaged, or its hash is not the
        expected one.

        module, version  as go.mod writes them
        is_expected      takes the hash of the module, `h1:…`, and returns whether it is right

        Raises:
            Transient: the disk is full or the like.
        """
        wanted = ModuleFile(
            module=escape_capitals(module), version=escape_capitals(version), kind='zip'
        )
        try:
            target = join_beneath(self._root, f'{wanted.module}@{wanted.version}')
            zipped, hashed = self._locate_download(wanted), self._locate_hash_file(wanted)
        except UnsafePath:
            return
        with self._get_lock(wanted.path):
            if (target.is_folder() and hashed.is_file()) or not zipped.is_file():
                return
            with self._make_incoming_folder() as folder:
                new = folder / 'module'
                new.mkdir(mode=0o755)
                try:
                    digest = _expand_zip(zipped.path, f'{module}@{version}/', new)
                except (UnreadableContent, UnsafePath):
                    return
                if not is_expected(digest):
                    return
                if not target.is_folder():
                    with suppress(FileExistsError, OSError):  # another process was faster
                        target.move_here(new)
                if target.is_folder():
                    hashed.replace_file(digest.encode())

    def _locate_download(self, wanted: ModuleFile) -> SafePath:
        return join_beneath(self._root, 'cache/download', wanted.path)

    def _locate_hash_file(self, wanted: ModuleFile) -> SafePath:
        return join_beneath(
            self._root, 'cache/download', f'{wanted.module}/@v/{wanted.version}.ziphash'
        )

    def _serves_checksum_database(self, proxy: str, database: ChecksumDatabase) -> bool:
        """Return whether a proxy serves a checksum database.

        See https://go.dev/ref/mod#checksum-database.
        """
        key = f'{proxy}/sumdb/{database.name}/supported'
        with self._guard:
            known = self._passing.get(key)
        if known is None:
            answer = self._fetcher.fetch(key, most_bytes=_MOST_TEXT_BYTES, seconds=_TEXT_SECONDS)
            known = answer.is_found
            with self._guard:
                self._passing[key] = known
        return known

    def _ask_proxies(
        self, path: str, most_bytes: int, seconds: float, into: IO[bytes] | None = None
    ) -> FetchAnswer | None:
        """Return the answer of the first proxy that has a path; None if none has.

        Raises:
            Transient: no proxy has the path, and one did not reply.
        """
        trouble: Transient | None = None
        for proxy in self._proxies:
            try:
                answer = self._fetcher.fetch(
                    f'{proxy}/{quote(path, safe=_SAFE)}',
                    most_bytes=most_bytes,
                    seconds=seconds,
                    into=into,
                )
            except Transient as error:
                trouble = error
                continue
            if answer.is_found:
                return answer
        if trouble is not None:
            raise trouble
        return None

    @contextmanager
    def _make_incoming_folder(self) -> Iterator[Path]:
        """Make a temporary folder on the file system of the cache."""
        home = self._root / _INCOMING
        home.mkdir(mode=0o755, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home) as folder:
            yield Path(folder)

    def _get_lock(self, path: str) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(path, threading.Lock())


def _expand_zip(archive: Path, prefix: str, folder: Path) -> str:
    """Write the files of a module's zip into a folder; return their hash, `h1:…`.

    The hash is that of golang.org/x/mod/sumdb/dirhash, Hash1.

    Raises:
        UnreadableContent: the file is not the zip of a module.
        UnsafePath: a name in it cannot be stored.
    """
    digests: list[tuple[str, str]] = []
    left = _MOST_ZIP_BYTES
    with open_zip(archive) as opened:
        names = opened.namelist()
        if len(names) > _MOST_FILES:
            raise UnreadableContent('has too many files')
        for name in names:
            if name.endswith('/'):
                continue
            if not name.startswith(prefix) or '\n' in name:
                raise UnreadableContent(f'has a file {name[:80]!r} that is none of its module')
            content = load_member(opened, name, most=left)
            left -= len(content)
            join_beneath(folder, name.removeprefix(prefix)).create_file(content)
            digests.append((name, hashlib.sha256(content).hexdigest()))
    listed = ''.join(f'{digest}  {name}\n' for name, digest in sorted(digests))
    return f'h1:{base64.b64encode(hashlib.sha256(listed.encode()).digest()).decode()}'


def download_modules(toolchain: GoToolchain, libraries: Sequence[LibraryEntry]) -> None:
    """Download the modules that a task names, and unpack those with the hash that the task states.

    Raises:
        DamagedSnapshot: no module can have such a name.
        Transient: a proxy did not reply.
    """
    store = ModuleStore(load_machine_go_settings(toolchain).proxies)
    for library in libraries:
        module, _, version = library.coordinates.rpartition('@')
        files = [
            parse_proxy_path(f'{escape_capitals(module)}/@v/{escape_capitals(version)}.{kind}')
            for kind in _KINDS
        ]
        try:
            for file in files:
                if file is None:
                    raise UnsafePath(PathFault.UNWRITABLE, library.coordinates)
                store.fetch_file(file)
        except UnsafePath:
            raise DamagedSnapshot(
                f'the task needs a module {library.coordinates[:80]!r}, which no Go module can be '
                'called: get the snapshot again'
            ) from None
        store.unpack_module(module, version, partial(_has_sha256, library.sha256))


def list_module_cache_paths(libraries: Sequence[LibraryEntry]) -> Iterator[str]:
    """Yield the paths below the module cache of the modules that `download_modules` downloaded."""
    for library in libraries:
        module, _, version = library.coordinates.rpartition('@')
        escaped_module, escaped_version = escape_capitals(module), escape_capitals(version)
        for kind in (*_KINDS, 'ziphash'):
            yield f'cache/download/{escaped_module}/@v/{escaped_version}.{kind}'
        yield f'{escaped_module}@{escaped_version}'


def _has_sha256(wanted_sha256: str, text: str) -> bool:
    return hashlib.sha256(text.encode()).hexdigest() == wanted_sha256
