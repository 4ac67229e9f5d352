"""What a command of coevo's does before anything else, in a process that is all its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_UNUSED = 'pandas'


class _UnusedLibraryFinder(MetaPathFinder):
    """Says that a library is not installed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == _UNUSED:
            raise ModuleNotFoundError(f'coevo has no use for {name} here', name=name)
        return None


def leave_out_pandas() -> None:
    """Spare commands the import of pandas: a second of each, wherever it is installed.

    pyarrow asks for it when the first array is made, since lists might be of its kinds. No command of coevo
    has such. Whoever imports `coevo` has pandas as ever.
    """
    if _UNUSED not in sys.modules:
        sys.meta_path.insert(0, _UnusedLibraryFinder())
