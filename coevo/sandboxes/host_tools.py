"""Run trusted tools of this machine outside of any sandbox; they execute no mined code."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from coevo.model.errors import Transient


def run_tool(
    command: Sequence[str],
    sentence: str,
    *,
    environment: Mapping[str, str],
    folder: Path | None = None,
) -> None:
    """Run a command outside of any sandbox and wait for its end.

    sentence     the start of the error message, before the tool's last 2000 characters
    environment  all environment variables of the command

    Raises: Transient if the command fails.
    """
    done = subprocess.run(
        command,
        check=False,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise Transient(f'{sentence}:\n{done.stdout.strip()[-2000:]}')
