"""Tools of this machine that run outside of any sandbox: what they do is ours, not mined code's."""

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
    """Run a tool of this machine; Transient with the sentence and its last words if it fails."""
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
