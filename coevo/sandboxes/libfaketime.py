"""Find libfaketime, which sets the clock of single processes, on this machine."""

from __future__ import annotations

from pathlib import Path

# Patterns of the paths at which distributions install it; every sandbox shows these folders.
PLACES = tuple(
    f'/usr/{folder}/libfaketime.so.1'
    for folder in ('lib/*/faketime', 'lib/faketime', 'lib64/faketime', 'lib/*', 'lib64')
)


def find_libraries() -> tuple[Path, ...]:
    """Return the paths of the installed copies of libfaketime, in the order of `PLACES`.

    There is one for each architecture. Empty if libfaketime is not installed.
    """
    paths = (path for pattern in PLACES for path in sorted(Path('/').glob(pattern.lstrip('/'))))
    return tuple(dict.fromkeys(paths))
