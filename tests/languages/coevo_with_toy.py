"""The command `coevo` in a process of its own, with the toy among its languages."""

from __future__ import annotations

from coevo.command.main import main
from tests.languages.table import known_toy

if __name__ == '__main__':
    with known_toy():
        raise SystemExit(main())
