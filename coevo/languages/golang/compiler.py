"""Asks the Go toolchain in the sandbox, and keeps what it has compiled.

It reads the code of strangers and runs none of it. What it writes into its cache, others link: nothing that runs
their code may write there. One sandbox is asked for one cell after the other.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import secrets
import shutil
import tarfile
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.languages.golang.launch import COMPILING_DISK_BYTES
from coevo.languages.golang.launch import COMPILING_SECONDS
from coevo.languages.golang.launch import compiler_job
from coevo.languages.golang.places import CACHES
from coevo.languages.golang.places import OVERLAY
from coevo.languages.golang.places import SOURCES
from coevo.languages.golang.standard_library import Prepared
from coevo.languages.packed_files import pack
from coevo.languages.test_processes import Bounds
from coevo.languages.test_processes import dismiss
from coevo.languages.test_processes import tell
from coevo.languages.test_processes import watching
from coevo.model.errors import Transient
from coevo.sandboxes.sandbox import Process
from coevo.sandboxes.sandbox import Sandbox
from coevo.storage.beneath import Beneath
from coevo.storage.beneath import beneath
from coevo.storage.building import building
from coevo.storage.folders import cache_folder

_ENTRY = re.compile(r'cache/[0-9a-f]{2}/[0-9a-f]{64}-[ad]')
_BINARY = re.compile(r'binary/[^/\0]{1,200}')
_ANSWER = 'answer.json'
_LENGTH_BYTES = 32

# What was compiled for one order lies in memory for the next.
_MOST_ORDERS = 40

# In an answer: why there is no other one, of an order that used more than it may. That is the code's doing.
LATE = 'Late'

_BOUNDS: Bounds[str] = Bounds(tests={}, loading=COMPILING_SECONDS, loading_is='cpu')

# What most tests import; the rest is compiled when it is asked for, and kept for a run.
_STANDARD = (
    'net/http/httptest',
    'testing',
    'testing/internal/testdeps',
    'encoding/json',
    'os/exec',
    'text/template',
    'regexp',
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was found out, and the test binary with its name, if one was compiled."""

    told: Mapping[str, Any]
    cpu_seconds: float
    binary: Path | None = None
    name: str = ''


class GoCompiler:
    """One toolchain, for one thread. `folder` may be that of others, too."""

    def __init__(self, sandbox: Sandbox, made: Prepared, folder: Path) -> None:
        self._sandbox, self.made, self._folder = sandbox, made, folder
        for name in ('own', 'binaries'):
            (folder / name).mkdir(mode=0o755, parents=True, exist_ok=True)
        folder.chmod(0o755)
        self._own = folder / 'own'
        self._standard = self._standard_library()
        self._running: _Running | None = None

    def ask(self, mode: str, tree: Path, order: Mapping[str, object]) -> Answer:
        """Transient where it does not come to its end."""
        if self._running is not None and self._running.count >= _MOST_ORDERS:
            self.close()
        if self._running is None:
            self._running = self._started((self._own, self._standard))
        try:
            return self._answer(self._running, tree, {**order, 'Mode': mode}, self._own)
        except Transient:
            self.close()
            raise

    def close(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running = None

    def _started(self, caches: Sequence[Path]) -> _Running:
        return _Running(self._sandbox.start(compiler_job(self.made, caches)))

    def _answer(
        self, running: _Running, tree: Path, order: Mapping[str, object], cache: Path
    ) -> Answer:
        whole = {'Overlay': f'{OVERLAY}/plain.json', 'Caches': list(CACHES), **order}
        content, spent = running.ask(whole, tree)
        told, binary, name = self._received(content, cache)
        late = running.exceeded(spent) if told is None else None
        if late is not None:
            self.close()
            told = {LATE: late, 'All': late}
        if told is None:
            why = running.complaint()
            raise Transient(f'the Go compiler did not answer ({order["Mode"]}): {why}')
        return Answer(told=told, cpu_seconds=spent, binary=binary, name=name)

    def _received(
        self, content: bytes, cache: Path
    ) -> tuple[Mapping[str, Any] | None, Path | None, str]:
        told, binary, name = None, None, ''
        try:
            with tarfile.open(fileobj=io.BytesIO(content), mode='r:') as archive:
                for entry in archive:
                    file = archive.extractfile(entry) if entry.isreg() else None
                    if file is None:
                        continue
                    if entry.name == _ANSWER:
                        told = json.loads(file.read())
                    elif _BINARY.fullmatch(entry.name):
                        name = entry.name.partition('/')[2]
                        binary = self._folder / 'binaries' / secrets.token_hex(16)
                        _write(beneath(binary.parent, binary.name), file, 0o755)
                    elif _ENTRY.fullmatch(entry.name):
                        _write(beneath(cache, entry.name.partition('/')[2]), file, 0o644)
        except (tarfile.TarError, ValueError):
            return None, binary, name
        return told, binary, name

    def _standard_library(self) -> Path:
        """Compiled packages of the standard library, the same for all runs."""
        made = self.made
        key = hashlib.sha256(f'{made.overlay_digest} {_STANDARD}'.encode()).hexdigest()[:16]
        target = (
            cache_folder() / 'go' / f'std-{made.toolchain.version}-{key}'
        )  # own name: a release of Go and a digest
        with building(target) as new:
            if new is not None:
                new.chmod(0o755)
                files = {'go.mod': ('100644', b'module coevo.invalid/std\n')}
                tree = pack(files, self._folder / 'trees')
                order = {
                    'Mode': 'build',
                    'Caches': [],
                    'Root': f'{SOURCES}/std',
                    'Folder': '.',
                    'Packages': list(_STANDARD),
                }
                with closing(self._started(())) as running:
                    answer = self._answer(running, tree, order, new)
                tree.unlink()
                if not any(new.glob('*/*-d')):
                    raise Transient(f'the standard library did not compile: {answer.told}')
        return target


class _Running:
    """Our program in its sandbox.

    count  of the orders that it was given
    """

    # what `watching` looks at: no test is run
    running: str | None = None

    def __init__(self, process: Process) -> None:
        self._process = process
        self._used = 0.0
        self.count = 0
        self.late: str | None = None

    def ask(self, order: Mapping[str, object], tree: Path) -> tuple[bytes, float]:
        """The archive that it answers by, empty if it does not; CPU seconds."""
        self.count += 1
        self._process.go_on()
        with watching(self._process, self, _BOUNDS, self._used):
            self._send(order, tree.read_bytes())
            content = self._read()
        self._process.rest()
        spent = self._process.cpu_seconds() - self._used
        self._used += spent
        return content, spent

    def exceeded(self, spent: float) -> str | None:
        """The signature of an order that used more than it may; what was slow for want of a processor is none."""
        limit = self._process.exceeded
        if limit == 'memory' or (limit == 'cpu' and spent >= COMPILING_SECONDS):
            return f'compiler_{limit}'
        return None

    def complaint(self) -> str:
        """Why it has ended."""
        self._process.kill()
        return self._process.exceeded or self._process.noise()[-300:].strip()

    def close(self) -> None:
        dismiss(self._process)

    def _send(self, order: Mapping[str, object], archive: bytes) -> None:
        line = self._process.inside(json.dumps({**order, 'Size': len(archive)}))
        tell(self._process, line.encode() + b'\n', archive)

    def _read(self) -> bytes:
        length = self._process.stdout.readline(_LENGTH_BYTES)
        if not length.strip().isdigit() or int(length) > COMPILING_DISK_BYTES:
            return b''
        return self._process.stdout.read(int(length))


def _write(place: Beneath, content: Any, mode: int) -> None:
    """Write a file whole or not at all, over one of the same name."""
    new = place.beside(f'.{secrets.token_hex(8)}')
    with new.creating(mode) as file:
        shutil.copyfileobj(content, file)
    place.take(new.path)
