"""A digest of all that a run in a cell may depend on, by which verdicts are cached."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from coevo.languages.cells import CompiledTests
from coevo.languages.python.cell import PythonCell
from coevo.languages.python.run_context import PythonRunContext


def digest_cell(context: PythonRunContext, cell: PythonCell, compiled: CompiledTests) -> str:
    """Return the digest of all that a run in a cell depends on; see `BuiltPair.digest_content`."""
    repository = context.repository
    revs = (compiled.code_rev, compiled.tests_rev)
    parts = (
        *(str(repository.header(rev).tree) for rev in revs),
        repr(replace(cell.module.needs, pins=())),  # the effect of the pins is in `locked`
        repr((cell.module.folder, cell.module.roots, cell.module.options, cell.module.written)),
        *(f'{path} {hashlib.sha256(binary).hexdigest()}' for path, binary in cell.module.compiled),
        *(f'{path} {hashlib.sha256(text).hexdigest()}' for path, text in cell.module.metadata),
        cell.module.installed.locked,
        cell.module.installed.interpreter.version,
        context.digest,
        context.sandbox.name,
        repr(compiled.borrowed),
        repr(compiled.edits),
    )
    return hashlib.sha256('\0'.join(parts).encode(errors='surrogateescape')).hexdigest()
