"""Byte code of sources and of rewritten test files, made once in the sandbox, and the files that
run from it.
"""

from __future__ import annotations

import base64
import functools
import json
import posixpath
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from coevo.git.objects import LINK
from coevo.languages.core.cell_files import SECONDS, Files
from coevo.languages.python.collection import SETTINGS
from coevo.languages.python.interpreters import TREE
from coevo.languages.python.launch import (
    PythonSetup,
    make_assertion_rewriter_job,
    make_compiler_job,
)
from coevo.languages.python.layout import find_test_file_names
from coevo.languages.python.resolution import InstalledPackages, list_packages_with_digests
from coevo.model.errors import Transient
from coevo.sandboxes.sandbox import Sandbox

# Compile sources to byte code in the sandbox, with the pair's interpreter; no code is executed.

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


# Test files as pytest rewrites them, made once by an environment's pytest, not by each process.
#
# They are placed where pytest itself would cache them. No project code runs to make them.

_MOST_REWRITTEN_KEPT = 1 << 12

# With this setting assertions are rewritten in another way, which pytest's cached files do not
# record.
_PASS_HOOK = b'enable_assertion_pass_hook'

_RewrittenKey = tuple[str, str, str, bytes]

Said = tuple[object, object]
"""The ending of a file name, and its content in Base64; None if it is left to pytest."""

Ask = Callable[[Sequence[tuple[str, str]]], Sequence[Said] | None]
"""From pairs of path and text (in Base64) to an answer for each; None if no process can answer."""


class RewrittenTestCache:
    """A cache of rewritten test files by interpreter, pytest, path and text. Thread-safe."""

    def __init__(self, sandbox: Sandbox, programs: Path) -> None:
        self._sandbox, self._programs = sandbox, programs
        self._kept: dict[_RewrittenKey, tuple[str, bytes] | None] = {}
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
            for key in list(self._kept)[: max(0, len(self._kept) - _MOST_REWRITTEN_KEPT)]:
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


# The files of a cell whose code runs from byte code, whatever source texts are beside it.
#
# In Python the sources are the code. To keep a test from identifying its cell by the texts, each
# source has the text that is shown, with the byte code of the cell's own source. An import uses the
# byte code, since its header has the date and size of the shown text
# (https://docs.python.org/3/reference/import.html#cached-bytecode-invalidation). A source that is
# not shown has byte code alone. A shown source that the cell lacks cannot be imported.

_ABSENT = b'raise ModuleNotFoundError("No module named %r" % __name__, name=__name__)\n'
_PACKAGE = '__init__.py'

# Up to 3.6 the header of byte code has no flags (PEP 552).
_OLDEST_WITH_FLAGS = (3, 7)

Compile = Callable[[Mapping[str, bytes]], Mapping[str, bytes]]
"""From sources to their magic number and marshalled code, by path."""


def select_sources(files: Files, tests: frozenset[str]) -> dict[str, bytes]:
    """Return the Python files of a tree that belong to the code, by path, without links.

    tests  the paths that do not belong to it
    """
    return {
        path: text
        for path, (mode, text) in files.items()
        if path.endswith('.py') and path not in tests and mode != LINK
    }


def show_sources_beside_byte_code(
    files: Files,
    own: Mapping[str, bytes],
    shown: Mapping[str, bytes],
    feature: tuple[int, int],
    compiled: Compile,
) -> dict[str, tuple[str, bytes]]:
    """Return the files of a cell with its sources as byte code, beside the texts to show instead.

    files     of the cell
    own       its sources, which run, by path
    shown     the texts to show, by path; a path that `own` lacks raises ModuleNotFoundError if
              imported
    feature   the release of the interpreter
    compiled  compiles sources
    """
    others = {path: text for path, text in shown.items() if _may_be_shown(path, own, files)}
    code = compiled({**dict.fromkeys(others, _ABSENT), **own})
    shown_files = {path: entry for path, entry in files.items() if path not in own}
    for path in sorted({*own, *others}):
        text = _get_shown_text(path, shown)
        mode = files[path][0] if path in files else '100644'
        if text is None:
            shown_files[f'{path}c'] = _make_byte_code_entry(feature, b'', code[path])
        else:
            shown_files[path] = (mode, text)
            shown_files[_get_byte_code_path(path, feature)] = _make_byte_code_entry(
                feature, text, code[path]
            )
    return shown_files


def _get_shown_text(path: str, shown: Mapping[str, bytes]) -> bytes | None:
    """Return the text to show at a path; None if byte code alone has to be placed there.

    A package needs its `__init__.py` to be found, so this file is empty if none is shown.
    """
    empty = b'' if posixpath.basename(path) == _PACKAGE else None
    return shown.get(path, empty)


def _may_be_shown(path: str, own: Mapping[str, bytes], files: Files) -> bool:
    """Return whether a source can be shown that the cell lacks: it hides none of the cell's."""
    if path in files:
        return False
    folder = posixpath.dirname(path)
    if posixpath.basename(path) == _PACKAGE:
        return f'{folder}.py' not in own and not any(
            own_path.startswith(f'{folder}/') for own_path in own
        )
    stem = path.removesuffix('.py')
    return not any(own_path.startswith(f'{stem}/') for own_path in own)


def _get_byte_code_path(path: str, feature: tuple[int, int]) -> str:
    folder, name = posixpath.split(path)
    stem = name.removesuffix('.py')
    return posixpath.join(folder, '__pycache__', f'{stem}.cpython-{feature[0]}{feature[1]}.pyc')


def _make_byte_code_entry(feature: tuple[int, int], text: bytes, code: bytes) -> tuple[str, bytes]:
    """Return a byte code file (mode and content) whose header refers to a source with this text."""
    words = (*((0,) if feature >= _OLDEST_WITH_FLAGS else ()), SECONDS, len(text) & 0xFFFFFFFF)
    return '100644', code[:4] + struct.pack(f'<{len(words)}I', *words) + code[4:]
