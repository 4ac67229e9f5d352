"""What this machine has of what Python's code is run with."""

from __future__ import annotations

from collections.abc import Iterator

from coevo.languages.findings import DoctorFinding
from coevo.languages.python import uv
from coevo.languages.python.c_libraries import compiler
from coevo.languages.python.interpreters import find_interpreters
from coevo.model.errors import Fatal


def findings() -> Iterator[DoctorFinding]:
    yield _uv()
    known = [one.release for one in find_interpreters()]
    yield DoctorFinding(
        name='Python',
        good=bool(known),
        state=', '.join(known) or 'none',
        advice=None if known else 'install one (apt install python3), or let uv bring it',
    )
    program = compiler()
    yield DoctorFinding(
        name='C compiler',
        good=program is not None,
        state=program or 'not found',
        advice=None
        if program
        else 'install gcc and libc6-dev: without, passes of Python tests are `unobserved`, and repairs'
        ' in Python are no tasks',
    )


def _uv() -> DoctorFinding:
    try:
        place = uv.program()
    except Fatal as error:
        return DoctorFinding(
            name='uv', good=False, state='not found', advice=str(error).partition('; ')[2]
        )
    return DoctorFinding(name='uv', good=True, state=place)
