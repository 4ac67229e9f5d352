"""What this machine has of what Go's code is run with."""

from __future__ import annotations

from collections.abc import Iterator

from coevo.languages.findings import DoctorFinding
from coevo.languages.golang.toolchains import find_toolchains


def inspect_machine() -> Iterator[DoctorFinding]:
    known = [toolchain.version for toolchain in find_toolchains()]
    yield DoctorFinding(
        name='Go',
        good=bool(known),
        state=', '.join(known) or 'none of 1.21 or newer',
        advice=None if known else 'install one (apt install golang-go); it fetches others itself',
    )
