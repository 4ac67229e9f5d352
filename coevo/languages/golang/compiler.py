"""Asks the Go toolchain in the sandbox, and keeps what it has compiled.

It reads the code of strangers and runs none of it. What it writes into its cache, others link: nothing that runs
their code may write there.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import shutil
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.languages.golang.launch import compiler_job
from coevo.languages.golang.places import CACHES
from coevo.languages.golang.places import OVERLAY
from coevo.languages.golang.places import SOURCES
from coevo.languages.golang.places import TREE_FILE
from coevo.languages.golang.standard_library import Prepared
from coevo.languages.packed_files import pack
from coevo.model.errors import Transient
from coevo.sandboxes.sandbox import Process
from coevo.sandboxes.sandbox import Sandbox
from coevo.storage.building import building
from coevo.storage.folders import cache_folder

_ENTRY = re.compile(r'cache/[0-9a-f]{2}/[0-9a-f]{64}-[ad]')
_BINARY = re.compile(r'binary/[^/\0]{1,200}')
_ANSWER = 'answer.json'

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
    """One toolchain in one sandbox; safe from several threads. `folder` is its own."""

    def __init__(self, sandbox: Sandbox, made: Prepared, folder: Path) -> None:
        self._sandbox, self.made, self._folder = sandbox, made, folder
        for name in ('own', 'binaries'):
            (folder / name).mkdir(mode=0o755, parents=True, exist_ok=True)
        folder.chmod(0o755)
        self._own = folder / 'own'
        self._standard = self._standard_library()

    def ask(self, mode: str, tree: Path, order: Mapping[str, object]) -> Answer:
        """One job; Transient where it does not come to its end."""
        whole = {
            'Tree': TREE_FILE,
            'Overlay': f'{OVERLAY}/plain.json',
            'Caches': list(CACHES),
            **order,
        }
        job = compiler_job(self.made, mode, tree, (self._own, self._standard))
        return self._asked(mode, whole, job, self._own)

    def _asked(self, mode: str, order: Mapping[str, object], job: Any, cache: Path) -> Answer:
        with self._sandbox.start(job) as process:
            _send(process, order)
            told, binary, name = self._received(process, cache)
            process.wait(timeout=None)
            spent, noise = process.cpu_seconds(), process.noise()
        if told is None:
            why = process.exceeded or noise[-300:].strip()
            raise Transient(f'the Go compiler did not answer ({mode}): {why}')
        return Answer(told=told, cpu_seconds=spent, binary=binary, name=name)

    def _received(
        self, process: Process, cache: Path
    ) -> tuple[Mapping[str, Any] | None, Path | None, str]:
        told, binary, name = None, None, ''
        try:
            with tarfile.open(fileobj=process.stdout, mode='r|') as archive:
                for entry in archive:
                    content = archive.extractfile(entry) if entry.isreg() else None
                    if content is None:
                        continue
                    if entry.name == _ANSWER:
                        told = json.loads(content.read())
                    elif _BINARY.fullmatch(entry.name):
                        name = entry.name.partition('/')[2]
                        binary = self._folder / 'binaries' / secrets.token_hex(16)
                        _write(binary, content, 0o755)
                    elif _ENTRY.fullmatch(entry.name):
                        _write(cache / entry.name.partition('/')[2], content, 0o644)
        except (tarfile.TarError, ValueError):
            while process.stdout.read(1 << 16):
                pass
            return None, binary, name
        return told, binary, name

    def _standard_library(self) -> Path:
        """Compiled packages of the standard library, the same for all runs."""
        made = self.made
        key = hashlib.sha256(f'{made.overlay_digest} {_STANDARD}'.encode()).hexdigest()[:16]
        target = cache_folder() / 'go' / f'std-{made.toolchain.version}-{key}'
        with building(target) as new:
            if new is not None:
                new.chmod(0o755)
                files = {'go.mod': ('100644', b'module coevo.invalid/std\n')}
                tree = pack(files, self._folder / 'trees')
                order = {
                    'Tree': TREE_FILE,
                    'Overlay': f'{OVERLAY}/plain.json',
                    'Root': f'{SOURCES}/std',
                    'Folder': '.',
                    'Packages': list(_STANDARD),
                }
                job = compiler_job(made, 'build', tree, ())
                answer = self._asked('build', order, job, new)
                tree.unlink()
                if not any(new.glob('*/*-d')):
                    raise Transient(f'the standard library did not compile: {answer.told}')
        return target


def _send(process: Process, order: Mapping[str, object]) -> None:
    try:
        process.stdin.write(process.inside(json.dumps(order)).encode() + b'\n')
        process.stdin.close()
    except BrokenPipeError:
        return  # its silence is the answer


def _write(place: Path, content: Any, mode: int) -> None:
    """Whole or not at all."""
    place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    new = place.with_name(f'.{place.name}.{secrets.token_hex(4)}')
    with new.open('wb') as file:
        shutil.copyfileobj(content, file)
    new.chmod(mode)
    new.replace(place)
