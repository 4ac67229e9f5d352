"""Test files as pytest rewrites them, made once by an environment's own pytest, not by each process.

They lie where pytest would have kept them itself. Nothing of the project is run to make them.
"""

from __future__ import annotations

import base64
import functools
import json
import posixpath
import threading
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path

from coevo.git.objects import LINK
from coevo.languages.packed_files import SECONDS
from coevo.languages.packed_files import Files
from coevo.languages.python.environments import Installed
from coevo.languages.python.environments import packages
from coevo.languages.python.launch import PythonSetup
from coevo.languages.python.launch import rewriter_job
from coevo.languages.python.options import SETTINGS
from coevo.languages.python.places import TREE
from coevo.languages.python.sides import is_test_file
from coevo.sandboxes.sandbox import Sandbox

_BYTES = 256 << 20
_MOST_KEPT = 1 << 12

# Of what is rewritten for it, pytest itself keeps no count.
_PASS_HOOK = b'enable_assertion_pass_hook'

_Key = tuple[str, str, str, bytes]


class Rewritten:
    """Kept by interpreter, pytest, path and text. Safe from several threads."""

    def __init__(self, sandbox: Sandbox, programs: Path) -> None:
        self._sandbox, self._programs = sandbox, programs
        self._kept: dict[_Key, tuple[str, bytes] | None] = {}
        self._lock = threading.Lock()

    def beside(
        self, files: Files, tests: frozenset[str], installed: Installed
    ) -> dict[str, tuple[str, bytes]]:
        """Files to lie beside test files, as `files` has them.

        tests  paths of the tests' side whose texts are nobody's edits
        """
        if any(
            posixpath.basename(path) in SETTINGS and _PASS_HOOK in text
            for path, (_, text) in files.items()
        ):
            return {}
        sources = {
            path: text
            for path, (mode, text) in files.items()
            if path in tests and is_test_file(path) and mode != LINK
        }
        found = {}
        for path, (tail, code) in self._of(sources, installed).items():
            folder, name = posixpath.split(path)
            place = posixpath.join(folder, '__pycache__', name.removesuffix('.py') + tail)
            found[place] = ('100644', code)
        return found

    def _of(
        self, sources: Mapping[str, bytes], installed: Installed
    ) -> dict[str, tuple[str, bytes]]:
        version, pytest = installed.interpreter.version, _pytest(installed.locked)
        keys = {path: (version, pytest, path, text) for path, text in sources.items()}
        with self._lock:
            known = {path: self._kept[key] for path, key in keys.items() if key in self._kept}
        lacking = sorted(sources.keys() - known.keys())
        if lacking:
            made = self._asked([(path, sources[path]) for path in lacking], installed)
            known |= dict(zip(lacking, made, strict=True))
        with self._lock:
            for path, key in keys.items():
                self._kept[key] = known[path]
            for key in list(self._kept)[: max(0, len(self._kept) - _MOST_KEPT)]:
                del self._kept[key]
        return {path: one for path, one in known.items() if one is not None}

    def _asked(
        self, sources: Sequence[tuple[str, bytes]], installed: Installed
    ) -> list[tuple[str, bytes] | None]:
        """Where there is no answer nothing is kept: each process does it again, as pytest has it."""
        setup = PythonSetup(installed=installed, programs=self._programs)
        rows = [[f'{TREE}/{path}', base64.b64encode(text).decode()] for path, text in sources]
        with self._sandbox.start(rewriter_job(setup)) as process:
            try:
                process.stdin.write(process.inside(json.dumps([SECONDS, rows])).encode())
                process.stdin.close()
            except BrokenPipeError:
                pass  # its silence is the answer
            said = process.stdout.read(_BYTES)
            process.wait(timeout=None)
        return _parsed(said, len(sources))


@functools.lru_cache(maxsize=64)
def _pytest(locked: str) -> str:
    """Which one an environment has, by version and hashes: nothing else has a say in what it makes of a text."""
    return next(' '.join(one) for one in packages(locked) if one[0].startswith('pytest=='))


def _parsed(said: bytes, count: int) -> list[tuple[str, bytes] | None]:
    nothing: list[tuple[str, bytes] | None] = [None] * count
    try:
        tail, rows = json.loads(said)
        found = [None if row is None else base64.b64decode(row, validate=True) for row in rows]
    except (ValueError, TypeError):
        return nothing
    good = isinstance(tail, str) and tail.endswith('.pyc') and '/' not in tail
    if not good or len(found) != count:
        return nothing
    return [None if code is None else (tail, code) for code in found]
