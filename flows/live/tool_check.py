"""Whether a worker's machine has what every repository needs: Git, and a sandbox that starts."""

from __future__ import annotations

from coevo.model.errors import Fatal
from coevo.sandboxes.probe import find
from coevo.sandboxes.sandbox import open_sandbox


def check_tools(sandbox: str) -> None:
    """Fatal with what to install. Else each repository that comes this way would be refused."""
    try:
        find('git', 'git')
        open_sandbox(sandbox).close()
    except Fatal as error:
        raise Fatal(f'this worker cannot mine: {error}; `coevo doctor` says what it has') from None
