"""Test files as pytest rewrites them, made once by an environment's pytest, not by each process.

They are placed where pytest itself would cache them. No project code runs to make them.
"""

from __future__ import annotations

import base64
import functools
import json
import posixpath
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from coevo.git.objects import LINK
from coevo.languages.packed_files import SECONDS, Files
from coevo.languages.python.environments import InstalledPackages, list_packages_with_digests
from coevo.languages.python.interpreters import TREE
from coevo.languages.python.launch import PythonSetup, make_assertion_rewriter_job
from coevo.languages.python.reading.collection import SETTINGS
from coevo.languages.python.sides import find_test_file_names
from coevo.sandboxes.sandbox import Sandbox

_BYTES = 256 << 20
_MOST_KEPT = 1 << 12

# With this setting assertions are rewritten in another way, which pytest's cached files do not
# record.
_PASS_HOOK = b'enable_assertion_pass_hook'

_Key = tuple[str, str, str, bytes]

Said = tuple[object, object]
"""The ending of a file name, and its content in Base64; None if it is left to pytest."""

Ask = Callable[[Sequence[tuple[str, str]]], Sequence[Said] | None]
"""From pairs of path and text (in Base64) to an answer for each; None if no process can answer."""


class RewrittenTestCache:
    """A cache of rewritten test files by interpreter, pytest, path and text. Thread-safe."""

    def __init__(self, sandbox: Sandbox, programs: Path) -> None:
        self._sandbox, self._programs = sandbox, programs
        self._kept: dict[_Key, tuple[str, bytes] | None] = {}
        self._lock = threading.Lock()

    def get_rewritten_byte_code(
        self, files: Files, tests: frozenset[str], installed: InstalledPackages, ask: Ask
    ) -> dict[str, tuple[str, bytes]]:
        """Return byte code files, by path, from which pytest loads its rewritten test files.

        Files that it lacks are rewritten in a process. {} if a setting of pytest changes how it
        rewrites.

        files  of the tree
        tests  paths of test files that are not edited
        ask    asked first: a process that is cheaper than one in a sandbox of its own
        """
        if any(
            posixpath.basename(path) in SETTINGS and _PASS_HOOK in text
            for path, (_, text) in files.items()
        ):
            return {}
        names = find_test_file_names(files.keys(), lambda path: files[path][1])
        sources = {
            path: text
            for path, (mode, text) in files.items()
            if path in tests and names.is_test_file(path) and mode != LINK
        }
        files_beside = {}
        for path, (tail, code) in self._get_or_rewrite(sources, installed, ask).items():
            folder, name = posixpath.split(path)
            compiled_path = posixpath.join(folder, '__pycache__', name.removesuffix('.py') + tail)
            files_beside[compiled_path] = ('100644', code)
        return files_beside

    def _get_or_rewrite(
        self, sources: Mapping[str, bytes], installed: InstalledPackages, ask: Ask
    ) -> dict[str, tuple[str, bytes]]:
        version, pytest = (
            installed.interpreter.version,
            _get_pytest_version_and_hashes(installed.locked),
        )
        keys = {path: (version, pytest, path, text) for path, text in sources.items()}
        with self._lock:
            known = {path: self._kept[key] for path, key in keys.items() if key in self._kept}
        lacking = sorted(sources.keys() - known.keys())
        if lacking:
            rows = [
                (f'{TREE}/{path}', base64.b64encode(sources[path]).decode()) for path in lacking
            ]
            answers = ask(rows)
            codes = (
                _decode_entries(answers)
                if answers is not None
                else self._rewrite_in_sandbox(rows, installed)
            )
            known |= dict(zip(lacking, codes, strict=True))
        with self._lock:
            for path, key in keys.items():
                self._kept[key] = known[path]
            for key in list(self._kept)[: max(0, len(self._kept) - _MOST_KEPT)]:
                del self._kept[key]
        return {path: entry for path, entry in known.items() if entry is not None}

    def _rewrite_in_sandbox(
        self, rows: Sequence[tuple[str, str]], installed: InstalledPackages
    ) -> list[tuple[str, bytes] | None]:
        """Rewrite test files in a sandbox; None for each that is left to pytest.

        If the process gives no answer, these are all, and pytest rewrites them in each run.
        """
        setup = PythonSetup(installed=installed, programs=self._programs)
        with self._sandbox.start(make_assertion_rewriter_job(setup)) as process:
            try:
                process.stdin.write(
                    process.translate_paths_for_job(json.dumps([SECONDS, rows])).encode()
                )
                process.stdin.close()
            except BrokenPipeError:
                pass  # it has ended: its output is missing then
            output = process.stdout.read(_BYTES)
            process.wait(timeout=None)
        return _parse_output(output, len(rows))


@functools.lru_cache(maxsize=64)
def _get_pytest_version_and_hashes(locked: str) -> str:
    """Return the version and hashes of an environment's pytest.

    They determine how it rewrites a text.
    """
    return next(
        ' '.join(package)
        for package in list_packages_with_digests(locked)
        if package[0].startswith('pytest==')
    )


def _parse_output(said: bytes, count: int) -> list[tuple[str, bytes] | None]:
    nothing: list[tuple[str, bytes] | None] = [None] * count
    try:
        tail, rows = json.loads(said)
        entries = _decode_entries([(tail, row) for row in rows])
    except (ValueError, TypeError):
        return nothing
    return entries if len(entries) == count else nothing


def _decode_entries(said: Sequence[Said]) -> list[tuple[str, bytes] | None]:
    return [_decode_suffix_and_byte_code(tail, code) for tail, code in said]


def _decode_suffix_and_byte_code(tail: object, code: object) -> tuple[str, bytes] | None:
    if not (isinstance(tail, str) and tail.endswith('.pyc') and '/' not in tail):
        return None
    try:
        return (tail, base64.b64decode(code, validate=True)) if isinstance(code, str) else None
    except ValueError:
        return None
