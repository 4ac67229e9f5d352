"""What this machine has of what Python's code is run with."""

from __future__ import annotations

from collections.abc import Iterator

from coevo.languages.findings import DoctorFinding
from coevo.languages.python import uv
from coevo.languages.python.c_libraries import find_compiler
from coevo.languages.python.interpreters import find_interpreters
from coevo.model.errors import Fatal


def inspect_machine() -> Iterator[DoctorFinding]:
    yield _check_uv()
    known = [interpreter.release for interpreter in find_interpreters()]
    yield DoctorFinding(
        name='Python',
        good=bool(known),
        state=', '.join(known) or 'none',
        advice=None if known else 'install one (apt install python3), or let uv bring it',
    )
    program = find_compiler()
    yield DoctorFinding(
        name='C compiler',
        good=program is not None,
        state=program or 'not found',
        advice=None
        if program
        else 'install gcc and libc6-dev: without, passes of Python tests are `unobserved`, and repairs'
        ' in Python are no tasks',
    )


def _check_uv() -> DoctorFinding:
    try:
        path = uv.find_program()
    except Fatal as error:
        return DoctorFinding(
            name='uv', good=False, state='not found', advice=str(error).partition('; ')[2]
        )
    return DoctorFinding(name='uv', good=True, state=path)
