"""Compiles with the Go toolchain in the sandbox, and keeps the results.

The compiler reads untrusted code but never runs it. Others link the contents of its cache, so
processes that run the code must not write there. One sandbox handles one cell after the other.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import secrets
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coevo.languages.core.cell_files import pack_files
from coevo.languages.core.test_processes import (
    CpuBounds,
    dismiss_process,
    send_order_parts,
    watch_limits,
)
from coevo.languages.golang.launch import COMPILING_DISK_BYTES, COMPILING_SECONDS, make_compiler_job
from coevo.languages.golang.standard_library import PreparedToolchain
from coevo.languages.golang.toolchains import CACHES, OVERLAY, SOURCES
from coevo.model.errors import Transient
from coevo.sandboxes.sandbox import Process, Sandbox
from coevo.storage.beneath import SafePath, join_beneath
from coevo.storage.disk import find_cache_folder
from coevo.storage.durable import build_folder_once

_ENTRY = re.compile(r'cache/[0-9a-f]{2}/[0-9a-f]{64}-[ad]')
_BINARY = re.compile(r'binary/[^/\0]{1,200}')
_ANSWER, _UNREAD = 'answer.json', 'unread'
_LENGTH_BYTES = 32

# Each order leaves compiled packages in memory for the next one, so a process handles only so many.
_MOST_ORDERS = 40

# Key in a reply: the signature of an order that exceeded its limits, which is the code's fault.
LATE = 'Late'

_BOUNDS: CpuBounds[str] = CpuBounds(tests={}, loading=COMPILING_SECONDS, loading_is='cpu')

# Packages that most tests import; the others are compiled on demand and kept for the run.
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
class CompilerReply:
    """The result of an order to the compiler, with the CPU seconds that it took.

    result  the JSON reply
    binary  the path of the test binary on the host; None if none was compiled
    name    the file name that the go command gave to the binary
    unread  whether no stand-in for a missing file was read
    """

    result: Mapping[str, Any]
    cpu_seconds: float = 0.0
    binary: Path | None = None
    name: str = ''
    unread: bool = False


class GoCompiler:
    """A compiler with one toolchain, for one thread, in a sandbox that it opens on first use.

    Several compilers may share `folder`, which holds compiled packages and binaries.

    standard  a folder of compiled packages of the standard library
    """

    def __init__(self, sandbox: Sandbox, made: PreparedToolchain, folder: Path) -> None:
        self._sandbox, self.prepared, self._folder = sandbox, made, folder
        for name in ('own', 'binaries'):
            (folder / name).mkdir(mode=0o755, parents=True, exist_ok=True)
        folder.chmod(0o755)
        self._own = folder / 'own'
        self.standard = self._compile_standard_library()
        self._running: _CompilerProcess | None = None

    def ask(self, mode: str, tree_archive: Path, order: Mapping[str, object]) -> CompilerReply:
        """Carry out an order on a tree in the sandbox, and return the reply.

        If the code is to blame that a limit of CPU time or memory was exceeded, the reply has the
        key `LATE`.

        mode   of coevo's program: `build`, `compile` or `check`
        tree   the path of an archive
        order  further values, which depend on the mode

        Raises:
            Transient: the compiler did not finish, and the code is not to blame.
        """
        if self._running is not None and self._running.count >= _MOST_ORDERS:
            self.close()
        if self._running is None:
            self._running = self._start_process((self._own, self.standard))
        try:
            return self._ask_process(
                self._running, tree_archive, {**order, 'Mode': mode}, self._own
            )
        except Transient:
            self.close()
            raise

    def close(self) -> None:
        """End the compiler's process; the next order starts a new one."""
        if self._running is not None:
            self._running.close()
            self._running = None

    def _start_process(self, caches: Sequence[Path]) -> _CompilerProcess:
        return _CompilerProcess(self._sandbox.start(make_compiler_job(self.prepared, caches)))

    def _ask_process(
        self, running: _CompilerProcess, tree: Path, order: Mapping[str, object], cache: Path
    ) -> CompilerReply:
        whole = {'Overlay': f'{OVERLAY}/plain.json', 'Caches': list(CACHES), **order}
        content, spent = running.ask_with_cpu_seconds(whole, tree)
        reply = self._unpack_reply(content, cache)
        late = running.find_exceeded_limit(spent) if reply is None else None
        if late is not None:
            self.close()
            reply = CompilerReply(result={LATE: late, 'All': late})
        if reply is None:
            why = running.kill_and_explain()
            raise Transient(f'the Go compiler did not answer ({order["Mode"]}): {why}')
        return replace(reply, cpu_seconds=spent)

    def _unpack_reply(self, content: bytes, cache: Path) -> CompilerReply | None:
        """Write the files of a reply, and return it; None if it is malformed."""
        result, binary, name, unread = None, None, '', False
        try:
            with tarfile.open(fileobj=io.BytesIO(content), mode='r:') as archive:
                for entry in archive:
                    file = archive.extractfile(entry) if entry.isreg() else None
                    if file is None:
                        continue
                    if entry.name == _ANSWER:
                        result = json.loads(file.read())
                    elif entry.name == _UNREAD:
                        unread = True
                    elif _BINARY.fullmatch(entry.name):
                        name = entry.name.partition('/')[2]
                        binary = self._folder / 'binaries' / secrets.token_hex(16)
                        _write_file_atomically(
                            join_beneath(binary.parent, binary.name), file, 0o755
                        )
                    elif _ENTRY.fullmatch(entry.name):
                        _write_file_atomically(
                            join_beneath(cache, entry.name.partition('/')[2]), file, 0o644
                        )
        except (tarfile.TarError, ValueError):
            return None
        if result is None:
            return None
        return CompilerReply(result=result, binary=binary, name=name, unread=unread)

    def _compile_standard_library(self) -> Path:
        """Return the folder of compiled packages of the standard library, which all runs share.

        They are compiled if the tool cache lacks them.
        """
        prepared = self.prepared
        key = hashlib.sha256(f'{prepared.overlay_digest} {_STANDARD}'.encode()).hexdigest()[:16]
        target = (
            find_cache_folder() / 'go' / f'std-{prepared.toolchain.version}-{key}'
        )  # own name: a release of Go and a digest
        with build_folder_once(target) as new:
            if new is not None:
                new.chmod(0o755)
                files = {'go.mod': ('100644', b'module coevo.invalid/std\n')}
                tree = pack_files(files, self._folder / 'trees')
                order = {
                    'Mode': 'build',
                    'Caches': [],
                    'Root': f'{SOURCES}/std',
                    'Folder': '.',
                    'Packages': list(_STANDARD),
                }
                with closing(self._start_process(())) as running:
                    answer = self._ask_process(running, tree, order, new)
                tree.unlink()
                if not any(new.glob('*/*-d')):
                    raise Transient(f'the standard library did not compile: {answer.result}')
        return target


class _CompilerProcess:
    """Coevo's program in its sandbox, which carries out orders to compile.

    count  the number of orders it has received
    """

    # `watch_limits` reads this: no test runs here.
    running: str | None = None

    def __init__(self, process: Process) -> None:
        self._process = process
        self._used = 0.0
        self.count = 0
        self.late: str | None = None

    def ask_with_cpu_seconds(
        self, order: Mapping[str, object], tree_archive: Path
    ) -> tuple[bytes, float]:
        """Send an order with a tree; return the archive of the reply, and the CPU seconds spent.

        The archive is b'' if the process did not reply.
        """
        self.count += 1
        self._process.resume_sampling_and_limits()
        with watch_limits(self._process, self, _BOUNDS, self._used):
            self._send_order(order, tree_archive.read_bytes())
            content = self._receive_archive()
        self._process.pause_sampling_and_limits()
        spent = self._process.get_cpu_seconds() - self._used
        self._used += spent
        return content, spent

    def find_exceeded_limit(self, cpu_seconds: float) -> str | None:
        """Return `compiler_cpu` or `compiler_memory` if an order exceeded that limit, else None.

        An order that was slow because the machine was busy does not count.

        spent  the CPU seconds of the order
        """
        limit = self._process.exceeded
        if limit == 'memory' or (limit == 'cpu' and cpu_seconds >= COMPILING_SECONDS):
            return f'compiler_{limit}'
        return None

    def kill_and_explain(self) -> str:
        """Kill the process and return the limit that it exceeded, or the end of its output."""
        self._process.kill()
        return self._process.exceeded or self._process.get_last_error_output()[-300:].strip()

    def close(self) -> None:
        """End the process, and kill it if it does not end by itself."""
        dismiss_process(self._process)

    def _send_order(self, order: Mapping[str, object], archive: bytes) -> None:
        line = self._process.translate_paths_for_job(json.dumps({**order, 'Size': len(archive)}))
        send_order_parts(self._process, line.encode() + b'\n', archive)

    def _receive_archive(self) -> bytes:
        length = self._process.stdout.readline(_LENGTH_BYTES)
        if not length.strip().isdigit() or int(length) > COMPILING_DISK_BYTES:
            return b''
        return self._process.stdout.read(int(length))


def _write_file_atomically(place: SafePath, content: Any, mode: int) -> None:
    """Write a file whole or not at all; a file of the same name is replaced."""
    new = place.join_beside(f'.{secrets.token_hex(8)}')
    with new.open_new_file(mode) as file:
        shutil.copyfileobj(content, file)
    place.move_here(new.path)
