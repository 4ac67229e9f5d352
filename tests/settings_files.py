"""Settings files for the command: `--settings FILE` with the rare options of a verb."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path


def settings(folder: Path, **values: object) -> tuple[str, str]:
    """Write a settings file into a folder, and return the words that name it."""
    lines = (f'{name} = {_format(value)}\n' for name, value in values.items())
    with tempfile.NamedTemporaryFile(
        'w', prefix='settings-', suffix='.toml', dir=folder, delete=False
    ) as file:
        file.write(''.join(lines))
    return '--settings', file.name


def _format(value: object) -> str:
    if isinstance(value, float):
        return repr(value)
    return json.dumps(str(value) if isinstance(value, Path) else value)
