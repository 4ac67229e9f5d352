"""Check sources with the compiler of an interpreter.

They are compiled in the sandbox, since hostile text may crash the parser with its process. The byte
code is kept for the cells that will run it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import replace

from coevo.languages.cells import CheckedSource
from coevo.languages.python.interpreters import TREE
from coevo.languages.python.launch import PythonSetup, make_source_check_job
from coevo.languages.python.resolution import InstalledPackages
from coevo.languages.python.run_context import PythonRunContext

_BYTES = 256 << 20
_CRASHED = 'compiler_crashed'
_MOST_KEPT = 1 << 13

_Row = tuple[str | None, str | None, str | None]


def compile_and_check(
    context: PythonRunContext, installed: InstalledPackages, sources: Sequence[tuple[str, bytes]]
) -> tuple[CheckedSource, ...]:
    """Compile each source in the sandbox without running it; return its result.

    Results are cached, and the byte code is kept for cells. A source that crashes the compiler has
    the signature `compiler_crashed`.

    sources  repository path and text
    """
    known, version = context.checked, installed.interpreter.version
    lacking = [item for item in dict.fromkeys(sources) if (version, *item) not in known]
    rows, spent = _check_in_sandbox_with_cpu_seconds(context, installed, lacking)
    fresh: dict[tuple[str, str, bytes], CheckedSource] = {}
    for (path, text), (signature, digest, code) in zip(lacking, rows, strict=True):
        if code is not None:
            context.byte_code.keep(installed, path, text, base64.b64decode(code))
        fresh[version, path, text] = CheckedSource(signature=signature, digest=digest, outside='')
    with context.lock:
        known |= fresh
        answer = [known[version, *item] for item in sources]
        for key in list(known)[: max(0, len(known) - _MOST_KEPT)]:
            del known[key]
    share = spent / max(len(sources), 1)
    return tuple(replace(item, cpu_seconds=share) for item in answer)


def _check_in_sandbox_with_cpu_seconds(
    context: PythonRunContext, installed: InstalledPackages, sources: Sequence[tuple[str, bytes]]
) -> tuple[list[_Row], float]:
    """Return (error, digest, byte code in Base64) of each source, and the CPU seconds."""
    if not sources:
        return [], 0.0
    setup = PythonSetup(installed=installed, programs=context.programs)
    rows = [[f'{TREE}/{path}', base64.b64encode(text).decode()] for path, text in sources]
    with context.sandbox.start(make_source_check_job(setup)) as process:
        try:
            process.stdin.write(process.translate_paths_for_job(json.dumps(rows)).encode())
            process.stdin.close()
        except BrokenPipeError:
            pass  # it has ended: its output is missing then
        output = process.stdout.read(_BYTES)
        process.wait(timeout=None)
        spent = process.get_cpu_seconds()
    result_rows = _parse_rows(output, len(sources))
    if result_rows is not None:
        return result_rows, spent
    if len(sources) == 1:
        return [(_CRASHED, None, None)], spent
    alone = [_check_in_sandbox_with_cpu_seconds(context, installed, [source]) for source in sources]
    return [row for rows, _ in alone for row in rows], spent + sum(more for _, more in alone)


def _parse_rows(said: bytes, count: int) -> list[_Row] | None:
    """Return the rows that the checker wrote; None unless there are `count` valid ones.

    There are fewer if a source ended the process or used up its time.
    """
    try:
        rows: list[_Row] = [(row[0], row[1], row[2]) for row in json.loads(said)]
    except (ValueError, TypeError, IndexError, KeyError):
        rows = []
    good = all(isinstance(part, str | None) for row in rows for part in row)
    return rows if good and len(rows) == count else None
