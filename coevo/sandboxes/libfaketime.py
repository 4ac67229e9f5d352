"""Where this machine has libfaketime, which sets the clock of single processes."""

from __future__ import annotations

from pathlib import Path

# Where distributions install it; every sandbox sees these folders.
PLACES = tuple(
    f'/usr/{folder}/libfaketime.so.1'
    for folder in ('lib/*/faketime', 'lib/faketime', 'lib64/faketime', 'lib/*', 'lib64')
)


def find_libraries() -> tuple[Path, ...]:
    """Those that are installed; one for each architecture where there are several."""
    paths = (path for pattern in PLACES for path in sorted(Path('/').glob(pattern.lstrip('/'))))
    return tuple(dict.fromkeys(paths))
