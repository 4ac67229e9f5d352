"""Compile sources to byte code in the sandbox, with the pair's interpreter; no code is executed."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from coevo.languages.python.environments import InstalledPackages
from coevo.languages.python.interpreters import TREE
from coevo.languages.python.launch import PythonSetup, make_compiler_job
from coevo.model.errors import Transient
from coevo.sandboxes.sandbox import Sandbox

_BYTES = 256 << 20
_MOST_KEPT = 1 << 13

# Replaces a text whose compilation crashes the process, as hostile text can.
_CRASHING = b"raise SyntaxError('the compiler crashed')"

_Key = tuple[str, str, bytes]


class ByteCodeCache:
    """A cache of byte code by interpreter, path and text, in memory. Thread-safe.

    A source that it lacks is compiled in the sandbox.
    """

    def __init__(self, sandbox: Sandbox, programs: Path) -> None:
        self._sandbox, self._programs = sandbox, programs
        self._kept: dict[_Key, bytes] = {}
        self._lock = threading.Lock()

    def keep(self, installed: InstalledPackages, path: str, text: bytes, code: bytes) -> None:
        """Put byte code that was compiled elsewhere into the cache."""
        with self._lock:
            self._kept[installed.interpreter.version, path, text] = code

    def get_or_compile(
        self, sources: Mapping[str, bytes], installed: InstalledPackages
    ) -> dict[str, bytes]:
        """Return the magic number and marshalled code by path, from the cache or newly compiled.

        A text that does not compile, or crashes the compiler, gets code that raises a SyntaxError.

        sources  texts by repository path

        Raises:
            Transient: the interpreter does not compile anything in the sandbox
        """
        version = installed.interpreter.version
        keys = {path: (version, path, text) for path, text in sources.items()}
        with self._lock:
            code_by_path = {
                path: self._kept[key] for path, key in keys.items() if key in self._kept
            }
        lacking = [(path, sources[path]) for path in sorted(sources.keys() - code_by_path.keys())]
        if lacking:
            fresh_codes = zip(lacking, self._compile_all(lacking, installed), strict=True)
            code_by_path |= {path: code for (path, _), code in fresh_codes}
        with self._lock:
            for path, key in keys.items():
                self._kept[key] = code_by_path[path]
            for key in list(self._kept)[: max(0, len(self._kept) - _MOST_KEPT)]:
                del self._kept[key]
        return code_by_path

    def _compile_all(
        self, sources: Sequence[tuple[str, bytes]], installed: InstalledPackages
    ) -> list[bytes]:
        """Compile all sources in one process or, if that ends without an answer, each in its own.

        A source that crashes the compiler alone, too, is replaced by `_CRASHING`.
        """
        codes = self._compile_in_sandbox(sources, installed)
        if codes is not None:
            return codes
        if len(sources) > 1:
            return [self._compile_all([source], installed)[0] for source in sources]
        ((path, text),) = sources
        if text == _CRASHING:
            raise Transient('the interpreter does not compile in the sandbox')
        return self._compile_all([(path, _CRASHING)], installed)

    def _compile_in_sandbox(
        self, sources: Sequence[tuple[str, bytes]], installed: InstalledPackages
    ) -> list[bytes] | None:
        setup = PythonSetup(installed=installed, programs=self._programs)
        rows = [[f'{TREE}/{path}', base64.b64encode(text).decode()] for path, text in sources]
        with self._sandbox.start(make_compiler_job(setup)) as process:
            try:
                process.stdin.write(process.translate_paths_for_job(json.dumps(rows)).encode())
                process.stdin.close()
            except BrokenPipeError:
                pass  # it has ended: its output is missing then
            output = process.stdout.read(_BYTES)
            process.wait(timeout=None)
        try:
            codes = [base64.b64decode(row, validate=True) for row in json.loads(output)]
        except (ValueError, TypeError):
            return None
        return codes if len(codes) == len(sources) else None
