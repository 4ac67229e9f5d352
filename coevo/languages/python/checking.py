"""What the compiler of an interpreter says of sources; they are compiled in the sandbox, since a parser
that is given hostile text may end with its process."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

from coevo.languages.cells import Checked
from coevo.languages.python.environments import Installed
from coevo.languages.python.launch import PythonSetup
from coevo.languages.python.launch import checker_job
from coevo.languages.python.run_context import PythonRunContext

_BYTES = 64 << 20
_CRASHED = 'compiler_crashed'


def check(
    context: PythonRunContext, installed: Installed, sources: Sequence[bytes]
) -> tuple[Checked, ...]:
    setup = PythonSetup(installed=installed, programs=context.programs)
    request = json.dumps([base64.b64encode(source).decode() for source in sources])
    with context.sandbox.start(checker_job(setup)) as process:
        try:
            process.stdin.write(request.encode())
            process.stdin.close()
        except BrokenPipeError:
            pass  # its silence is the answer
        said = process.stdout.read(_BYTES)
        process.wait(timeout=None)
        spent = process.cpu_seconds() / max(len(sources), 1)
    found = _parsed(said, len(sources))
    return tuple(
        Checked(signature=signature, digest=digest, outside='', cpu_seconds=spent)
        for signature, digest in found
    )


def _parsed(said: bytes, count: int) -> list[tuple[str | None, str | None]]:
    """Signature and digest of each; where there was no answer, all have crashed."""
    try:
        rows = json.loads(said)
        found = [(row[0], row[1]) for row in rows]
    except (ValueError, TypeError, IndexError, KeyError):
        found = []
    good = all(isinstance(part, str | None) for row in found for part in row)
    return found if good and len(found) == count else [(_CRASHED, None)] * count
