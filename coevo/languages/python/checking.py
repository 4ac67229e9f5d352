"""What the compiler of an interpreter says of sources; they are compiled in the sandbox, since a parser
that is given hostile text may end with its process.

The byte code that comes of it is kept for the cells that will run it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import replace

from coevo.languages.cells import Checked
from coevo.languages.python.environments import Installed
from coevo.languages.python.launch import PythonSetup
from coevo.languages.python.launch import checker_job
from coevo.languages.python.places import TREE
from coevo.languages.python.run_context import PythonRunContext

_BYTES = 256 << 20
_CRASHED = 'compiler_crashed'
_MOST_KEPT = 1 << 13

_Row = tuple[str | None, str | None, str | None]


def check(
    context: PythonRunContext, installed: Installed, sources: Sequence[tuple[str, bytes]]
) -> tuple[Checked, ...]:
    """sources  repository path and text; what was checked before costs nothing"""
    known, version = context.checked, installed.interpreter.version
    lacking = [one for one in dict.fromkeys(sources) if (version, *one) not in known]
    found, spent = _asked(context, installed, lacking)
    fresh: dict[tuple[str, str, bytes], Checked] = {}
    for (path, text), (signature, digest, code) in zip(lacking, found, strict=True):
        if code is not None:
            context.byte_code.keep(installed, path, text, base64.b64decode(code))
        fresh[version, path, text] = Checked(signature=signature, digest=digest, outside='')
    with context.lock:
        known |= fresh
        answer = [known[version, *one] for one in sources]
        for key in list(known)[: max(0, len(known) - _MOST_KEPT)]:
            del known[key]
    share = spent / max(len(sources), 1)
    return tuple(replace(one, cpu_seconds=share) for one in answer)


def _asked(
    context: PythonRunContext, installed: Installed, sources: Sequence[tuple[str, bytes]]
) -> tuple[list[_Row], float]:
    """Signature, digest and byte code of each, and CPU seconds."""
    if not sources:
        return [], 0.0
    setup = PythonSetup(installed=installed, programs=context.programs)
    rows = [[f'{TREE}/{path}', base64.b64encode(text).decode()] for path, text in sources]
    with context.sandbox.start(checker_job(setup)) as process:
        try:
            process.stdin.write(process.inside(json.dumps(rows)).encode())
            process.stdin.close()
        except BrokenPipeError:
            pass  # its silence is the answer
        said = process.stdout.read(_BYTES)
        process.wait(timeout=None)
        spent = process.cpu_seconds()
    found = _parsed(said, len(sources))
    if found is not None:
        return found, spent
    if len(sources) == 1:
        return [(_CRASHED, None, None)], spent
    alone = [_asked(context, installed, [one]) for one in sources]
    return [row for rows, _ in alone for row in rows], spent + sum(more for _, more in alone)


def _parsed(said: bytes, count: int) -> list[_Row] | None:
    """None where there was no answer: one of them ended the process, or took all of its time."""
    try:
        found: list[_Row] = [(row[0], row[1], row[2]) for row in json.loads(said)]
    except (ValueError, TypeError, IndexError, KeyError):
        found = []
    good = all(isinstance(part, str | None) for row in found for part in row)
    return found if good and len(found) == count else None
