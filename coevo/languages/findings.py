"""Results of checking a machine for tools."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

_PATIENCE = 20  # seconds for a tool to print its version


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFinding:
    """The result of one check of the machine by `coevo doctor`; `str()` gives its line.

    advice  what to do; None if nothing needs to be done
    """

    name: str
    good: bool
    state: str
    advice: str | None = None
    needed: bool = True  # False: coevo works without it or with a substitute

    def __str__(self) -> str:
        mark = 'ok' if self.good else 'MISSING' if self.needed else 'no'
        line = f'{mark:8}{self.name}: {self.state}'
        return line if self.advice is None else f'{line}; {self.advice}'


def read_first_output_line(*command: str) -> str | None:
    """Run a command and return the first non-blank line of its standard output, without colours.

    '' if it prints nothing; None if it is missing, fails, or takes more than 20 seconds.
    """
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    plain = re.sub(r'\x1b\[[0-9;]*m', '', done.stdout)
    lines = [line for line in plain.splitlines() if line.strip()]
    return None if done.returncode else lines[0].strip() if lines else ''
