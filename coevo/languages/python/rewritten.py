"""Test files as pytest rewrites them, made once by an environment's own pytest, not by each process.

They lie where pytest would have kept them itself. Nothing of the project is run to make them.
"""

from __future__ import annotations

import base64
import functools
import json
import posixpath
import threading
from collections.abc import Callable
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

Said = tuple[object, object]
"""How the name of a file ends, and Base64 of what is in it, None where it is left to pytest."""

Ask = Callable[[Sequence[tuple[str, str]]], Sequence[Said] | None]
"""Of paths and Base64 of texts, what is said of each; None where there is nobody to be asked."""


class Rewritten:
    """Kept by interpreter, pytest, path and text. Safe from several threads."""

    def __init__(self, sandbox: Sandbox, programs: Path) -> None:
        self._sandbox, self._programs = sandbox, programs
        self._kept: dict[_Key, tuple[str, bytes] | None] = {}
        self._lock = threading.Lock()

    def beside(
        self, files: Files, tests: frozenset[str], installed: Installed, ask: Ask
    ) -> dict[str, tuple[str, bytes]]:
        """Files to lie beside test files, as `files` has them.

        tests  paths of the tests' side whose texts are nobody's edits
        ask    what is asked first: a process that is cheaper than one in a sandbox of its own
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
        for path, (tail, code) in self._of(sources, installed, ask).items():
            folder, name = posixpath.split(path)
            place = posixpath.join(folder, '__pycache__', name.removesuffix('.py') + tail)
            found[place] = ('100644', code)
        return found

    def _of(
        self, sources: Mapping[str, bytes], installed: Installed, ask: Ask
    ) -> dict[str, tuple[str, bytes]]:
        version, pytest = installed.interpreter.version, _pytest(installed.locked)
        keys = {path: (version, pytest, path, text) for path, text in sources.items()}
        with self._lock:
            known = {path: self._kept[key] for path, key in keys.items() if key in self._kept}
        lacking = sorted(sources.keys() - known.keys())
        if lacking:
            rows = [
                (f'{TREE}/{path}', base64.b64encode(sources[path]).decode()) for path in lacking
            ]
            said = ask(rows)
            made = _checked(said) if said is not None else self._asked(rows, installed)
            known |= dict(zip(lacking, made, strict=True))
        with self._lock:
            for path, key in keys.items():
                self._kept[key] = known[path]
            for key in list(self._kept)[: max(0, len(self._kept) - _MOST_KEPT)]:
                del self._kept[key]
        return {path: one for path, one in known.items() if one is not None}

    def _asked(
        self, rows: Sequence[tuple[str, str]], installed: Installed
    ) -> list[tuple[str, bytes] | None]:
        """Where there is no answer nothing is kept: each process does it again, as pytest has it."""
        setup = PythonSetup(installed=installed, programs=self._programs)
        with self._sandbox.start(rewriter_job(setup)) as process:
            try:
                process.stdin.write(process.inside(json.dumps([SECONDS, rows])).encode())
                process.stdin.close()
            except BrokenPipeError:
                pass  # its silence is the answer
            said = process.stdout.read(_BYTES)
            process.wait(timeout=None)
        return _parsed(said, len(rows))


@functools.lru_cache(maxsize=64)
def _pytest(locked: str) -> str:
    """Which one an environment has, by version and hashes: nothing else has a say in what it makes of a text."""
    return next(' '.join(one) for one in packages(locked) if one[0].startswith('pytest=='))


def _parsed(said: bytes, count: int) -> list[tuple[str, bytes] | None]:
    nothing: list[tuple[str, bytes] | None] = [None] * count
    try:
        tail, rows = json.loads(said)
        found = _checked([(tail, row) for row in rows])
    except (ValueError, TypeError):
        return nothing
    return found if len(found) == count else nothing


def _checked(said: Sequence[Said]) -> list[tuple[str, bytes] | None]:
    return [_file(tail, code) for tail, code in said]


def _file(tail: object, code: object) -> tuple[str, bytes] | None:
    if not (isinstance(tail, str) and tail.endswith('.pyc') and '/' not in tail):
        return None
    try:
        return (tail, base64.b64decode(code, validate=True)) if isinstance(code, str) else None
    except ValueError:
        return None
